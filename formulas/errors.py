"""The one exception that people see, and the catalogue's own for wrong declarations."""

from __future__ import annotations

from dataclasses import dataclass, field


class CatalogueError(Exception):
    """A declaration that cannot be right; the message ends with the repair."""


@dataclass(eq=False)
class Problem(Exception):
    """What is wrong with something a person gave us: where, what, both values, what to do.

    `kind` is one word (unit, dimension, name, model, gpu, number, syntax, domain, ...). `word`
    is the piece of the input that is at fault; whoever knows the whole line adds it, with `span`,
    the place of the word in it.
    """

    kind: str
    message: str
    help: tuple[str, ...] = ()
    word: str = ""
    candidates: tuple[str, ...] = field(default=())
    span: tuple[int, int] | None = None
    line: str = ""

    def __str__(self) -> str:
        return f"error[{self.kind}]: {self.message}"


def nearest(word: str, names: list[str]) -> str | None:
    """The name that a mistyped word most likely means, or None where nothing is close."""
    from difflib import get_close_matches

    lowered = {name.lower(): name for name in names}
    if len(word) >= 3:
        inside = sorted((n for n in lowered if word.lower() in n), key=len)
        close = get_close_matches(word.lower(), list(lowered), n=1, cutoff=0.67)
        for found in (*close, *inside):
            return lowered[found]
    return None
