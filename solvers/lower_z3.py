"""The z3 rules: an exact expression as a z3 term, by the fold that serves every other lowering.

A quantity whose symbol is whole is an Int, any other a Real. Only exact numbers pass: a Float is
refused with the part that holds it. Every denominator is asserted to be positive (z3 lets x/0 be
anything), and every symbol to keep its sign.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import Any

from formulas.errors import Problem
from formulas.fold import Leaf, fold

# Beyond this a power is no short product.
MOST_FACTORS = 16


@dataclass
class Lowering:
    """The z3 names of one model, and what has to hold beside it; local to one lowering.

    `whole` are the quantities that are integers, whatever their symbols say.
    """

    whole: frozenset[str] = frozenset()
    names: dict[str, Any] = field(default_factory=dict)
    always: list[Any] = field(default_factory=list)

    def term(self, expr: Any) -> Any:
        """The expression as a z3 term; Problem where it has none."""
        return fold(expr, self._rules())

    # -- the rules

    def _rules(self) -> dict[type, Any]:
        import sympy
        import z3

        from formulas.expressions import Round

        return {
            sympy.Symbol: self._symbol,
            sympy.Rational: lambda node: z3.Q(int(node.p), int(node.q)),
            sympy.Float: self._refuse,
            sympy.NumberSymbol: self._refuse,
            sympy.logic.boolalg.BooleanAtom: lambda node: z3.BoolVal(bool(node)),
            sympy.Add: lambda _, *parts: reduce(lambda a, b: a + b, map(_real, parts)),
            sympy.Mul: Leaf(self._product),
            sympy.Pow: Leaf(self._power),
            sympy.Min: lambda _, *parts: reduce(_least, map(_real, parts)),
            sympy.Max: lambda _, *parts: reduce(_greatest, map(_real, parts)),
            sympy.Abs: lambda _, part: z3.If(_real(part) >= 0, _real(part), -_real(part)),
            sympy.floor: lambda _, part: _floor(part),
            sympy.ceiling: lambda _, part: -_floor(-_real(part)),
            sympy.Mod: Leaf(self._remainder),
            Round: lambda _, part: _rounded(_real(part)),
            sympy.Piecewise: Leaf(_cases),
            sympy.Le: lambda _, a, b: _real(a) <= _real(b),
            sympy.Ge: lambda _, a, b: _real(a) >= _real(b),
            sympy.Lt: lambda _, a, b: _real(a) < _real(b),
            sympy.Gt: lambda _, a, b: _real(a) > _real(b),
            sympy.Eq: lambda _, a, b: _real(a) == _real(b),
            sympy.Ne: lambda _, a, b: _real(a) != _real(b),
            sympy.And: lambda _, *parts: z3.And(*parts),
            sympy.Or: lambda _, *parts: z3.Or(*parts),
            sympy.ITE: lambda _, test, yes, no: z3.If(test, yes, no),
            sympy.Not: lambda _, part: z3.Not(part),
        }

    def _symbol(self, symbol: Any) -> Any:
        import z3

        if symbol.name not in self.names:
            whole = bool(symbol.is_integer) or symbol.name in self.whole
            found = z3.Int(symbol.name) if whole else z3.Real(symbol.name)
            self.names[symbol.name] = found
            if symbol.is_positive:
                self.always.append(found > 0)
            elif symbol.is_nonnegative:
                self.always.append(found >= 0)
        return self.names[symbol.name]

    def _refuse(self, node: Any, *_: Any) -> Any:
        raise Problem("exact", f"{node} is no exact number", ("a solver takes exact ones only",))

    def _product(self, node: Any, walk: Any) -> Any:
        """Numerators over one denominator, which is asserted to be positive."""
        above, below = node.as_numer_denom()
        if below == 1 or below.is_number:
            return reduce(lambda a, b: a * b, (_real(walk(part)) for part in node.args))
        return _real(walk(above)) / self._positive(below, walk)

    def _positive(self, expr: Any, walk: Any) -> Any:
        term = _real(walk(expr))
        self.always.append(term > 0)
        return term

    def _power(self, node: Any, walk: Any) -> Any:
        import z3

        base, exponent = node.args
        if not exponent.is_Integer or abs(int(exponent)) > MOST_FACTORS:
            raise Problem("exact", f"{node} is no power that a solver takes", ())
        count = abs(int(exponent))
        if exponent < 0:
            below = self._positive(base, walk)
            return z3.Q(1, 1) / reduce(lambda a, b: a * b, [below] * count)
        return reduce(lambda a, b: a * b, [_real(walk(base))] * count)

    def _remainder(self, node: Any, walk: Any) -> Any:
        value, divisor = _real(walk(node.args[0])), self._positive(node.args[1], walk)
        return value - divisor * _floor(value / divisor)


def _real(term: Any) -> Any:
    """The term as a Real: the division of two Ints would be another one."""
    import z3

    return z3.ToReal(term) if z3.is_int(term) else term


def _floor(term: Any) -> Any:
    import z3

    return z3.ToReal(z3.ToInt(_real(term)))


def _least(one: Any, other: Any) -> Any:
    import z3

    return z3.If(one <= other, one, other)


def _greatest(one: Any, other: Any) -> Any:
    import z3

    return z3.If(one >= other, one, other)


def _rounded(term: Any) -> Any:
    """The nearest whole number; half-way the even one."""
    import z3

    below = z3.ToInt(term)
    half = term - z3.ToReal(below)
    up = z3.Or(half > z3.Q(1, 2), z3.And(half == z3.Q(1, 2), below % 2 == 1))
    return z3.ToReal(z3.If(up, below + 1, below))


def _cases(node: Any, walk: Any) -> Any:
    """Nested ifs; a last case without a condition is what is left."""
    import z3

    *first, (last, rest) = node.args
    if rest != True:  # noqa: E712  (sympy's true is no bool)
        raise Problem("exact", f"{node} has no value where none of its cases holds", ())
    found = _real(walk(last))
    for term, condition in reversed(first):
        found = z3.If(walk(condition), _real(walk(term)), found)
    return found
