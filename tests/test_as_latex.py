"""Formulas print as on the sheet, and every one of the catalogue prints."""

from __future__ import annotations

import pkgutil
import re
import tomllib
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import sympy

import formulas.deployment
import formulas.sheet
from derive.as_latex import latex, line_latex, relation_latex
from derive.letters import letter_of
from formulas.catalogue import catalogue
from formulas.expressions import Round
from formulas.fold import NoRule
from formulas.formula import VOCABULARY, Relation
from formulas.quantities import CONSTANTS

GOLDEN = tomllib.loads(
    (Path(__file__).parent / "golden" / "sheet.toml").read_text(encoding="utf-8")
)
FORMULAS = 51


def declared(package: Any) -> list[Relation]:
    """The relations that the modules of a package declare."""
    modules = [
        import_module(f"{package.__name__}.{found.name}")
        for found in pkgutil.iter_modules(package.__path__)
    ]
    return [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Relation) and value.body.__module__ == module.__name__
    ]


SHEET = declared(formulas.sheet)
EVERY = [*SHEET, *declared(formulas.deployment), *catalogue().defaults.values()]
TOKEN = re.compile(r"\\text\{[^{}]*\}|\\[A-Za-z]+|\\.|\S")
SPACING = {r"\,", r"\;", r"\ ", r"\quad", r"\qquad", r"\left", r"\right", r"\times", r"\cdot"}


def normal(line: str) -> str:
    """A line without what does not change its meaning: spaces, product signs, needless braces."""
    tokens = [
        token for token in TOKEN.findall(line.replace(r"\dfrac", r"\frac")) if token not in SPACING
    ]
    text = " ".join(tokens)
    return re.sub(r"\{ (\S+|\\text\{[^{}]*\}) \}", r"\1", text)


def symbol(name: str) -> Any:
    return VOCABULARY[name].symbol


def test_the_sheet_is_whole() -> None:
    assert len(GOLDEN) == FORMULAS
    for lines in GOLDEN.values():
        for line in lines:
            assert ("ours" in line) == ("why" in line)
            assert "ours" in line or "sheet" in line


@pytest.mark.parametrize("identity", GOLDEN)
def test_prints_as_on_the_sheet(identity: str) -> None:
    printed = defaultdict(list)
    for relation in SHEET:
        printed[relation.id].append(normal(relation_latex(relation)))
    wanted = [normal(line.get("ours", line.get("sheet", ""))) for line in GOLDEN[identity]]
    assert sorted(printed[identity]) == sorted(wanted)


def test_every_relation_of_the_sheet_is_golden() -> None:
    assert {relation.id for relation in SHEET} == set(GOLDEN)


@pytest.mark.parametrize("relation", EVERY, ids=lambda relation: f"{relation.id}-{relation.gives}")
def test_every_relation_prints(relation: Relation) -> None:
    for line in (relation_latex(relation), latex(relation.expr), latex(relation.value)):
        assert line.count("{") == line.count("}")
        assert not re.search(r"[+-] *[+-]", line)


@pytest.mark.parametrize("relation", EVERY, ids=lambda relation: f"{relation.id}-{relation.gives}")
def test_a_letter_stands_for_one_quantity(relation: Relation) -> None:
    names = [relation.gives, *relation.inputs, *relation.cancels]
    letters = [letter_of(symbol(name), relation.letters) for name in dict.fromkeys(names)]
    assert len(set(letters)) == len(letters)


def test_letters_of_the_vocabulary_are_unique_among_scalars() -> None:
    letters = [
        quantity.letter for quantity in catalogue().quantities.values() if "." not in quantity.name
    ]
    assert len(set(letters)) == len(letters)


def test_numbers_with_units_can_stand_for_letters() -> None:
    letters = {"batch": r"450\,\mathrm{GB/s}", "message_bytes": "-2"}
    assert latex(A * C, letters) == r"450\,\mathrm{GB/s} \, \beta"
    assert latex(A**2, letters) == r"(450\,\mathrm{GB/s})^2"
    assert latex(A - B, letters) == r"450\,\mathrm{GB/s} - (-2)"


def test_every_condition_prints() -> None:
    conditions = [
        *catalogue().constraints,
        *(test for relation in EVERY for test in relation.valid),
    ]
    for condition in conditions:
        assert latex(condition.expr)
        assert latex(condition.expr, as_written=True)


@pytest.mark.parametrize("constant", CONSTANTS, ids=lambda constant: constant.name)
def test_a_constant_is_its_letter(constant: Any) -> None:
    assert latex(constant.symbol) == constant.letter


def test_letters_given_go_before_those_of_the_vocabulary() -> None:
    expr = symbol("n_layers") * symbol("d_head")
    assert latex(expr) == r"n_\text{layers} \, d_\text{head}"
    assert latex(expr, {"n_layers": "L"}) == r"L \, d_\text{head}"
    assert latex(expr, {"n_layers": "80", "d_head": "128"}) == r"80 \cdot 128"
    assert latex(2 - expr, {"n_layers": "-3"}) == r"2 - (-3) \, d_\text{head}"


