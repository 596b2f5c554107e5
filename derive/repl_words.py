"""The words of a session beside the questions: one table, which the help prints too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from derive.lexer import Cursor
    from derive.outcome import Outcome
    from derive.repl_dialogue import Dialogue

Handler = Callable[["Dialogue", "Cursor"], "tuple[Dialogue, Outcome]"]


@dataclass(frozen=True, slots=True)
class Word:
    """One word that begins a line of a session; `module` holds its handler."""

    name: str
    syntax: str
    help: str
    example: str
    module: str

    @property
    def handler(self) -> Handler:
        """The function that answers it, which is named for the word."""
        found: Handler = getattr(import_module(f"derive.{self.module}"), f"say_{self.name}")
        return found


WORDS = {
    word.name: word
    for word in (
        Word("facts", "facts", "what is stated, with the line that said it", "facts", "repl_facts"),
        Word("drop", "drop NAMES", "forget what is stated of these", "drop batch, gpu",
             "repl_facts"),
        Word("edit", "edit [N LINE]", "the lines so far, or line N and what follows anew",
             "edit 4 batch = 64", "repl_edit"),
        Word("undo", "undo [N]", "as it was before the last line, or the last N", "undo 2",
             "repl_steps"),
        Word("redo", "redo [N]", "what was undone, again", "redo", "repl_steps"),
        Word("reset", "reset", "forget everything that was said", "reset", "repl_steps"),
        Word("save", "save FILE", "keep the lines; `derive run FILE` answers them",
             "save sizing.derive", "repl_file"),
        Word("load", "load FILE", "say the lines of a file", "load sizing.derive", "repl_file"),
        Word("set", "set [NAME VALUE]", "the settings, or another value for one", "set digits 6",
             "repl_settings"),
        Word("help", "? [NAME], help [NAME]", "this page, or what a word, quantity or model is",
             "? tpot", "repl_help"),
        Word("quit", "quit", "leave (Ctrl-D does too)", "quit", "repl_steps"),
    )
}  # fmt: skip

# What people type from habit.
OTHER_WORDS = {"exit": "quit", "bye": "quit", "q": "quit"}
