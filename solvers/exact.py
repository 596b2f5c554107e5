"""Exact evaluation: the fold that computes.

Where a value is not a number yet (the unknown), the result is a sympy expression in it: evaluation
goes as far as it can and stops there.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from fractions import Fraction
from functools import cache, lru_cache, reduce
from typing import Any

import sympy

from formulas.expressions import Round
from formulas.fold import Leaf, Table, fold
from formulas.formula import Relation
from solvers.number import (
    CONTEXT,
    EXACT_BITS,
    Number,
    Undefined,
    ceiling,
    floor,
    from_sympy,
    is_number,
    less,
    minus,
    ordered,
    rounded,
    same,
    short,
    to_sympy,
)


def _sum(_: Any, *parts: Number) -> Number:
    if all(isinstance(p, Fraction) for p in parts):
        return short(sum(parts, Fraction(0)))
    return CONTEXT.fsum(rounded(p) for p in parts)


def _product(_: Any, *parts: Number) -> Number:
    if all(isinstance(p, Fraction) for p in parts):
        return short(reduce(Fraction.__mul__, parts, Fraction(1)))
    return reduce(CONTEXT.mpf.__mul__, (rounded(p) for p in parts), CONTEXT.mpf(1))


def _power(_: Any, base: Number, exponent: Number) -> Number:
    if base == 0:
        if exponent < 0:
            raise Undefined("a division by zero")
        return Fraction(1 if exponent == 0 else 0)
    if isinstance(base, Fraction) and isinstance(exponent, Fraction):
        exact = _exact_power(base, exponent)
        if exact is not None:
            return exact
    if base < 0 and (not isinstance(exponent, Fraction) or exponent.denominator != 1):
        raise Undefined("a root of a negative number")
    if isinstance(exponent, Fraction) and exponent.denominator == 1:
        return CONTEXT.power(rounded(base), int(exponent))
    return CONTEXT.power(rounded(base), rounded(exponent))


def _exact_power(base: Fraction, exponent: Fraction) -> Fraction | None:
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if exponent.denominator == 1:
        power = exponent.numerator
        return base**power if bits * abs(power) <= EXACT_BITS else None
    if bits * abs(exponent) > EXACT_BITS:
        return None
    if base < 0:
        return None
    roots = [
        sympy.integer_nthroot(part, exponent.denominator)
        for part in (base.numerator, base.denominator)
    ]
    if all(exact for _, exact in roots):
        return Fraction(int(roots[0][0]), int(roots[1][0])) ** exponent.numerator
    return None


def _log(_: Any, argument: Number) -> Number:
    if argument <= 0:
        raise Undefined("a logarithm of a number that is not positive")
    return Fraction(0) if argument == 1 else CONTEXT.log(rounded(argument))


def _exp(_: Any, argument: Number) -> Number:
    return Fraction(1) if argument == 0 else CONTEXT.exp(rounded(argument))


def _round(_: Any, value: Number) -> Fraction:
    return Fraction(round(value) if isinstance(value, Fraction) else int(CONTEXT.nint(value)))


def _remainder(_: Any, value: Number, divisor: Number) -> Number:
    if divisor == 0:
        raise Undefined("a division by zero")
    return minus(value, divisor * floor(_product(None, value, _power(None, divisor, Fraction(-1)))))


def _least(_: Any, *parts: Number) -> Number:
    return ordered(parts)[0]


def _greatest(_: Any, *parts: Number) -> Number:
    return ordered(parts)[-1]


def _compare(test: Callable[[Any, Any], bool]) -> Callable[..., bool]:
    return lambda _, left, right: bool(test(left, right))


# What each node comes to where all its parts are numbers.
NUMERIC: dict[type, Callable[..., Any]] = {
    sympy.Add: _sum,
    sympy.Mul: _product,
    sympy.Pow: _power,
    sympy.log: _log,
    sympy.exp: _exp,
    sympy.ceiling: lambda _, value: ceiling(value),
    sympy.floor: lambda _, value: floor(value),
    Round: _round,
    sympy.Mod: _remainder,
    sympy.Min: _least,
    sympy.Max: _greatest,
    sympy.Abs: lambda _, value: abs(value),
    sympy.Eq: _compare(same),
    sympy.Ne: _compare(lambda a, b: not same(a, b)),
    # A value within 1e-9 of a limit is at the limit, and meets it; a strict limit is exact.
    sympy.Le: _compare(lambda a, b: not less(b, a) or same(a, b)),
    sympy.Ge: _compare(lambda a, b: not less(a, b) or same(a, b)),
    sympy.Lt: _compare(less),
    sympy.Gt: _compare(lambda a, b: less(b, a)),
}


_MOST_FACTORS = 16


def _numeric_or_open(node_class: type, rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule on numbers; on anything else the sympy node of the folded parts."""

    def apply(node: Any, *parts: Any) -> Any:
        if all(is_number(p) for p in parts):
            return rule(node, *parts)
        built = _built(node.func, tuple(to_sympy(p) for p in parts))
        return from_sympy(built) if isinstance(built, sympy.Expr) else _truth(built)

    return apply


