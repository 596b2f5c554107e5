"""What is searched or swept, from a name and the text of its values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from derive.names import canonical_name
from derive.question import read_statement
from formulas.errors import Problem
from formulas.statements import Among, AmongNames, Axis

CHOICES = ("model", "gpu", "mig_profile", "weight_dtype", "kv_dtype")


def axis_of(name: str, values: str | Iterable[Any] | None = None) -> Axis:
    """The axis of a quantity or choice: values as "1..512", as "{1, 2}" or as a list of them.

    Without values it is searched over all that it can be.
    """
    if values is None:
        return Axis(name_of(name))
    text = values if isinstance(values, str) else "{" + ", ".join(map(str, values)) + "}"
    (allowed,) = read_statement(name, f"in {text}")
    match allowed:
        case Among(quantity, numbers):
            return Axis(quantity, numbers)
        case AmongNames(choice, names):
            return Axis(choice, names)
    raise Problem("syntax", f"'{name}' has no values to search", ('"batch": "1..512"',))


def name_of(word: str) -> str:
    """The canonical name of a quantity; a choice such as kv_dtype has only its own."""
    return word if word in CHOICES else canonical_name(word)
