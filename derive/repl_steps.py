"""`undo`, `redo`, `reset` and `quit`: the states of a session, and its end."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from derive.document import Document, Fields, Line
from derive.lexer import CLOSE, OPEN, Cursor
from derive.outcome import Outcome
from derive.repl_dialogue import Dialogue, State
from derive.repl_reading import done, end_of, take_count
from formulas.errors import Problem


def say_undo(dialogue: Dialogue, cursor: Cursor) -> tuple[Dialogue, Outcome]:
    """The very state before the last line, or the last so many."""
    count = take_count(cursor, "undo", 1)
    end_of(cursor, "undo")
    past = dialogue.past
    if not past:
        raise Problem("session", "there is nothing to undo")
    count = min(count, len(past))
    states = (*past, dialogue.now)
    after = replace(
        dialogue,
        now=states[-1 - count],
        past=states[: -1 - count],
        future=(*states[-count:], *dialogue.future),
    )
    return after, done(_told("undone", states[-1 - count :]), "undo", count=count)


def say_redo(dialogue: Dialogue, cursor: Cursor) -> tuple[Dialogue, Outcome]:
    """The state that the last undo left, or the last so many."""
    count = take_count(cursor, "redo", 1)
    end_of(cursor, "redo")
    if not dialogue.future:
        raise Problem("session", "there is nothing to redo")
    count = min(count, len(dialogue.future))
    states = (dialogue.now, *dialogue.future)
    after = replace(
        dialogue,
        now=states[count],
        past=(*dialogue.past, *states[:count]),
        future=states[count + 1 :],
    )
    return after, done(_told("redone", states[: count + 1]), "redo", count=count)


def _told(word: str, states: tuple[State, ...]) -> Document:
    """What each step between two states was."""
    steps = [_step(one, two) for one, two in pairwise(states)]
    return (Fields(tuple(("" if i else word, text) for i, text in enumerate(steps))),)


def _step(before: State, after: State) -> str:
    old, new = before.entries, after.entries
    if new[: len(old)] == old and len(new) == len(old) + 1:
        return new[-1].line
    if not new:
        return "reset"
    if len(new) == len(old):
        pairs = enumerate(zip(old, new, strict=True), start=1)
        changed = [f"edit {number} {two.line}" for number, (one, two) in pairs if one != two]
        return changed[0] if changed else "edit"
    return f"{len(new) - len(old)} lines of a file"


def say_reset(dialogue: Dialogue, cursor: Cursor) -> tuple[Dialogue, Outcome]:
    """Nothing is stated or answered; the settings stay, and undo brings it back."""
    end_of(cursor, "reset")
    now = dialogue.now
    empty = State(settings=now.settings)
    fresh = replace(empty.conversation, seconds=now.conversation.seconds)
    document = (Line("everything is forgotten; undo brings it back"),)
    return dialogue.step(replace(empty, conversation=fresh)), done(document, "reset")


def say_quit(dialogue: Dialogue, cursor: Cursor) -> tuple[Dialogue, Outcome]:
    """The end of the session."""
    # As people leave Python.
    if cursor.take(OPEN):
        cursor.take(CLOSE)
    end_of(cursor, "quit")
    return replace(dialogue, over=True), done((), "quit")
