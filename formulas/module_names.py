"""Patterns of module names, as checkpoints list what they leave wide; read without a regex."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

MOST_PATTERNS = 20_000
_LONGEST = 300
# What a pattern behind "re:" may hold to be read here: names, dots, and anything between.
_PLAIN_REGEX = re.compile(r"\^?(?:[\w\-*]|\.\*|\\?\.|\\d\+)*\$?")


@dataclass(frozen=True, slots=True)
class Patterns:
    """Whether one of the patterns names a module, and the patterns that cannot be read."""

    matches: Callable[[str], bool]
    unread: tuple[str, ...] = ()


def patterns_of(texts: Iterable[str]) -> Patterns:
    """Patterns in the ways that quantizers write them: a name, a part of one, a glob, a regex."""
    exact: set[str] = set()
    parts: set[str] = set()
    globs: set[tuple[str, ...]] = set()
    unread = []
    for text in texts:
        regex = text.startswith("re:")
        if len(text) > _LONGEST or (regex and not _PLAIN_REGEX.fullmatch(text[3:])):
            unread.append(text)
        elif regex or "*" in text:
            globs.add(_glob(text[3:]) if regex else tuple(text.split("*")))
        elif "layers." in text:
            exact.add(text[text.index("layers.") :])
        else:
            parts.add(f".{text.removeprefix('model.')}.")

    def matches(name: str) -> bool:
        dotted = f".{name}."
        above = (name[:at] for at in range(len(name) + 1) if at == len(name) or name[at] == ".")
        return (
            any(prefix in exact for prefix in above)
            or any(part in dotted for part in parts)
            or any(_globbed(pieces, name) for pieces in globs)
        )

    return Patterns(matches, tuple(unread))


def _glob(regex: str) -> tuple[str, ...]:
    """The pieces between the wildcards; a regex without an end matches whatever follows."""
    text = regex.removeprefix("^").replace("\\d+", "*").replace(".*", "*").replace("\\.", ".")
    text = text.removesuffix("$") if text.endswith("$") else f"{text}*"
    return tuple(text.split("*"))


def _globbed(pieces: tuple[str, ...], name: str) -> bool:
    """Whether the pieces stand in the name in this order, the outer ones at its ends.

    A whole name begins with model. or another outer part, and a module with what is inside it.
    """
    first, *middle, last = pieces
    full = f"model.{name}"
    if not full.startswith(first) and not (first and name.startswith(first)):
        return False
    at = full.find(first) + len(first)
    for piece in middle:
        found = full.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    end = full.find(last, at) if last else at
    return end >= 0 and (not last or full.endswith(last) or full[end + len(last)] == ".")
