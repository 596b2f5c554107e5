"""Units: byte, FLOP, second, US dollar, joule are dimensions; token, request, GPU are tags.

Dimensions are algebra and are checked. Tags have dimension 1: they are printed, and compared only
where a person's unit meets a quantity. A scale is an exact fraction of the base unit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from formulas.errors import Problem, nearest

Powers = tuple[tuple[str, Fraction], ...]


def _merge(one: Powers, other: Powers, sign: int) -> Powers:
    total = dict(one)
    for base, power in other:
        total[base] = total.get(base, Fraction(0)) + sign * power
    return tuple(sorted((base, power) for base, power in total.items() if power))


@dataclass(frozen=True, slots=True)
class Unit:
    """A product of base dimensions to exact powers, times a scale; equal by dimension and scale."""

    powers: Powers = ()
    scale: Fraction = Fraction(1)
    tags: Powers = field(default=(), compare=False)
    text: str = field(default="", compare=False)

    def __mul__(self, other: Unit) -> Unit:
        return Unit(
            _merge(self.powers, other.powers, 1),
            self.scale * other.scale,
            _merge(self.tags, other.tags, 1),
        )

    def __truediv__(self, other: Unit) -> Unit:
        return Unit(
            _merge(self.powers, other.powers, -1),
            self.scale / other.scale,
            _merge(self.tags, other.tags, -1),
        )

    def power(self, exponent: Fraction) -> Unit:
        """The unit of x^exponent; a fractional power of a scaled unit has no exact scale."""
        if self.scale != 1 and exponent.denominator != 1:
            raise ValueError(f"no exact unit for ({self})^{exponent}")
        scale = self.scale ** int(exponent) if self.scale != 1 else self.scale
        return Unit(
            tuple((base, power * exponent) for base, power in self.powers),
            Fraction(scale),
            tuple((tag, power * exponent) for tag, power in self.tags),
        )

    def same_dimension(self, other: Unit) -> bool:
        """True where a value in one unit can be written in the other."""
        return self.powers == other.powers

    def __str__(self) -> str:
        return self.text or _spell(self)


def _spell(unit: Unit) -> str:
    if not unit.powers:
        name = "1"
    else:
        name = " ".join(base if power == 1 else f"{base}^{power}" for base, power in unit.powers)
    return name if unit.scale == 1 else f"{unit.scale} {name}"


def _atoms() -> dict[str, Unit]:
    """The closed, case-sensitive vocabulary of unit words."""
    table: dict[str, Unit] = {}

    def add(name: str, base: str, scale: Fraction | int = 1) -> None:
        table[name] = Unit(((base, Fraction(1)),), Fraction(scale), (), name)

    def tag(name: str, label: str, scale: int = 1) -> None:
        table[name] = Unit((), Fraction(scale), ((label, Fraction(1)),), name)

    decimal = {"": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15}
    for prefix, exponent in decimal.items():
        add(f"{prefix}B", "byte", 10**exponent)
        add(f"{prefix}bit", "byte", Fraction(10**exponent, 8))
        add(f"{prefix}FLOP", "FLOP", 10**exponent)
        tag(f"{prefix}tok", "token", 10**exponent)
    for power, prefix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi"), start=1):
        add(f"{prefix}B", "byte", 1024**power)
    add("KB", "byte", 1000)
    add("byte", "byte")
    for name, scale in (
        ("ns", Fraction(1, 10**9)),
        ("us", Fraction(1, 10**6)),
        ("ms", Fraction(1, 1000)),
        ("s", Fraction(1)),
        ("min", Fraction(60)),
        ("h", Fraction(3600)),
        ("day", Fraction(86400)),
    ):
        add(name, "second", scale)
    for name, joules in (("J", 1), ("kJ", 1000), ("kWh", 3_600_000)):
        add(name, "joule", joules)
    for name in ("USD", "$"):
        add(name, "dollar")
    for name, label in (
        ("token", "token"),
        ("tokens", "token"),
        ("seq", "sequence"),
        ("sequences", "sequence"),
        ("req", "request"),
        ("requests", "request"),
        ("GPU", "GPU"),
        ("GPUs", "GPU"),
        ("param", "parameter"),
        ("params", "parameter"),
        ("layer", "layer"),
        ("layers", "layer"),
    ):
        tag(name, label)
    table["1"] = Unit(text="1")
    table["rad"] = Unit(text="rad")
    table["x"] = Unit(text="x")
    table["%"] = Unit(scale=Fraction(1, 100), text="%")
    return table


_ATOMS = _atoms()
# One word for a quotient; TFLOPS is how vendors write TFLOP/s.
_WORDS = {
    **{f"{p}FLOPS": f"{p}FLOP/s" for p in ("", "k", "M", "G", "T", "P")},
    **{f"{p}bps": f"{p}bit/s" for p in ("k", "M", "G", "T")},
    "W": "J/s",
    "kW": "kJ/s",
    "hour": "h",
    "hours": "h",
}
_AMBIGUOUS = {"b", "kb", "Kb", "Mb", "Gb", "Tb", "Bps", "kBps", "MBps", "GBps", "TBps", "GiBps"}


def parse_unit(text: str) -> Unit:
    """The unit that a word such as GB/s, $/h or B/tok names; anything else is a Problem."""
    unit = Unit()
    for position, word in enumerate(text.split("/")):
        atom = _atom(word.strip(), text)
        unit = unit * atom if position == 0 else unit / atom
    return Unit(unit.powers, unit.scale, unit.tags, text)


def _atom(word: str, whole: str) -> Unit:
    if word in _ATOMS:
        return _ATOMS[word]
    if word in _WORDS:
        return parse_unit(_WORDS[word])
    if word in _AMBIGUOUS:
        raise _two_readings(word, whole)
    close = nearest(word, list(_ATOMS))
    lines = ["units are case-sensitive: GB = 10^9 bytes, GiB = 2^30 bytes, Gbit = 10^9 bits"]
    if close:
        lines.insert(0, f"did you mean '{close}'?")
    raise Problem("unit", f"unknown unit '{word}'", tuple(lines), word)


def _two_readings(word: str, whole: str) -> Problem:
    """Bits or bytes: the two spellings are the candidates."""
    per_second = "/s" if word.endswith("ps") else ""
    prefix = word.removesuffix("ps")[:-1].replace("K", "k")
    spellings = (f"{prefix.removesuffix('i')}bit{per_second}", f"{prefix}B{per_second}")
    bits, bytes_ = (whole.replace(word, spelling, 1) for spelling in spellings)
    return Problem(
        "unit",
        f"'{whole}' can be read two ways",
        (f"write {bits} (bits) or {bytes_} (bytes)",),
        whole,
        (bits, bytes_),
    )


def unit_words() -> tuple[str, ...]:
    """Every word that may stand as a unit, for completion and help."""
    return tuple(sorted({*_ATOMS, *_WORDS} - {"1"}))
