"""The data that ships with the package: each TOML file read once, and names looked up in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Any

from formulas.errors import Problem, nearest

Row = Mapping[str, Any]

# What a person may write between the parts of a name.
_GAP = re.compile(r"[\s_-]+")
# Longer than any name; more than that is not searched for, nor printed back.
_LONGEST_NAME = 100
# A message lists this many candidates and counts the rest.
_LISTED = 8


@cache
def load(name: str) -> Row:
    """The file `name` of formulas/data, read-only, with exact decimals and sources spelled out."""
    import tomllib
    from importlib.resources import files

    text = (files("formulas") / "data" / name).read_text(encoding="utf-8")
    data = tomllib.loads(text, parse_float=Fraction)
    legend = data.get("sources", {})
    for rows in data.values():
        if isinstance(rows, dict):
            for row in rows.values():
                if isinstance(row, dict) and "source" in row:
                    row["source"] = [_spelled_out(source, legend) for source in row["source"]]
    frozen: Row = freeze(data)
    return frozen


def freeze(value: Any) -> Any:
    """The same value with read-only mappings for tables and tuples for lists, all the way down."""
    if isinstance(value, dict):
        return MappingProxyType({key: freeze(item) for key, item in value.items()})
    if isinstance(value, list):
        return tuple(freeze(item) for item in value)
    return value


def dashed(text: str) -> str:
    """A name as the tables spell it: lower case, dashes for spaces and underscores."""
    return _GAP.sub("-", text.strip().lower())


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one kind of thing, and what is said of a text that is none of them."""

    # The kind of Problem, and what one and several of these things are called in a message.
    kind: str
    one: str
    many: str
    # Every spelling, lower case with dashes, with the canonical name that it stands for.
    spellings: Mapping[str, str]
    # What begins like one of these names and yet is another product.
    others: frozenset[str]
    # The words that a text may be read as, the likeliest first.
    readings: Callable[[str], tuple[str, ...]]
    describe: Callable[[str], str]
    listing: str

    def exact(self, text: str) -> str | None:
        """The canonical name that `text` spells in full, or None."""
        return next((self.spellings[w] for w in self.readings(text) if w in self.spellings), None)

    def resolve(self, text: str) -> str:
        """The one canonical name that `text` means; a Problem where there is none or several."""
        exact = self.exact(text)
        if exact is not None:
            return exact
        found = next((f for f in map(self._candidates, self.readings(text)) if f), ())
        if len(found) == 1:
            return found[0]
        raise self._ambiguous(text, found) if found else self._unknown(text)

    def _candidates(self, word: str) -> tuple[str, ...]:
        if not word or word in self.others or len(word) > _LONGEST_NAME:
            return ()
        names = tuple(dict.fromkeys(self.spellings.values()))
        parts = set(word.split("-"))
        # A prefix that ends where a part ends comes first, so that h20 is not read as h200.
        return (
            _matching(names, lambda name: name.startswith(word + "-"))
            or _matching(names, lambda name: name.startswith(word))
            or _matching(names, lambda name: parts <= set(name.split("-")))
        )

    def _ambiguous(self, text: str, found: tuple[str, ...]) -> Problem:
        shown = ", ".join(self.describe(name) for name in found[:_LISTED])
        if len(found) > _LISTED:
            shown += f" and {len(found) - _LISTED} more"
        message = f"'{text}' names {len(found)} {self.many}"
        return Problem(self.kind, message, (shown,), text, found)

    def _unknown(self, text: str) -> Problem:
        near = self._near(dashed(text)[:_LONGEST_NAME])
        meant = (f"did you mean {' or '.join(near)}?",) if near else ()
        message = f"no {self.one} '{text[:_LONGEST_NAME]}'"
        return Problem(self.kind, message, (*meant, self.listing), text, near)

    def _near(self, word: str) -> tuple[str, ...]:
        """The name that `word` most likely means, or the names that begin with what it means."""
        names = tuple(dict.fromkeys(self.spellings.values()))
        if word in self.others:
            return _matching(names, lambda name: name.startswith(word))
        spelling = nearest(word, sorted(self.spellings))
        if spelling is not None:
            return (self.spellings[spelling],)
        stems = {stem for name in names for stem in _stems(name)}
        stem = nearest(word, sorted(stems))
        return () if stem is None else _matching(names, lambda name: name.startswith(stem + "-"))


def _matching(names: Iterable[str], test: Callable[[str], bool]) -> tuple[str, ...]:
    return tuple(name for name in names if test(name))


def _stems(name: str) -> Iterable[str]:
    parts = name.split("-")
    return ("-".join(parts[:count]) for count in range(1, len(parts)))


def _spelled_out(source: str, legend: Mapping[str, str]) -> str:
    """`source` with its first word replaced by what the legend says it stands for."""
    word, _, rest = source.partition(" ")
    if word not in legend:
        return source
    full = legend[word]
    return f"{full}{rest}" if full.endswith("/") else f"{full} {rest}".strip()
