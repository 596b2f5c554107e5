"""The parts of a derivation that are lists: facts, letters, formulas, checks, what was assumed."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Any

from derive.as_latex import line_latex, shape_latex
from derive.asked import Asked
from derive.document import Document, Table
from derive.layout import relation_sides
from derive.paper import (
    Block,
    Code,
    Display,
    Grid,
    Inline,
    Math,
    Note,
    Paragraph,
    Section,
    Typed,
    cells,
)
from derive.printed import printed
from derive.question import Question, canonical
from derive.setting import Setting
from derive.spelling import spelt_statement
from formulas.amounts import display
from formulas.catalogue import catalogue
from formulas.deployment.constraints import OF_STRUCTURE
from formulas.errors import Problem
from formulas.formula import VOCABULARY, Relation
from formulas.graph import when
from solvers.answer import Check, Evidence

SENSES = {"max": "The largest", "min": "The smallest"}


def question_line(asked: Asked) -> str:
    """The question in its canonical spelling."""
    verb = asked.sense or "value"
    question = Question(
        "", verb, asked.find, asked.statements, asked.unit, over=asked.over,
        expression=asked.expression, expression_unit=asked.expression_unit,
    )  # fmt: skip
    try:
        return canonical(question)
    except Problem:
        return asked.line or f"{asked.sense} {asked.find}".strip()


def question_blocks(asked: Asked) -> list[Block]:
    """The question as it was read."""
    blocks: list[Block] = [Section("Question"), Code((question_line(asked),))]
    if asked.using:
        names = ", ".join(asked.using)
        blocks.append(Note((f"Only these relations may answer: {names}.",)))
    if asked.read_as:
        blocks.append(Note((f"Read as: {'; '.join(asked.read_as)}.",)))
    return blocks


def fact_blocks(setting: Setting) -> list[Block]:
    """Every fact that goes in, with its letter, value and origin; what is asked is marked."""
    rows = [cells(Typed(setting.find), Math(setting.letter(setting.find)), "unknown", "asked")]
    if setting.find not in VOCABULARY:
        rows = []
    for name in setting.facts():
        limits = [row for row in setting.scenario.limits if row.quantity == name]
        if limits and name not in setting.scenario.given:
            continue
        value = setting.printed(name).text
        rows.append(cells(Typed(name), Math(setting.letter(name)), value, setting.origin(name)))
    for row in setting.scenario.limits:
        shown = f"{row.relation} {printed(VOCABULARY[row.quantity], row.value).text}"
        letter = Math(setting.letter(row.quantity))
        rows.append(cells(Typed(row.quantity), letter, shown, "you, a limit"))
    if not rows:
        return []
    grid = Grid(("name", "letter", "value", "origin"), tuple(rows), right=(2,))
    return [Section("Facts"), grid, *_not_used(setting.evidence)]


def _not_used(evidence: Evidence) -> list[Block]:
    if not evidence.unused:
        return []
    return [Note((f"Stated, and of no effect here: {', '.join(evidence.unused)}.",))]


def letter_blocks(setting: Setting) -> list[Block]:
    """What each letter of the results stands for, and where the sheet writes another one."""
    rows = [
        cells(Math(setting.letter(name)), Typed(name), VOCABULARY[name].meaning)
        for name in setting.links
    ]
    blocks: list[Block] = []
    if rows:
        grid = Grid(("letter", "name", "meaning"), tuple(rows))
        blocks = [Section("Letters"), grid]
    for name, (letter, key) in setting.replaced.items():
        text: tuple[Inline, ...] = (
            "The sheet writes ", Math(letter), " for ", Typed(name), " in ", Typed(key),
            "; here it is ", Math(setting.letter(name)), ", so that a letter means one thing.",
        )  # fmt: skip
        blocks.append(Note(text))
    return blocks


def formula_blocks(setting: Setting) -> list[Block]:
    """The formulas used, as they are written on the sheet, each with its place and validity."""
    relations = {link.relation.key: link.relation for link in setting.links.values()}
    used = [row for row in relations.values() if row.kind != "assumption"]
    if not used:
        return []
    blocks: list[Block] = [Section("Formulas used")]
    for relation in used:
        blocks += [
            Display(formula_latex(relation, setting.letters), relation.key),
            Note((reference(relation),)),
        ]
    return blocks


def formula_latex(relation: Relation, letters: Any) -> str:
    """The relation as written, in these letters."""
    left, right = relation_sides(relation)
    if left is None:
        return shape_latex(right, letters)
    return line_latex(shape_latex(left, letters), relation.relation, shape_latex(right, letters))


def reference(relation: Relation) -> str:
    """Where the relation stands, what it is, and when it holds."""
    if relation.section == "deployment":
        place = "Ties the sheet together"
    else:
        chapter = f", chapter {relation.chapter}" if relation.chapter else ""
        place = f"Sheet, section {relation.section}{chapter}"
    kind = "a bound" if relation.is_bound else {"model": "an estimate"}.get(relation.kind, "exact")
    holds = f" Holds when: {relation.holds_when}." if relation.holds_when else ""
    answers = when(relation)
    valid = f" Answers {answers}." if answers else ""
    return f"{place}; {kind}. {relation.meaning}{holds}{valid}"


def check_blocks(setting: Setting) -> list[Block]:
    """Every constraint at the point of the answer, with both sides and the room that is left."""
    rows = [_check_row(setting, c) for c in setting.evidence.checks if c.left is not None]
    plain_rows = [c for c in setting.evidence.checks if c.left is None]
    blocks: list[Block] = []
    if rows:
        columns = ("constraint", "left side", "", "limit", "room")
        blocks.append(Grid(columns, tuple(rows), right=(1, 3, 4)))
    meanings = {row.name: row.meaning for row in catalogue().constraints}
    for check in plain_rows:
        if not check.holds:
            why = meanings.get(check.name, "stated").rstrip(".")
            blocks.append(Paragraph((Typed(check.name), f" does not hold: {why}.")))
    kept = [check.name for check in plain_rows if check.holds]
    if kept:
        blocks.append(Note((f"Also held: {', '.join(kept)}.",)))
    if setting.evidence.unchecked:
        names = ", ".join(setting.evidence.unchecked)
        blocks.append(Note((f"Not checked, for want of facts: {names}.",)))
    return blocks


def _check_row(setting: Setting, check: Check) -> tuple[Any, ...]:
    left, right = (_side(setting, check, side) for side in (check.left, check.right))
    slack = check.slack
    room = "" if slack is None else f"{100 * (0.0 if abs(slack) < 1e-9 else slack):.2g} %"
    room = room if check.holds else f"broken, {room}"
    sign = {"<=": r"\le", ">=": r"\ge", "=": "="}.get(check.relation, check.relation)
    return cells(Typed(check.name), left, Math(sign), right, room)


def _side(setting: Setting, check: Check, value: Any) -> str:
    if check.quantity:
        return setting.printed(check.quantity, value, 6).text
    if check.unit is not None:
        return display(value, check.unit)
    return f"{float(value):.6g}"


def shown_checks(evidence: Evidence) -> list[Check]:
    """The comparisons that limit a value, without those that say how the parts fit together."""
    return [c for c in evidence.checks if c.left is not None and c.name not in OF_STRUCTURE]


def assumption_blocks(evidence: Evidence) -> list[Block]:
    """What nobody stated, what was taken instead, and why."""
    known = catalogue()
    rows = []
    for name, value in evidence.assumed.items():
        shown = printed(known.quantities[name], value).text
        rows.append(cells(Typed(name), shown, known.defaults[name].meaning))
    blocks: list[Block] = []
    if rows:
        grid = Grid(("name", "value", "why"), tuple(rows), right=(1,))
        blocks = [Section("Assumptions"), grid]
    if evidence.notes:
        blocks = blocks or [Section("Assumptions")]
        blocks += [Note((f"{note}.",)) for note in evidence.notes]
    return blocks


def reproduction_blocks(asked: Asked) -> list[Block]:
    """Lines that come to the same answer: of a session, and of a shell."""
    try:
        stated = tuple(spelt_statement(statement) for statement in asked.statements)
    except Problem:
        return []
    line = question_line(asked)
    head, given, tail = line.partition(" given ")
    rest = tail.removeprefix(", ".join(stated)) if given else ""
    uses = tuple(f"use {key} for {name}" for name, key in asked.prefer.items())
    note: list[Block] = []
    if asked.using:
        note = [Note(("A session asks without the restriction to named relations.",))]
    return [
        Section("To reproduce"),
        Code((*uses, *stated, head + rest)),
        Code((f"derive ask {shlex.quote(line)}",)),
        *note,
    ]


def card_blocks(document: Document) -> list[Block]:
    """Blocks of a card as blocks of a document."""
    from derive.card_paper import paper_of

    return list(paper_of(document))


def grid_of(table: Table) -> Grid:
    """A table of a card."""
    rows = tuple(tuple((cell,) for cell in row) for row in table.rows)
    right = tuple(i for i, name in enumerate(table.columns) if name in table.numeric)
    return Grid(table.columns, rows, right)


def field_blocks(rows: Iterable[tuple[str, str]]) -> list[Block]:
    """Rows of a label and its text."""
    return [Grid(("", ""), tuple(cells(label, text) for label, text in rows))]


def stated_blocks(asked: Asked) -> list[Block]:
    """What was said, as it was said."""
    rows = tuple(cells(Typed(statement.text or "?")) for statement in asked.statements)
    return [Section("Facts"), Grid(("stated",), rows)] if rows else []
