"""A chain of formulas as a straight line of steps, printed as numpy code and as exact code.

Each step is one definition, so what several outputs share is computed once. Axes of different
shapes broadcast: a step costs as much as the axes that it really depends on.
"""
# ruff: noqa: N802  (sympy finds a rule by the name of the class)

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from solvers.numpy_printer import ArrayPrinter, identifier

# A comparison or a step this near to its edge is left to exact numbers.
NEAR = 1e-9


@dataclass(frozen=True, slots=True)
class Straight:
    """`outputs` from `inputs`, by `steps` in order: each a name and its sympy expression.

    `watched` are pairs of sides that decide by which is larger; a side of None is the whole number
    next to the other. The numpy function tells where one of them is too close to call.
    """

    inputs: tuple[str, ...]
    steps: tuple[tuple[str, Any], ...]
    outputs: tuple[str, ...]
    watched: tuple[tuple[Any, Any], ...] = ()


def straight(
    steps: Sequence[tuple[str, Any]],
    outputs: Iterable[str],
    watched: Sequence[tuple[Any, Any]] = (),
) -> Straight:
    """The part of the steps that the outputs rest on; what no step gives is an input."""
    wanted = dict.fromkeys(outputs)
    needed = set(wanted) | {n for pair in watched for side in pair for n in names_in(side)}
    kept: list[tuple[str, Any]] = []
    for name, expr in reversed(steps):
        if name in needed:
            kept.append((name, expr))
            needed |= names_in(expr)
    given = {name for name, _ in kept}
    return Straight(
        tuple(sorted(needed - given)), tuple(reversed(kept)), tuple(wanted), tuple(watched)
    )


@lru_cache(maxsize=8192)
def names_in(expr: Any) -> frozenset[str]:
    """The quantities in an expression."""
    return frozenset(symbol.name for symbol in getattr(expr, "free_symbols", ()))


def shared(line: Straight) -> Straight:
    """The same line in which what several steps compute is a step of its own, computed once."""
    import sympy

    names = [name for name, _ in line.steps]
    parts, exprs = sympy.cse([expr for _, expr in line.steps])
    temporary = {symbol.name: expr for symbol, expr in parts}
    steps: list[tuple[str, Any]] = []
    done: set[str] = set()

    def emit(name: str, expr: Any) -> None:
        for other in sorted(names_in(expr) & temporary.keys() - done):
            emit(other, temporary[other])
        done.add(name)
        steps.append((name, expr))

    for name, expr in zip(names, exprs, strict=True):
        emit(name, expr)
    return Straight(line.inputs, tuple(steps), line.outputs, line.watched)


class FlatPrinter(ArrayPrinter):
    """Prints scalar expressions for arrays of any shapes that broadcast."""

    def _nested(self, function: str, parts: Sequence[Any]) -> str:
        code = self._print(parts[0])
        for part in parts[1:]:
            code = f"numpy.{function}({code}, {self._print(part)})"
        return str(code)

    def _print_Max(self, node: Any) -> str:
        return self._nested("maximum", node.args)

    def _print_Min(self, node: Any) -> str:
        return self._nested("minimum", node.args)

    def _print_And(self, node: Any) -> str:
        return self._nested("logical_and", node.args)

    def _print_Or(self, node: Any) -> str:
        return self._nested("logical_or", node.args)

    def _print_Mod(self, node: Any) -> str:
        return self._nested("mod", node.args)

    def _print_Pow(self, node: Any, rational: bool = False, sqrt: str = "") -> str:
        base, exponent = node.args
        if exponent == -1:
            return f"(1.0/({self._print(base)}))"
        return f"(({self._print(base)})**({self._print(exponent)}))"


@lru_cache(maxsize=4096)
def _printed(expr: Any) -> str:
    return str(FlatPrinter().doprint(expr))


def numpy_source(line: Straight) -> str:
    """Python code of `kernel(inputs)`: a tuple of the outputs, and last where one is in doubt."""
    rows = [f"def kernel({', '.join(map(_plain, line.inputs))}):"]
    last = _last_uses(line)
    for place, (name, expr) in enumerate(line.steps):
        rows.append(f"    {_plain(name)} = {_printed(expr)}")
        # A large array that is not needed any more makes room for the next one.
        rows += [f"    {_plain(other)} = None" for other in last.get(place, ())]
    rows.append("    _doubt = False")
    for left, right in line.watched:
        other = "numpy.rint(_left)" if right is None else _printed(right)
        rows.append(f"    _left = {_printed(left)}")
        rows.append(f"    _right = {other}")
        rows.append("    _room = numpy.maximum(numpy.abs(_left), numpy.abs(_right))")
        rows.append(f"    _doubt = _doubt | ~(numpy.abs(_left - _right) > {NEAR}*_room)")
    found = "".join(f"{_plain(name)}, " for name in line.outputs)
    rows.append(f"    return ({found}_doubt)")
    return "\n".join(rows) + "\n"


def _last_uses(line: Straight) -> dict[int, list[str]]:
    """By the place of a step, the earlier steps that nothing needs behind it."""
    kept = set(line.outputs) | {n for pair in line.watched for side in pair for n in names_in(side)}
    place_of: dict[str, int] = {}
    for place, (name, expr) in enumerate(line.steps):
        place_of |= dict.fromkeys([*names_in(expr), name], place)
    found: dict[int, list[str]] = {}
    for name, _ in line.steps:
        if name not in kept:
            found.setdefault(place_of[name], []).append(name)
    return found


def exact_source(line: Straight) -> tuple[str, tuple[Any, ...]]:
    """Python code of `kernel(inputs)` on Fractions, and the constants that it takes as `K`."""
    from formulas.fold import Leaf, fold

    constants: list[Any] = []

    def constant(node: Any) -> str:
        from solvers.number import from_sympy

        constants.append(from_sympy(node))
        return f"K[{len(constants) - 1}]"

    def cases(node: Any, walk: Callable[[Any], str]) -> str:
        code = "undefined()"
        for term, condition in reversed(node.args):
            code = f"({walk(term)} if {walk(condition)} else {code})"
        return code

    def joined(word: str) -> Any:
        return Leaf(lambda node, walk: "(" + f" {word} ".join(map(walk, node.args)) + ")")

    import sympy

    from solvers.exact import NUMERIC

    rules: dict[type, Any] = {
        kind: lambda node, *parts: f"{type(node).__name__}(None, {', '.join(parts)})"
        for kind in NUMERIC
    }
    rules |= {
        sympy.Symbol: lambda node: _plain(node.name),
        sympy.Number: constant,
        sympy.NumberSymbol: constant,
        sympy.logic.boolalg.BooleanAtom: lambda node: str(bool(node)),
        sympy.Piecewise: Leaf(cases),
        sympy.And: joined("and"),
        sympy.Or: joined("or"),
    }
    rows = [f"def kernel({', '.join(map(_plain, line.inputs))}):"]
    rows += [f"    {_plain(name)} = {fold(expr, rules)}" for name, expr in line.steps]
    rows.append(f"    return ({''.join(_plain(name) + ', ' for name in line.outputs)})")
    return "\n".join(rows) + "\n", tuple(constants)


def _plain(name: str) -> str:
    return name.replace(".", "__")


__all__ = ["NEAR", "FlatPrinter", "Straight", "exact_source", "identifier", "names_in",
           "numpy_source", "shared", "straight"]  # fmt: skip