A, B, C, K = (symbol(name) for name in ("batch", "message_bytes", "link_bandwidth", "draft_tokens"))
LINES = [
    (sympy.Integer(0), "0"),
    (sympy.Integer(4096), "4096"),
    (sympy.Integer(131072), r"131\,072"),
    (sympy.Integer(10**6), "10^6"),
    (sympy.Integer(10**12), "10^{12}"),
    (sympy.Integer(989 * 10**12), r"989 \cdot 10^{12}"),
    (sympy.Integer(2_500_000), r"2\,500\,000"),
    (sympy.Integer(3) ** 200, r"2.656 \cdot 10^{95}"),
    (sympy.Rational(-7, 3), r"-\frac{7}{3}"),
    (sympy.Rational(3, 2) * A, r"\frac{3 b}{2}"),
    (sympy.Float("0.8", 40), "0.8"),
    (sympy.Float("2.77314159", 40), "2.773"),
    (sympy.Float("42695.3", 40), r"4.27 \cdot 10^4"),
    (sympy.Float("-0.00012345678", 40), r"-1.235 \cdot 10^{-4}"),
    (sympy.Float("0.9999999", 40), "1"),
    (-sympy.oo, r"-\infty"),
    (A - 1, "b - 1"),
    (1 - A, "1 - b"),
    (-A - 1, "-1 - b"),
    ((B - A) / C, r"\frac{S - b}{\beta}"),
    (-(A - B) / C, r"\frac{S - b}{\beta}"),
    ((-A - B) / C, r"-\frac{b + S}{\beta}"),
    (-A / (1 - B), r"\frac{b}{S - 1}"),
    (1 / A, r"\frac{1}{b}"),
    (A**-2 * B, r"\frac{S}{b^2}"),
    (sympy.sqrt(A), r"\sqrt{b}"),
    (B / sympy.sqrt(A), r"\frac{S}{\sqrt{b}}"),
    (A ** sympy.Rational(1, 3), r"\sqrt[3]{b}"),
    (A ** sympy.Rational(2, 3), "b^{2 / 3}"),
    ((A / B) ** K, r"\left( \frac{b}{S} \right)^k"),
    ((A + 1) ** 2, "(1 + b)^2"),
    (2**K * A, r"2^k \, b"),
    (A ** (-K / C), r"b^{-k / \beta}"),
    (sympy.exp(-A / B), "e^{-b / S}"),
    (sympy.log(A) / sympy.log(2), r"\frac{\ln(b)}{\ln(2)}"),
    (sympy.ceiling(A / B), r"\left\lceil \frac{b}{S} \right\rceil"),
    (sympy.Abs(symbol("weight") - 1), r"\left| w - 1 \right|"),
    (sympy.Max(B, A, 1), r"\max(1, \; b, \; S)"),
    (Round(symbol("weight") / 3), r"\text{round}\left( \frac{w}{3} \right)"),
    (sympy.Mod(A, B, evaluate=False), r"b \bmod S"),
    (1 + sympy.Mod(A, B, evaluate=False), r"1 + (b \bmod S)"),
    (
        sympy.Not(sympy.And(A > B, B > C), evaluate=False),
        r"\text{not } (b > S \;\text{and}\; S > \beta)",
    ),
    (A * sympy.Mod(B, C, evaluate=False), r"b \, (S \bmod \beta)"),
    (sympy.And(A <= B, sympy.Lt(1, C)), r"b \le S \;\text{and}\; \beta > 1"),
    (sympy.Or(sympy.Eq(A, 1), sympy.Ne(B, 2)), r"b = 1 \;\text{or}\; S \ne 2"),
    (
        sympy.Piecewise((A, B > 1), (0, True)),
        r"\begin{cases} b & \text{if } S > 1 \\ 0 & \text{otherwise} \end{cases}",
    ),
    (symbol("ridge_intensity") ** 2, r"(I^{\star})^2"),
    (symbol("ttft") * A, r"b \times \text{TTFT}"),
]


@pytest.mark.parametrize(("expr", "line"), LINES, ids=[line for _, line in LINES])
def test_expressions(expr: Any, line: str) -> None:
    assert latex(expr) == line


def test_python_numbers_print_as_their_own_kind() -> None:
    assert latex(2) == "2"
    assert latex(sympy.true) == r"\text{true}"


def test_an_unknown_class_is_refused() -> None:
    with pytest.raises(NoRule):
        latex(sympy.sin(A))
    with pytest.raises(NoRule):
        latex(sympy.nan)


def test_a_line_has_its_sign() -> None:
    assert line_latex("a", "≈", "b") == r"a \approx b"
    assert line_latex("a", ">=", "b") == r"a \ge b"
