"""`derive show NAME`: a formula or a quantity, with all that is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from derive.as_latex import relation_latex
from derive.as_plain import plain, relation_plain
from derive.document import Block, Document, Equation, Fields, Heading, Line, Table
from derive.inverse_lines import branch_data, branch_line
from derive.letters import unicode_letter
from derive.names import quantity_named
from derive.quantity_page import domain_of, quantity_blocks, quantity_data, unit_of
from formulas.amounts import shortened
from formulas.catalogue import catalogue
from formulas.errors import Problem, nearest
from formulas.formula import VOCABULARY, Condition, Relation
from formulas.graph import graph, when
from formulas.quantities import ALIASES
from formulas.quantity import Quantity
from solvers.inversions import Inversion, inversion, inversions

COLUMNS = ("name", "letter", "unit", "domain", "meaning")


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a name means: relations, a quantity, or both; and the quantity to solve for, if any."""

    name: str
    relations: tuple[Relation, ...]
    quantity: Quantity | None
    solve_for: str | None


def show_document(name: str, solve_for: str | None = None) -> Document:
    """The page of a formula or a quantity; with `solve_for` only what that quantity is.

    Raises Problem for a name that is neither, and for a quantity that does not stand in it.
    """
    shown = _find(name, solve_for)
    blocks: list[Block] = []
    for relation in shown.relations:
        blocks += _relation_blocks(relation, shown.solve_for)
    if shown.quantity is not None and shown.solve_for is None:
        blocks += quantity_blocks(shown.quantity)
    return tuple(blocks)


def show_data(name: str, solve_for: str | None = None) -> dict[str, Any]:
    """The same as values for JSON: `relations`, and `quantity` where the name is one."""
    shown = _find(name, solve_for)
    whole = shown.quantity is not None and shown.solve_for is None
    return {
        "id": shown.name,
        "relations": [_relation_data(row, shown.solve_for) for row in shown.relations],
        "quantity": quantity_data(shown.quantity) if whole and shown.quantity else None,
    }


# -- what the name means


def _find(name: str, solve_for: str | None) -> _Shown:
    quantity = _quantity(name)
    relations = _relations(name)
    # An alias may be the id of a formula: then it is shown under the word itself.
    canonical = quantity.name if quantity and not relations else name
    relations = relations or _relations(canonical)
    if not relations and quantity is None:
        raise _unknown(name)
    if solve_for is None:
        return _Shown(canonical, relations, quantity, None)
    candidates = relations or catalogue().by_output.get(canonical, ())
    found = [(row, _within(row, solve_for)) for row in candidates]
    holding = tuple(row for row, full in found if full)
    if not holding:
        raise _not_in_it(name, candidates, solve_for)
    return _Shown(canonical, holding, quantity, next(full for _, full in found if full))


def _relations(name: str) -> tuple[Relation, ...]:
    try:
        return catalogue().named(name)
    except Problem:
        return ()


def _quantity(name: str) -> Quantity | None:
    try:
        return quantity_named(name)
    except Problem:
        return None


def _within(relation: Relation, word: str) -> str:
    """The full name of the relation's quantity that the word means; empty where it has none."""
    full = f"{relation.id}.{word}"
    meant = full if full in VOCABULARY else (_quantity(word) or catalogue().quantity(word)).name
    return meant if meant in (relation.gives, *relation.inputs) else ""


def _unknown(name: str) -> Problem:
    known = catalogue()
    short = shortened(name)
    close = nearest(short, [*known.formulas, *known.relations, *known.quantities, *ALIASES])
    hint = f"did you mean '{close}'? " if close else ""
    search = f"{hint}(search: derive list {short})"
    candidates = (close,) if close else ()
    return Problem("name", f"no formula and no variable '{short}'", (search,), name, candidates)


def _not_in_it(name: str, relations: tuple[Relation, ...], word: str) -> Problem:
    names = dict.fromkeys(n for row in relations for n in (row.gives, *row.inputs))
    listed = ", ".join(VOCABULARY[n].short_name for n in names)
    lines = (f"{name} has {listed}",) if listed else (f"no formula gives {name}",)
    return Problem("name", f"'{word}' does not stand in {name}", lines, word)


# -- a relation