def _built(node_class: type, parts: tuple[Any, ...]) -> Any:
    """The sympy node; sympy would compare the arms of a min or max, for which it multiplies out."""
    if node_class in (sympy.Min, sympy.Max) and any(map(_is_large, parts)):
        return node_class(*parts, evaluate=False)
    return node_class(*parts)


def _is_large(part: Any) -> bool:
    """Whether a sum stands to a power that nobody should multiply out."""
    powers = part.atoms(sympy.Pow)
    return any(p.base.is_Add and p.exp.is_Integer and abs(p.exp) > _MOST_FACTORS for p in powers)


def _truth(value: Any) -> Any:
    return bool(value) if isinstance(value, bool) or value in (sympy.true, sympy.false) else value


def _cases(node: Any, walk: Callable[[Any], Any]) -> Any:
    """The first case whose condition holds; terms behind it are not looked at."""
    open_cases: list[Any] = []
    for term, condition in node.args:
        truth = walk(condition)
        if truth is False:
            continue
        if truth is True and not open_cases:
            return walk(term)
        open_cases.append((to_sympy(walk(term)), truth))
        if truth is True:
            break
    return sympy.Piecewise(*open_cases)


def _all_of(node: Any, walk: Callable[[Any], Any]) -> Any:
    parts = [walk(part) for part in node.args]
    return False if False in parts else _truth(sympy.And(*parts))


def _any_of(node: Any, walk: Callable[[Any], Any]) -> Any:
    parts = [walk(part) for part in node.args]
    return True if True in parts else _truth(sympy.Or(*parts))


@cache
def exact_rules() -> Table:
    """The rule of every node but a symbol."""
    rules = {
        **{node: _numeric_or_open(node, rule) for node, rule in NUMERIC.items()},
        # The numbers of formulas are few, and stand in every question.
        sympy.Number: lru_cache(maxsize=1024)(from_sympy),
        sympy.NumberSymbol: from_sympy,
        sympy.logic.boolalg.BooleanAtom: bool,
        sympy.Piecewise: Leaf(_cases),
        sympy.And: Leaf(_all_of),
        sympy.Or: Leaf(_any_of),
    }
    return Table(rules)


def evaluate(expr: Any, lookup: Callable[[str], Any]) -> Any:
    """The value of the expression with the quantities that `lookup` gives.

    A number, a truth value, or a sympy expression in what is still unknown. Undefined where it has
    no value.
    """
    return fold(expr, exact_rules(), lookup)


def substitute(expr: Any, unknown: str, value: Number) -> Any:
    """The value of an expression in one unknown."""
    return evaluate(expr, {unknown: value}.__getitem__)


def without_removable_point(relation: Relation, lookup: Callable[[str], Any]) -> Any:
    """The relation's expression, or what it tends to at a point where it is 0/0."""
    for name, (point, instead) in relation.removable.items():
        value = lookup(name)
        if is_number(value) and same(value, Fraction(point)):
            names = inspect.signature(instead).parameters
            return instead(*(to_sympy(lookup(n)) for n in names))
    return relation.value
