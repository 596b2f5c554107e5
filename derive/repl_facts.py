"""`facts` and `drop`: what is stated, and what of it no longer is."""

from __future__ import annotations

from dataclasses import replace

from derive.complain import Span, fault
from derive.document import Document, Fields, Line
from derive.lexer import Cursor
from derive.named_items import NAMED_ITEMS
from derive.names import canonical_name
from derive.outcome import Outcome
from derive.repl_dialogue import Dialogue, Entry, State
from derive.repl_reading import done, end_of, take_words
from derive.replace import subject
from derive.spelling import spelt_statement
from formulas.errors import Problem
from formulas.statements import Calculated, Fact, Relate, Statement
from formulas.storage import BYTES_OF

_EMPTY = "nothing is stated yet; example: model llama-3.1-70b, gpu 8 x h100-sxm, batch = 32"


def say_facts(dialogue: Dialogue, cursor: Cursor) -> tuple[Dialogue, Outcome]:
    """Every statement that holds, with the number of the line that made it."""
    end_of(cursor, "facts")
    rows = _rows(dialogue.now)
    stated = [{"line": number, "text": text} for number, text in rows]
    document: Document = (Line(_EMPTY),)
    if rows:
        document = (Fields(tuple((str(number or ""), text) for number, text in rows)),)
    return dialogue, done(document, "facts", facts=stated)


def _rows(state: State) -> list[tuple[int | None, str]]:
    """The number of its line, if it has one, and the text of each statement and preference."""
    lines = {
        statement: number
        for number, entry in enumerate(state.entries, start=1)
        for statement in entry.stated
    }
    rows = [(lines.get(row), _shown(row)) for row in state.conversation.statements]
    uses = {entry.line: number for number, entry in enumerate(state.entries, start=1)}
    for name, relation in state.conversation.prefer.items():
        text = f"use {relation} for {name}"
        rows.append((uses.get(text), text))
    return rows


def _shown(statement: Statement) -> str:
    override = isinstance(statement, Fact | Calculated) and statement.override
    return f"{spelt_statement(statement)}{'    in place of what gives it' if override else ''}"


def say_drop(dialogue: Dialogue, cursor: Cursor) -> tuple[Dialogue, Outcome]:
    """The names, of which nothing is stated any more; Problem where nothing was."""
    state = dialogue.now
    kept, prefer = state.conversation.statements, dict(state.conversation.prefer)
    names: list[str] = []
    gone: list[str] = []
    for word, span in take_words(cursor, "drop"):
        name = _name(word, span)
        dropped = [row for row in kept if name in _names(row)]
        if name in prefer:
            gone.append(f"use {prefer.pop(name)} for {name}")
        elif not dropped:
            raise _nothing(word, span, stated_names(state))
        kept = tuple(row for row in kept if row not in dropped)
        gone += [spelt_statement(row) for row in dropped]
        names.append(name)
    conversation = replace(state.conversation, statements=kept, prefer=prefer)
    entry = Entry(f"drop {', '.join(names)}")
    document = (Fields(tuple(("" if i else "dropped", text) for i, text in enumerate(gone))),)
    after = dialogue.step(state.with_entry(entry, conversation))
    return after, done(document, "drop", dropped=gone)


def _name(word: str, span: Span) -> str:
    if word.lower() in NAMED_ITEMS:
        return word.lower()
    try:
        return canonical_name(word)
    except Problem as problem:
        problem.span = span
        raise


def _names(statement: Statement) -> set[str]:
    """The names by which the statement may be dropped."""
    if isinstance(statement, Relate):
        sides = (statement.left, statement.right)
        return {symbol.name for side in sides for symbol in getattr(side, "free_symbols", ())}
    kind, *rest = subject(statement)
    found = {kind, *rest} - {"value", "limit"}
    found |= {choice for choice, name in BYTES_OF.items() if name in found}
    return found | ({"gpu"} if kind == "gpus" else set())


def stated_names(state: State) -> tuple[str, ...]:
    """The names that `drop` takes."""
    rows = state.conversation.statements
    names = dict.fromkeys(name for row in rows for name in sorted(_names(row)))
    return (*names, *(name for name in state.conversation.prefer if name not in names))


def _nothing(word: str, span: Span, names: tuple[str, ...]) -> Problem:
    stated = f"stated are {', '.join(names)}" if names else "nothing is stated"
    return fault("name", f"nothing is stated of {word}", span, stated)
