"""What may be completed at a place in the line: names with what they are, the likeliest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from derive.commands import DRAWN, PICTURES, VERBS
from derive.repl_position import Place, place_in
from derive.repl_words import WORDS

if TYPE_CHECKING:
    from formulas.quantity import Quantity

_MOST_FILES = 200
Names = Callable[[], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may stand from `start` on, and what it is."""

    text: str
    meaning: str
    start: int


def candidates(text: str, stated: Names = tuple) -> tuple[Candidate, ...]:
    """Everything that may stand at the end of the text, the likeliest first."""
    place = place_in(text)
    rows = _SOURCES[place.kind](place, stated)
    begun = place.begun.lower()
    ranked = sorted(
        ((rank, number, name, meaning) for number, (name, meaning) in enumerate(rows)
         if (rank := _rank(name.lower(), begun)) is not None),
    )  # fmt: skip
    return tuple(Candidate(name, meaning, place.start) for _, _, name, meaning in ranked)


def _rank(name: str, begun: str) -> int | None:
    """0 for a name that begins so, 1 for one with such a part, 2 for one that holds it."""
    if name.startswith(begun):
        return 0
    if any(part.startswith(begun) for part in name.replace("-", "_").replace(".", "_").split("_")):
        return 1
    return 2 if len(begun) >= 3 and begun in name else None


Row = tuple[str, str]


@cache
def _quantities() -> tuple[Row, ...]:
    from formulas.quantities import ALIASES, SCALARS

    rows = {q.name: f"{_unit(q):<8} {q.meaning}" for q in SCALARS if q.value is None}
    aliases = [(alias, rows[name]) for alias, name in ALIASES.items()]
    return (*aliases, *((name, meaning) for name, meaning in rows.items()))


def _unit(quantity: Quantity) -> str:
    return str(quantity.label or quantity.unit)


_CHOICES = (
    ("model", "a model by name, or the path of a config.json"),
    ("gpu", "8 x h100-sxm, or one by name"),
    ("weight_dtype", "the format of the weights"),
    ("kv_dtype", "the format of the cache"),
    ("mig_profile", "a MIG profile"),
    ("engine", "what the engine takes of the memory"),
    ("profile", "constants of speed, fitted to measurements"),
)
_EXTREMES = (("max", "the largest under what is given"), ("min", "the smallest"))
_TAILS = (
    ("given", "facts of this question only"),
    ("over", "choices that are searched"),
    ("->", "the unit of the answer"),
    ("by", "the facts that sens looks at"),
    ("for", "the quantity that is solved for"),
    ("to", "a file"),
    ("top", "how many of the best"),
)


def _verbs() -> Iterator[Row]:
    yield from _EXTREMES
    for verb in VERBS.values():
        yield ("why not" if verb.name == "whynot" else verb.name), verb.help
    for word in WORDS.values():
        yield word.name, word.help


def _pictures(_: Place, __: Names) -> Iterator[Row]:

    yield from PICTURES.items()
    yield from ((name, VERBS[name].help) for name in DRAWN)


@cache
def _models() -> tuple[Row, ...]:
    from formulas.tables import load

    rows = load("models.toml")["models"]
    return tuple((name, str(row.get("hf_id", ""))) for name, row in rows.items())


@cache
def _gpus() -> tuple[Row, ...]:
    from formulas.tables import load

    rows = load("gpus.toml")["gpus"]
    return tuple((name, _memory(row)) for name, row in rows.items())


def _memory(row: Mapping[str, Any]) -> str:
    found = row.get("memory_gb")
    return f"{row['vendor']}{f', {float(found):g} GB' if found else ''}"


def _of_choice(place: Place, _: Names) -> Iterable[Row]:
    from formulas.storage import FORMATS

    choice = {"kv_cache_dtype": "kv_dtype"}.get(place.of, place.of)
    if choice in FORMATS:
        return ((name, "") for name in FORMATS[choice])
    if choice == "engine":
        from formulas.engines import engines

        return ((name, "") for name in engines())
    if choice == "profile":
        return _profiles()
    return ()


