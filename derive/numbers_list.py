"""The reference numbers as a list: as data, and for people with what was recomputed beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any

from derive.document import Block, Document, Fields, Heading, Line, Table

if TYPE_CHECKING:
    from formulas.numbers import Figure, ReferenceNumber

_COLUMNS = ("number", "value", "recomputed", "check")
# Units that `display` scales; any other word is printed behind the figure as it is.
_AMOUNTS = frozenset({"byte", "KiB", "GiB", "byte/s", "FLOP/s", "FLOP/byte", "s", "%"})
# Words of a unit that belong before the figure.
_BEFORE = frozenset({"about", "above", "near"})
_BOUNDS = {"at_least": "at least ", "at_most": "at most "}


def numbers_data() -> list[dict[str, Any]]:
    """Every number as an object for `--json`, in the order of the sheet.

    `computed` has the keys of `values` that were recomputed, and is absent where none was; so are
    `qualifier`, `meaning`, `note` and `beside` where there is nothing to say.
    """
    from formulas.numbers import numbers

    return [_object(number) for number in numbers().values()]


def numbers_document(words: str = "") -> Document:
    """The numbers by section; with words only those that have them all, each with its sources."""
    from formulas.numbers import numbers

    wanted = words.lower().split()
    found = [n for n in numbers().values() if all(word in _searched(n) for word in wanted)]
    if not found:
        return (Line(f"no reference number matches '{words}'"),)
    verified = sum(number.verified for number in found)
    some = f"{len(found)} of {len(numbers())}" if wanted else str(len(found))
    blocks: list[Block] = [Heading(f"{some} reference numbers, {verified} of them recomputed")]
    for section, rows in groupby(found, key=lambda number: number.section):
        members = tuple(rows)
        lines = tuple(line for number in members for line in table_rows(number))
        blocks += [Heading(section), Table(_COLUMNS, lines)]
        if wanted:
            blocks.append(Fields(tuple(row for number in members for row in _details(number))))
    return tuple(blocks)


def _object(number: ReferenceNumber) -> dict[str, Any]:
    computed = _computed(number)
    told = {
        "computed": _plain_table(computed),
        "qualifier": number.qualifier if isinstance(number.qualifier, str) else None,
        "meaning": dict(number.meaning),
        "note": number.note,
        "beside": _plain_table(_beside(number)),
    }
    if isinstance(number.qualifier, Mapping):
        told["qualifier"] = dict(number.qualifier)
    return {
        "id": number.id,
        "section": number.section,
        "chapter": number.chapter,
        "about": number.about,
        "values": _plain_table(number.values),
        "unit": number.unit,
        "source": "; ".join(number.source),
        "as_of": number.as_of,
        "verified": number.verified,
        "tolerance": None if number.tolerance is None else float(number.tolerance),
        **{key: value for key, value in told.items() if value},
    }


def _computed(number: ReferenceNumber) -> Mapping[str, Figure]:
    from solvers.recompute.check import recomputed

    return recomputed(number.id)


def _beside(number: ReferenceNumber) -> Mapping[str, Fraction]:
    from solvers.recompute.check import BESIDE

    return BESIDE[number.id]() if number.id in BESIDE else {}


def _plain_table(table: Mapping[str, Figure]) -> dict[str, Any]:
    return {key: _plain(value) for key, value in table.items()}


def _plain(value: Figure) -> Any:
    """The figure as JSON knows it: whole numbers as integers, the others as floats."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else float(value)
    return value


def _searched(number: ReferenceNumber) -> str:
    texts = [value for value in number.values.values() if isinstance(value, str)]
    spelt = number.id.replace("_", " ")
    parts = (number.id, spelt, number.section, number.about, *number.values, *texts)
    return " ".join(parts).lower()


def table_rows(number: ReferenceNumber) -> Iterator[tuple[str, ...]]:
    """One row for a number of one value; else a row for its name and one for each value."""
    computed = _computed(number)
    alone = len(number.values) == 1
    if not alone:
        yield (number.id, "", "", "")
    for key, value in number.values.items():
        label = number.id if alone else f"  {key.replace('_', ' ')}"
        bound = _BOUNDS.get(key, "") if alone else ""
        again = _shown(number, key, computed[key]) if key in computed else ""
        text = f"{bound}{_qualified(number, key)}{_shown(number, key, value)}"
        yield (label, text, again, _check(number, key, computed))


def _check(number: ReferenceNumber, key: str, computed: Mapping[str, Figure]) -> str:
    from solvers.recompute.check import difference, within

    if not number.verified:
        return ""
    if key not in computed:
        return "quoted"
    if within(number, key, computed[key]):
        return "ok"
    return f"differs by {float(100 * difference(number, key, computed[key])):.3g} %"


def _qualified(number: ReferenceNumber, key: str) -> str:
    """What is said before the figure: about, near, at least."""
    told = number.qualifier.get(key, "") if isinstance(number.qualifier, Mapping) else ""
    remark = number.unit.rpartition(", ")[2]
    words = (told, *(word for word in (number.units[key], remark) if word in _BEFORE))
    return "".join(f"{word} " for word in dict.fromkeys(words) if word)


def _shown(number: ReferenceNumber, key: str, value: Figure) -> str:
    unit = "" if number.units[key] in _BEFORE else number.units[key]
    if not isinstance(value, tuple):
        return _one(value, unit)
    if any(isinstance(item, str) for item in value):
        return ", ".join(value)
    between = ", " if key in number.lists else " to "
    # A word is said once, behind the last figure; an amount has its unit each time.
    word = "" if unit in _AMOUNTS else f" {unit}"
    *others, last = (_one(item, unit) for item in value)
    return between.join([*(text.removesuffix(word) for text in others), last])


def _one(value: Figure, unit: str) -> str:
    from formulas.amounts import display
    from formulas.units import Unit, parse_unit

    if not isinstance(value, Fraction):
        return display(value, Unit())
    if unit not in _AMOUNTS:
        return display(value, Unit(), unit.removesuffix("s") if value == 1 else unit)
    own = parse_unit(unit)
    base = Unit(own.powers)
    # A scaled unit is asked for; in its base unit a figure goes to the prefix that suits it.
    return display(value, base, unit=None if own.scale == 1 else own)


def _details(number: ReferenceNumber) -> Iterator[tuple[str, str]]:
    """What the table has no room for: meaning, conditions, sources, and other models beside it."""
    yield (number.id, number.about)
    if isinstance(number.qualifier, str):
        yield ("", number.qualifier)
    if number.meaning:
        yield ("", ", ".join(f"{key}: {text}" for key, text in number.meaning.items()))
    if number.note:
        yield ("", number.note)
    if beside := _beside(number):
        yield ("", "beside it: " + ", ".join(f"{key} {_one(v, '')}" for key, v in beside.items()))
    yield ("", f"source: {'; '.join(number.source)} ({number.as_of})")
