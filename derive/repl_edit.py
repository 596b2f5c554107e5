"""`edit`: the lines so far, or one of them changed and all after it said anew."""

from __future__ import annotations

from dataclasses import replace

from derive.complain import fault
from derive.document import Block, Document, Fields, Line
from derive.lexer import Cursor
from derive.outcome import Outcome
from derive.repl_dialogue import Dialogue, Entry, State, replayed
from derive.repl_reading import done, take_count
from formulas.errors import Problem


def say_edit(dialogue: Dialogue, cursor: Cursor) -> tuple[Dialogue, Outcome]:
    """All lines with another line N; what those from N on come to now. Problem changes nothing."""
    entries = dialogue.now.entries
    if cursor.done:
        return dialogue, done(_lines(entries), "edit", lines=[entry.line for entry in entries])
    where = cursor.here()
    number = take_count(cursor, "edit")
    if number > len(entries):
        message = f"there is no line {number}; the last is {len(entries)}"
        raise fault("session", message, where, "edit  lists them")
    place = cursor.start
    if cursor.done:
        old = entries[number - 1].line
        raise fault("syntax", "what the line becomes was expected", cursor.here(), f"it is  {old}")
    lines = [entry.line for entry in entries]
    lines[number - 1] = cursor.text[place:]
    try:
        after, told = replayed(_fresh(dialogue), lines)
    except Problem as problem:
        if problem.line == lines[number - 1] and problem.span is not None:
            # The carets belong under the line as it was typed.
            problem.span = (problem.span[0] + place, problem.span[1] + place)
            problem.line = cursor.text
        raise
    blocks: list[Block] = []
    shown = after.now.entries[number - 1 :]
    for step, (entry, (_, outcome)) in enumerate(zip(shown, told[number - 1 :], strict=True)):
        blocks.append(Line(f"{number + step}  {entry.line}"))
        if not entry.stated:
            blocks += outcome.document
    data = {"lines": [entry.line for entry in after.now.entries]}
    return dialogue.step(after.now), done(tuple(blocks), "edit", **data)


def _fresh(dialogue: Dialogue) -> Dialogue:
    """A dialogue in which nothing was said, with the same settings."""
    now = dialogue.now
    empty = State(settings=now.settings)
    seconds = now.conversation.seconds
    conversation = replace(empty.conversation, seconds=seconds)
    return Dialogue(replace(empty, conversation=conversation), depth=dialogue.depth)


def _lines(entries: tuple[Entry, ...]) -> Document:
    if not entries:
        return (Line("no line was said yet"),)
    return (Fields(tuple((str(n), entry.line) for n, entry in enumerate(entries, start=1))),)
