"""What a formula may say besides arithmetic: smallest, largest, where, rounding.

Each function gives the sympy node that computes and, while sympy's evaluation is off, a node that
prints with its arguments in the order in which they were written.
"""

from __future__ import annotations

from typing import Any

import sympy
from sympy.core.parameters import global_parameters


class Round(sympy.Function):  # type: ignore[misc]
    """The nearest integer; a tie goes to the even one, as in numpy and IEEE 754."""

    nargs = 1

    @classmethod
    def eval(cls, argument: Any) -> Any:
        """The integer where the argument is a number."""
        if argument.is_Integer:
            return argument
        if argument.is_number and argument.is_finite:
            return sympy.Integer(
                round(sympy.Rational(argument) if argument.is_Rational else argument)
            )
        return None

    def _numpycode(self, printer: Any) -> str:
        return f"numpy.rint({printer._print(self.args[0])})"


class WrittenMin(sympy.Function):  # type: ignore[misc]
    """min(...) with its arguments as written; `doit` gives what computes."""

    def doit(self, **hints: Any) -> Any:
        """The sympy Min of the arguments."""
        return sympy.Min(*(argument.doit(**hints) for argument in self.args))


class WrittenMax(sympy.Function):  # type: ignore[misc]
    """max(...) with its arguments as written; `doit` gives what computes."""

    def doit(self, **hints: Any) -> Any:
        """The sympy Max of the arguments."""
        return sympy.Max(*(argument.doit(**hints) for argument in self.args))


def smallest(*arguments: Any) -> Any:
    """The least of the arguments."""
    return sympy.Min(*arguments) if global_parameters.evaluate else WrittenMin(*arguments)


def largest(*arguments: Any) -> Any:
    """The greatest of the arguments."""
    return sympy.Max(*arguments) if global_parameters.evaluate else WrittenMax(*arguments)


def where(condition: Any, term: Any, otherwise: Any = 0) -> Any:
    """`term` where the condition holds, else `otherwise`."""
    return sympy.Piecewise((term, condition), (otherwise, True))


ceiling = sympy.ceiling
floor = sympy.floor
both = sympy.And
either = sympy.Or
equal = sympy.Eq
remainder = sympy.Mod