def _profiles() -> Iterator[Row]:
    from formulas.profiles import SHIPPED, profile_folder

    yield from ((name, "ships with derive") for name in SHIPPED)
    yield from ((file.stem, str(file)) for file in sorted(profile_folder().glob("*.toml")))


def _units(place: Place, _: Names) -> Iterator[Row]:
    """The units in which the quantity may be written; those of its dimension."""
    from derive.names import quantity_named
    from formulas.amounts import LADDERS
    from formulas.errors import Problem
    from formulas.units import parse_unit, unit_words

    try:
        own = quantity_named(place.of).unit
    except Problem:
        return
    if own.text in ("bool", "hash", "tuple"):
        return
    usual = [word for _, word in LADDERS.get(own.powers, ())]
    words = unit_words()
    if not own.powers:
        yield from (("%", "one hundredth"), ("k", "thousand"), ("Ki", "1024"), ("M", "million"))
        return
    made = (
        *usual,
        *words,
        *(f"{word}/{per}" for word in words for per in ("s", "h", "tok", "token")),
    )
    for word in dict.fromkeys(made):
        if _plain(word) and parse_unit(word).same_dimension(own):
            yield word, f"{float(parse_unit(word).scale / own.scale):g} {own}"


def _plain(word: str) -> bool:
    """True for a unit that people write: no rate of a rate, no plural."""
    head, _, per = word.partition("/")
    return not (per and (head.endswith(("ps", "W", "FLOPS")) or head in ("%", "x", "rad", per)))


def _paths(place: Place, _: Names) -> Iterator[Row]:
    typed = place.begun.lstrip('"')
    folder, slash, begun = typed.rpartition("/")
    try:
        base = Path(f"{folder}{slash}" or ".").expanduser()
        found = sorted(base.iterdir())[:_MOST_FILES]
        for path in found:
            hidden = path.name.startswith(".") and not begun.startswith(".")
            if not hidden and " " not in path.name:
                yield f"{folder}{slash}{path.name}{'/' if path.is_dir() else ''}", ""
    except (OSError, RuntimeError):
        return


def _models_or_paths(place: Place, stated: Names) -> Iterable[Row]:
    return _paths(place, stated) if place.begun[:1] in (".", "/", "~", '"') else _models()


def _relations() -> Iterator[Row]:
    """The formulas and definitions, once the catalogue is there: it is not waited for."""
    import sys

    if "formulas.catalogue" in sys.modules:
        from formulas.catalogue import catalogue

        for key, relation in catalogue().relations.items():
            yield key, f"gives {relation.gives}"


def _values(place: Place, _: Names) -> Iterable[Row]:
    return {"steps": (("yes", ""), ("no", ""))}.get(place.of, ())


def _settings(_: Place, __: Names) -> Iterator[Row]:
    yield from (("digits", "of a number"), ("steps", "show every step"), ("time", "in seconds"))


_SOURCES: dict[str, Callable[[Place, Names], Iterable[Row]]] = {
    "nothing": lambda place, stated: (),
    "start": lambda place, stated: (*_verbs(), *_CHOICES, *_quantities()),
    "picture": _pictures,
    "question": lambda place, stated: (*_EXTREMES, *_quantities()),
    "item": lambda place, stated: (*_CHOICES, *_quantities()),
    "quantity": lambda place, stated: _quantities(),
    "name": lambda place, stated: (*_CHOICES, *_quantities()),
    "tail": lambda place, stated: _TAILS,
    "model": _models_or_paths,
    "gpu": lambda place, stated: _gpus(),
    "choice": _of_choice,
    "unit": _units,
    "path": _paths,
    "stated": lambda place, stated: ((name, "stated") for name in stated()),
    "shown": lambda place, stated: (*_relations(), *_quantities()),
    "relation": lambda place, stated: _relations(),
    "help": lambda place, stated: (*_verbs(), *_quantities(), *_relations()),
    "setting": _settings,
    "value": _values,
}
