"""The house rules that no type checker sees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import sympy

from derive import as_latex, as_plain, layout
from formulas import arrays
from formulas.catalogue import catalogue
from formulas.dimension import dimension_rules
from formulas.fold import rule_for
from formulas.formula import VOCABULARY
from solvers.exact import exact_rules

HOME = Path(__file__).resolve().parent.parent
PACKAGES = ("derive", "formulas", "solvers")
FILES = sorted(path for package in PACKAGES for path in (HOME / package).rglob("*.py"))
LONGEST = 300
MAKES_SYMBOLS = {"Symbol", "symbols", "Dummy", "Wild", "IndexedBase", "MatrixSymbol", "Idx"}


def name_of(path: Path) -> str:
    return path.relative_to(HOME).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Every call in the file, by the last part of what is called."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            function = node.func
            yield getattr(function, "attr", getattr(function, "id", "")), node


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_file_has_two_ideas(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_symbols_are_made_in_one_file(path: Path) -> None:
    if name_of(path) == "formulas/quantity.py":
        return
    assert not [name for name, _ in calls(path) if name in MAKES_SYMBOLS]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_evaluation_is_switched_off_in_one_file(path: Path) -> None:
    if name_of(path) == "formulas/formula.py":
        return
    for name, call in calls(path):
        off = any(isinstance(a, ast.Constant) and a.value is False for a in call.args)
        assert not (name == "evaluate" and off)


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_nothing_typed_is_evaluated(path: Path) -> None:
    forbidden = {"eval", "exec", "sympify", "parse_expr", "compile", "S", "__import__"}
    for name, call in calls(path):
        # re.compile compiles a pattern; sympy's own S is called with a number nowhere.
        module = getattr(getattr(call.func, "value", None), "id", "")
        assert not (name in forbidden and module != "re"), f"{name} in line {call.lineno}"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_only_derive_prints(path: Path) -> None:
    if name_of(path).startswith("derive/"):
        return
    assert not [name for name, _ in calls(path) if name == "print"]


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_formula_outside_formulas(path: Path) -> None:
    """Nobody else declares one, and nobody multiplies quantities by hand."""
    if name_of(path).startswith("formulas/"):
        return
    declares = {"formula", "definition", "assumption", "condition"}
    assert not [name for name, _ in calls(path) if name in declares]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.BinOp):
            names = {
                part.attr if isinstance(part, ast.Attribute) else getattr(part, "id", "")
                for part in (node.left, node.right)
            }
            assert len(names & set(VOCABULARY)) < 2, f"arithmetic on {names} in line {node.lineno}"


def node_classes(arrays_too: bool) -> set[type]:
    """Every node class that the catalogue's expressions use."""
    found: set[type] = set()
    for relation in catalogue().relations.values():
        if relation.is_array and not arrays_too:
            continue
        for expr in (relation.expr, relation.written):
            found |= {type(node) for node in sympy.preorder_traversal(expr)}
    return found


def covers(rules: dict[type, object], classes: set[type]) -> set[str]:
    return {c.__name__ for c in classes if rule_for(c, rules) is None}


# Parts of another node, which its rule reads itself.
INSIDE_OTHERS = {"ExprCondPair", "Tuple", "Str", "IndexedBase", "Idx"}


def test_the_unit_rules_cover_every_node() -> None:
    rules = {**dimension_rules({}), **arrays.dimension_rules(VOCABULARY)}
    assert covers(rules, node_classes(arrays_too=True)) <= INSIDE_OTHERS


def test_the_printers_cover_every_node() -> None:
    for relation in catalogue().relations.values():
        assert as_latex.relation_latex(relation)
        assert as_plain.relation_plain(relation, letters=True)
        assert as_plain.relation_plain(relation, letters=False)
    assert layout


def test_exact_evaluation_covers_every_scalar_node() -> None:
    written_only = {"WrittenMin", "WrittenMax"}
    rules = {**exact_rules(), sympy.Symbol: None}
    classes = {c for c in node_classes(arrays_too=False) if c is not sympy.Symbol}
    assert covers(rules, classes) <= INSIDE_OTHERS | written_only


def test_every_quantity_is_used() -> None:
    used = {n for r in catalogue().relations.values() for n in (r.gives, *r.inputs, *r.cancels)}
    used |= {n for r in catalogue().relations.values() for c in r.valid for n in c.inputs}
    used |= {n for c in catalogue().constraints for n in c.inputs}
    facts_only = {"vocab_size", "embedding_params"}
    assert set(catalogue().quantities) - used <= facts_only


def test_letters_are_unique_in_the_vocabulary() -> None:
    letters = [q.letter for q in VOCABULARY.values() if q.value is None and "." not in q.name]
    assert len(letters) == len(set(letters))
