"""What isolating gives: a value or a span, each with its condition, or a refusal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy


@dataclass(frozen=True, slots=True)
class Root:
    """`unknown = value` where the condition holds."""

    value: Any
    condition: Any = sympy.true


@dataclass(frozen=True, slots=True)
class Span:
    """The unknown lies between two expressions; an end of None is no end."""

    low: Any = None
    high: Any = None
    low_open: bool = False
    high_open: bool = False
    condition: Any = sympy.true


Branch = Root | Span


@dataclass(frozen=True, slots=True)
class Refused:
    """Why the unknown cannot be put alone on one side."""

    reason: str


class Stuck(Exception):
    """This step of the ladder does not reach; the reason is its text."""
