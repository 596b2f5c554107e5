"""How arguments are read, and what is said of those that cannot be."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Sequence
from typing import NoReturn, Protocol

EXIT_OK, EXIT_USAGE, EXIT_BUG, EXIT_INTERRUPTED = 0, 2, 70, 130
EXIT_CODES = {
    "ok": EXIT_OK,
    "infeasible": 1,
    "error": EXIT_USAGE,
    "missing": 3,
    "contradiction": 4,
    "unbounded": 5,
    "unproved": 6,
}
LONGEST_TIME = 1e8


class Parser(argparse.ArgumentParser):
    """Says what is wrong with an option in the form of every other message."""

    def error(self, message: str) -> NoReturn:
        """End with the message and the exit code of a usage error."""
        self.exit(
            EXIT_USAGE, f"error[usage]: {message}\n  {self.prog} --help shows what it takes\n"
        )


def seconds(text: str) -> float:
    """A limit that a clock can be set to."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not found > 0:
        raise argparse.ArgumentTypeError(f"'{text[:24]}' is no number of seconds above 0")
    return min(found, LONGEST_TIME)


class Named(Protocol):
    """A command of the table."""

    @property
    def name(self) -> str:
        """The word that it begins with."""


def with_ask(given: Sequence[str] | None, commands: Iterable[Named]) -> Sequence[str]:
    """The arguments, with `ask` before a question that somebody typed without it."""
    words = sys.argv[1:] if given is None else given
    place = next((i for i, word in enumerate(words) if word != "--debug"), len(words))
    first = words[place] if place < len(words) else "-"
    if first.startswith("-") or first in {command.name for command in commands}:
        return words
    from derive.repl_lines import begins_a_question

    return [*words[:place], "ask", *words[place:]] if begins_a_question(first) else words
