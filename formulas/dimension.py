"""The unit rules, as a fold table: what unit an expression has, or where its units clash."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy

from formulas.errors import CatalogueError
from formulas.expressions import Round, WrittenMax, WrittenMin
from formulas.fold import Leaf, Rules, fold
from formulas.units import Unit

PURE = Unit(text="1")


class AnyUnit:
    """0 and infinity have every unit."""


ANY = AnyUnit()
Dimension = Unit | AnyUnit


def dimension_rules(units: Mapping[str, Unit]) -> dict[type, Any]:
    """The rule table over symbols with these units; a symbol without one is pure."""

    def same(node: Any, *parts: Dimension) -> Dimension:
        known = [(u, a) for u, a in zip(parts, node.args, strict=True) if isinstance(u, Unit)]
        for unit, argument in known[1:]:
            if unit != known[0][0]:
                raise CatalogueError(
                    f"{known[0][1]} is in {known[0][0]}, but {argument} is in {unit}: "
                    "multiply or divide by what is missing"
                )
        return known[0][0] if known else ANY

    def pure(node: Any, *parts: Dimension) -> Dimension:
        for unit, argument in zip(parts, node.args, strict=True):
            if isinstance(unit, Unit) and unit != PURE:
                raise CatalogueError(
                    f"{type(node).__name__} wants a pure number, but {argument} is in {unit}"
                )
        return PURE

    def product(_: Any, *parts: Dimension) -> Dimension:
        unit = PURE
        for part in parts:
            if isinstance(part, AnyUnit):
                return ANY
            unit = unit * part
        return unit

    def power(node: Any, base: Dimension, exponent: Dimension) -> Dimension:
        pure_number = node.exp.is_Rational
        if isinstance(exponent, Unit) and exponent != PURE:
            raise CatalogueError(f"the exponent {node.exp} is in {exponent}, not a pure number")
        if isinstance(base, AnyUnit) or base == PURE:
            return PURE
        if not pure_number:
            raise CatalogueError(
                f"{node.base} is in {base} and cannot have the exponent {node.exp}"
            )
        return base.power(Fraction(int(node.exp.p), int(node.exp.q)))

    def compare(node: Any, *parts: Dimension) -> Dimension:
        same(node, *parts)
        return PURE

    def cases(node: Any, walk: Any) -> Dimension:
        for _, condition in node.args:
            walk(condition)
        terms = [term for term, _ in node.args]
        return same(sympy.Tuple(*terms), *(walk(term) for term in terms))

    def number(node: Any) -> Dimension:
        return ANY if node.is_zero or node.is_infinite else PURE

    def remainder(node: Any, *parts: Dimension) -> Dimension:
        return same(node, *parts)

    return {
        sympy.Symbol: lambda node: units.get(node.name, PURE),
        sympy.Number: number,
        sympy.NumberSymbol: number,
        sympy.Add: same,
        sympy.Min: same,
        sympy.Max: same,
        WrittenMin: same,
        WrittenMax: same,
        sympy.Abs: same,
        sympy.Mod: remainder,
        sympy.Mul: product,
        sympy.Pow: power,
        sympy.exp: pure,
        sympy.log: pure,
        sympy.ceiling: pure,
        sympy.floor: pure,
        Round: pure,
        sympy.core.relational.Relational: compare,
        sympy.logic.boolalg.BooleanFunction: pure,
        sympy.logic.boolalg.BooleanAtom: lambda node: PURE,
        sympy.Piecewise: Leaf(cases),
    }


def unit_of(expr: Any, units: Mapping[str, Unit], more: Rules | None = None) -> Dimension:
    """The unit of the expression; CatalogueError where two parts clash. `more` adds array rules."""
    return fold(expr, {**dimension_rules(units), **(more or {})})  # type: ignore[no-any-return]