def _relation_blocks(relation: Relation, solve_for: str | None) -> list[Block]:
    line = Equation(relation_plain(relation, letters=True), relation_latex(relation))
    heading = Heading(f"{relation.key}    {_place(relation)}    {kind_of(relation)}")
    named = Line(f"  {relation_plain(relation, letters=False)}")
    if solve_for is not None:
        return [heading, line, named, *_solved_blocks(relation, _wanted(relation, solve_for))]
    quantities = _quantities(relation)
    rows = tuple(_quantity_row(relation, quantity) for quantity in quantities)
    return [
        heading,
        line,
        named,
        Fields(_notes(relation)),
        Table(COLUMNS, rows),
        *_solved_blocks(relation, inversions(relation)),
    ]


def _place(relation: Relation) -> str:
    return (
        f"{relation.section}, chapter {relation.chapter}" if relation.chapter else relation.section
    )


def kind_of(relation: Relation) -> str:
    """identity (always true), model (an estimate), or bound."""
    return "bound" if relation.is_bound else relation.kind


def _notes(relation: Relation) -> tuple[tuple[str, str], ...]:
    equations = [key for key in graph().same_equation(relation.key) if key != relation.key]
    rows = {
        "meaning": relation.meaning,
        "holds when": relation.holds_when,
        "answers": when(relation),
        "cancels": ", ".join(relation.cancels),
        "same as": ", ".join(equations),
    }
    return tuple((label, text) for label, text in rows.items() if text)


def _quantities(relation: Relation) -> tuple[Quantity, ...]:
    names = (relation.gives, *relation.inputs, *relation.cancels)
    return tuple(VOCABULARY[name] for name in names)


def _quantity_row(relation: Relation, quantity: Quantity) -> tuple[str, ...]:
    letter = unicode_letter(relation.letters.get(quantity.name, quantity.letter))
    label = quantity.label or unit_of(quantity)
    return quantity.short_name, letter, label, domain_of(quantity), quantity.meaning


def _wanted(relation: Relation, solve_for: str) -> tuple[Inversion, ...]:
    """Nothing where the relation already stands solved for it."""
    return (inversion(relation, solve_for),) if solve_for in relation.inputs else ()


def _solved_blocks(relation: Relation, found: tuple[Inversion, ...]) -> list[Block]:
    blocks: list[Block] = [Line("solved for")] if found else []
    refused: dict[str, list[str]] = {}
    for row in found:
        lines = (branch_line(relation, row.quantity, branch) for branch in row.branches)
        blocks += [Equation(line.plain, line.latex) for line in lines]
        if row.refused:
            refused.setdefault(row.refused, []).append(VOCABULARY[row.quantity].short_name)
    blocks += [Line(f"  not {', '.join(names)}: {reason}") for reason, names in refused.items()]
    return blocks


def _relation_data(relation: Relation, solve_for: str | None) -> dict[str, Any]:
    found = inversions(relation) if solve_for is None else _wanted(relation, solve_for)
    return {
        "id": relation.key,
        "formula": relation.id,
        "section": relation.section,
        "chapter": relation.chapter,
        "kind": kind_of(relation),
        "relation": relation.relation,
        "statement": relation_plain(relation, letters=False),
        "letters": relation_plain(relation, letters=True),
        "latex": relation_latex(relation),
        "meaning": relation.meaning,
        "holds_when": relation.holds_when,
        "valid": [_condition_data(condition) for condition in relation.valid],
        "answers": when(relation),
        "gives": relation.gives,
        "inputs": list(relation.inputs),
        "cancels": list(relation.cancels),
        "rank": relation.rank,
        "same_equation": list(graph().same_equation(relation.key)),
        "quantities": [_row_data(relation, quantity) for quantity in _quantities(relation)],
        "inversions": [_inversion_data(relation, row) for row in found],
    }


def _condition_data(condition: Condition) -> dict[str, Any]:
    return {"id": condition.name, "text": plain(condition.expr), "meaning": condition.meaning}


def _row_data(relation: Relation, quantity: Quantity) -> dict[str, Any]:
    latex_letter = relation.letters.get(quantity.name, quantity.letter)
    return {
        "name": quantity.name,
        "letter": unicode_letter(latex_letter),
        "latex": latex_letter,
        "unit": unit_of(quantity),
        "tag": quantity.label,
        "domain": domain_of(quantity),
        "meaning": quantity.meaning,
    }


def _inversion_data(relation: Relation, row: Inversion) -> dict[str, Any]:
    branches = [branch_data(relation, row.quantity, branch) for branch in row.branches]
    return {"quantity": row.quantity, "branches": branches, "refused": row.refused or None}
