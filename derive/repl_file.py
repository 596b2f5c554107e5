"""`save` and `load`: a session as a file of its lines, in their canonical spelling."""

from __future__ import annotations

import os
from pathlib import Path

from derive import __version__
from derive.document import Block, Line
from derive.lexer import Cursor
from derive.outcome import Outcome
from derive.repl_dialogue import Dialogue, replayed
from derive.repl_lines import lines_in
from derive.repl_reading import done, take_file
from derive.script import PROMPT
from derive.streams import lines_of
from formulas.errors import Problem

HEADER = "# derive"


def say_save(dialogue: Dialogue, cursor: Cursor) -> tuple[Dialogue, Outcome]:
    """The file holds every line; a file that is no session is never replaced."""
    name = take_file(cursor, "save")
    lines = [entry.line for entry in dialogue.now.entries]
    if not lines:
        raise Problem("session", "nothing was said that could be saved")
    path = Path(name).expanduser()
    text = "\n".join((f"{HEADER} {__version__}", *lines, ""))
    try:
        _refuse_strangers(path, name)
        beside = path.with_name(f".{path.name}.{os.getpid()}")
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise Problem("file", f"{name}: {error.strerror or error}", (), name) from None
    told = f"{len(lines)} lines saved; derive run {name} answers them again"
    return dialogue, done((Line(told),), "save", file=name, lines=len(lines))


def _refuse_strangers(path: Path, name: str) -> None:
    if not path.exists():
        return
    with path.open("rb") as file:
        start = file.read(len(HEADER))
    if start and start != HEADER.encode():
        message = f"{name} is there already, and is no saved session"
        raise Problem("file", message, ("save it under another name",), name)


def say_load(dialogue: Dialogue, cursor: Cursor) -> tuple[Dialogue, Outcome]:
    """Every line of the file was said, as one step; a line that cannot be said changes nothing."""
    name = take_file(cursor, "load")
    lines = lines_in("\n".join(lines_of(str(Path(name).expanduser()))))
    after, told = replayed(dialogue, lines)
    blocks: list[Block] = []
    for line, outcome in told:
        blocks += [Line(f"{PROMPT}{line}"), *outcome.document]
    loaded = dialogue.step(after.now) if after.now is not dialogue.now else dialogue
    return loaded, done(tuple(blocks) or (Line("the file has no lines"),), "load", lines=len(lines))
