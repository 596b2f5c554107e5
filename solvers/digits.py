"""How far a figure may be from what it stands for, as its digits were written."""

from __future__ import annotations

import re

from formulas.quantity import Quantity
from formulas.scenario import YOU, Given

_NUMBER = re.compile(r"(?<![\w.])(\d[\d_\u202f]*)?(?:\.(\d+))?(?:[eE][+-]?\d+)?")
# A figure of one digit is a setting or was cut short: 0.9 is taken for 0.90.
_FEWEST = 2
# A card shows less memory than its data sheet says, by up to so much.
_NOMINAL = 0.01


def slack_of(given: Given, quantity: Quantity) -> float:
    """Half a unit of the last digit as it was written, in the quantity's own unit.

    A count without a point is exact, and so is what a row of the tables says, except the memory of
    a card.
    """
    value = abs(float(given.value))
    if given.origin != YOU:
        sheet = given.origin.startswith("gpu ") and quantity.unit.text == "byte"
        return value * _NOMINAL if sheet else 0.0
    found = [m for m in _NUMBER.finditer(given.text.partition("=")[2]) if m[1] or m[2]]
    if len(found) != 1 or value == 0:
        return 0.0
    (match,) = found
    whole, part = _plain(match[1] or ""), match[2] or ""
    counted = quantity.domain.whole or quantity.domain.choices
    if counted and match.group() == (match[1] or ""):
        return 0.0
    digits = (whole + part).lstrip("0")
    if not digits:
        return 0.0
    units = float(int(digits) * 10 ** max(0, _FEWEST - len(digits)))
    return value * 0.5 / units


def _plain(digits: str) -> str:
    """The digits without what groups them."""
    return digits.replace("_", "").replace("\u202f", "")
