"""Where an expression is 0, and what a symbol in it must be so that it is: in closed form."""

from __future__ import annotations

from typing import Any

import sympy

from formulas.quantity import Domain, stand_in
from solvers.number import Number
from solvers.roots import HIGHEST_DEGREE, Unseparated, smooth_arms, zeros


def places(expr: Any, symbol: Any, domain: Domain) -> list[Number]:
    """The zeros of an expression; Unseparated where it has a power too high to be taken apart."""
    if _is_high(expr, symbol):
        raise Unseparated("a high power")
    return zeros(expr, symbol, domain)


def _is_high(expr: Any, symbol: Any) -> bool:
    powers = [p for p in expr.atoms(sympy.Pow) if symbol in p.free_symbols]
    return any(symbol in p.exp.free_symbols or abs(p.exp) > HIGHEST_DEGREE for p in powers)


def solved_for(base: Any, symbol: Any) -> list[Any] | None:
    """The base solved for the symbol, arm by arm; None where it stands in a higher power."""
    found: list[Any] = []
    if _is_high(base, symbol):
        return None
    for arm in smooth_arms(base, symbol):
        if symbol not in arm.free_symbols:
            continue
        parts: dict[Any, Any] = {}
        top = sympy.fraction(sympy.together(_folded(arm, symbol, parts)))[0]
        if not top.is_polynomial(symbol):
            return None
        poly = sympy.Poly(top, symbol)
        if poly.degree() == 1:
            a, b = poly.all_coeffs()
            ways = [-b / a]
        elif poly.degree() == 2:
            a, b, c = poly.all_coeffs()
            root = sympy.sqrt(b**2 - 4 * a * c)
            ways = [(-b - root) / (2 * a), (-b + root) / (2 * a)]
        else:
            return None
        found += [way.xreplace(parts) for way in ways]
    return found or None


def _folded(node: Any, symbol: Any, parts: dict[Any, Any]) -> Any:
    """The expression with a stand-in for whatever in it is free of the symbol, kept in `parts`."""
    if symbol not in node.free_symbols:
        name = stand_in(real=True)
        parts[name] = node
        return name
    if isinstance(node, sympy.Add | sympy.Mul):
        own = [part for part in node.args if symbol in part.free_symbols]
        rest = node.func(*(part for part in node.args if symbol not in part.free_symbols))
        folded = [_folded(part, symbol, parts) for part in own]
        return (
            node.func(*folded, _folded(rest, symbol, parts))
            if len(own) < len(node.args)
            else (node.func(*folded))
        )
    if isinstance(node, sympy.Pow) and symbol not in node.exp.free_symbols:
        return _folded(node.base, symbol, parts) ** node.exp
    return node
