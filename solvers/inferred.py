"""A quantity that no relation gives: by a stated equation, or backwards from what is stated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import sympy

from solvers.chain import Chain
from solvers.exact import evaluate
from solvers.found import Found, Lacking
from solvers.number import Undefined

_DEEPEST = 1


def equal_to(chain: Chain, name: str) -> Found | None:
    """What a person states the quantity to be equal to, where that can be had."""
    if chain.using:
        return None
    for expr, text in _stated_equal(chain, name):
        used: dict[str, Found] = {}

        def lookup(other: str, used: dict[str, Found] = used) -> Any:
            if other not in used:
                used[other] = chain.value(other)
            return used[other].value

        try:
            value = evaluate(expr, lookup)
        except (Lacking, Undefined):
            continue
        rows = used.values()
        return Found(
            name,
            value,
            inputs=tuple(used),
            assumed=frozenset[str]().union(*(f.assumed for f in rows)),
            stated=frozenset[str]().union(*(f.stated for f in rows)),
            inferred=frozenset[str]().union(*(f.inferred for f in rows)),
            by=text,
        )
    return None


def _stated_equal(chain: Chain, name: str) -> Iterator[tuple[Any, str]]:
    """The other sides of the equations that have the quantity alone on one side."""
    for row in chain.scenario.equations:
        sides = (row.quantity, row.other)
        if name in sides:
            other = sides[1 - sides.index(name)]
            yield chain.catalogue.quantities[other].symbol, row.text
    symbol = chain.catalogue.quantities[name].symbol
    for relate in chain.scenario.relates:
        if relate.relation != "=":
            continue
        for side, other in ((relate.left, relate.right), (relate.right, relate.left)):
            if side == symbol and symbol not in other.free_symbols:
                yield other, relate.text


def backwards(chain: Chain, name: str, assuming: bool) -> Found | None:
    """The one value of the quantity that makes a stated one, or the unknown, come out as it is;
    without `assuming`, only where nothing is guessed on the way.
    """
    if chain.forwards or name in chain.solving or len(chain.solving) > _DEEPEST or chain.using:
        return None
    for target in _targets(chain, name):
        try:
            if not assuming:
                # Fails fast where the facts alone do not reach.
                replace(chain, allowed=frozenset()).function_of(name, target)
            function = chain.function_of(name, target)
        except (Lacking, Undefined):
            continue
        found = _solved(chain, name, target, function)
        if found is not None and (assuming or not found.guessed):
            return found
    return None


def _targets(chain: Chain, name: str) -> tuple[str, ...]:
    reach = chain.catalogue.downstream(name)
    mine = [t for t in chain.equated() if t in reach]
    mine += [u for u in sorted(chain.unknowns & reach) if chain.relations(u)]
    return tuple(mine)


def _solved(chain: Chain, name: str, target: str, function: Found) -> Found | None:
    from solvers.equation import only_root

    symbol = chain.catalogue.quantities[name].symbol
    if not isinstance(function.value, sympy.Expr) or symbol not in function.value.free_symbols:
        return None
    if function.value.free_symbols != {symbol} and name not in function.inputs:
        return None  # with another unknown in it, only what one relation says is followed
    wanted = chain.value(target)
    value = only_root(function.value, wanted.value, chain.catalogue.quantities[name])
    if value is None:
        return None
    return Found(
        name,
        value,
        function.relation,
        solved_from=target,
        inputs=function.inputs,
        assumed=function.assumed | wanted.assumed,
        stated=function.stated | wanted.stated,
        inferred=function.inferred | wanted.inferred | {target},
    )
