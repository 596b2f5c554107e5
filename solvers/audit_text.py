"""A finding as a sentence: both figures, how far they are apart, and what went in."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from formulas.amounts import display
from formulas.catalogue import catalogue

if TYPE_CHECKING:
    from solvers.trial import Finding

TWICE = "stated twice"
# Beyond this a factor reads better than a percentage.
_FACTOR = 1.5
_NARROW = 0.1
_MOST_INPUTS = 5


def sentence(finding: Finding) -> str:
    """What was compared with what, and how it came out."""
    name = finding.quantity
    went_in = _inputs(finding)
    if finding.left is None or finding.right is None:
        verdict = "holds" if finding.holds else "is broken"
        return f"{finding.relation} {verdict}{went_in}"
    left, right = (amount(name, float(v)) for v in (finding.left, finding.right))
    stated = f"{name} {left}{_sources(finding)}".strip()
    by = finding.relation
    if by == TWICE:
        return f"{name} is stated twice: {left} and {right}"
    if finding.high is not None:
        right = f"{right} to {amount(name, float(finding.high))}"
    if finding.sense in ("=", ".."):
        if finding.holds:
            return f"{stated} agrees with {right} by {by}{went_in}"
        return f"{stated} is {apart(finding.off)} {right}, which is what {by} gives{went_in}"
    bound = "least" if finding.sense == ">=" else "most"
    if finding.holds and is_beyond(finding):
        return f"{stated} agrees with {right}, the {bound} that {by} allows{went_in}"
    if finding.holds:
        return f"{stated} is at {bound} {right}, as it has to be by {by}{went_in}"
    return f"{stated} is {apart(finding.off)} {right}, the {bound} that {by} allows{went_in}"


def is_beyond(finding: Finding) -> bool:
    """Whether a limit is passed by no more than the figures are known to."""
    off = finding.off or 0.0
    return (finding.sense == "<=" and off > 0) or (finding.sense == ">=" and off < 0)


def apart(off: float | None) -> str:
    """3.7 % below, or 3.2 times."""
    if off is None:
        return "apart from"
    ratio = 1 + off
    if ratio >= _FACTOR:
        return f"{ratio:.3g} times"
    if 0 < ratio <= 1 / _FACTOR:
        return f"1/{1 / ratio:.3g} of"
    return f"{abs(off) * 100:.2g} % {'above' if off > 0 else 'below'}"


def amount(name: str, value: float) -> str:
    """The figure as people read it."""
    quantity = catalogue().quantities.get(name)
    if quantity is None:
        return f"{value:.4g}"
    return display(Fraction(value), quantity.unit, quantity.label)


def _sources(finding: Finding) -> str:
    rows = finding.sources
    if not rows:
        return ""
    return f" (from {', '.join(rows[:_MOST_INPUTS])}{', ...' if len(rows) > _MOST_INPUTS else ''})"


def _inputs(finding: Finding) -> str:
    rows = [_input(*row) for row in finding.inputs if not _is_open(*row)]
    if not rows:
        return ""
    more = ", ..." if len(rows) > _MOST_INPUTS else ""
    return f" ({', '.join(rows[:_MOST_INPUTS])}{more})"


def _is_open(name: str, low: float, high: float) -> bool:
    return math.isinf(high) and low <= 0


def _input(name: str, low: float, high: float) -> str:
    if math.isinf(high):
        return f"{name} at least {amount(name, low)}"
    if math.isinf(low) or low <= 0 < high:
        return f"{name} at most {amount(name, high)}"
    if high - low <= _NARROW * abs(high):
        return f"{name} {amount(name, (low + high) / 2)}"
    return f"{name} {amount(name, low)} to {amount(name, high)}"
