"""Every inverse of a relation: each of its quantities alone on one side, or the reason why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

import sympy
from sympy.core.relational import Relational

from formulas.expressions import Round
from formulas.formula import VOCABULARY, Relation
from formulas.quantities import CONSTANTS
from formulas.quantity import stand_in
from solvers.branches import Branch, Refused, Root, Span
from solvers.isolate import bound_branch, isolate_within

NO_ARRAY_INVERSE = "an array has no inverse; it is computed forwards"

# Small factors join other numbers: 2 times 2 is 4. 3600 and 10^6 stay what a person recognises.
_LARGEST_FACTOR = 10
_FACTORS = {
    quantity.symbol: sympy.Integer(int(quantity.value))
    for quantity in CONSTANTS
    if quantity.value is not None and quantity.value < _LARGEST_FACTOR
}
_MIRROR = {">=": "<=", "<=": ">="}
_REASONS = {sympy.Mod: "many values leave the same remainder"}
# What the readable form looks into; a min, a max or a case stays as it is.
_ALGEBRA = (sympy.Add, sympy.Mul, sympy.Pow, sympy.log)


@dataclass(frozen=True, slots=True)
class Inversion:
    """What one quantity is, in terms of the others; `refused` is the reason where nothing says it.

    A branch's condition may name the quantity itself: it is then tested on the branch's own value.
    """

    quantity: str
    branches: tuple[Branch, ...] = ()
    refused: str = ""


def inversions(relation: Relation) -> tuple[Inversion, ...]:
    """The inversion for every input, in the relation's order."""
    return tuple(inversion(relation, name) for name in relation.inputs)


def inversion(relation: Relation, name: str) -> Inversion:
    """The relation solved for one of its inputs; of a bound, the bound that it sets on it."""
    if relation.is_array:
        return Inversion(name, refused=NO_ARRAY_INVERSE)
    expr, goal = _equation(relation)
    unknown = VOCABULARY[name].symbol
    found = isolate_within(expr, goal, unknown)
    if isinstance(found, Refused):
        reasons = (reason for node, reason in _REASONS.items() if expr.has(node))
        return Inversion(name, refused=next(reasons, found.reason))
    branches = [*_admissible(found, unknown), *_at_zero(expr, goal, unknown, found)]
    if expr.has(Round):
        branches = [half for branch in branches for half in _with_ties(branch, goal)]
    return Inversion(name, tuple(_tidied(branch, unknown) for branch in branches))


def _equation(relation: Relation) -> tuple[Any, Branch]:
    """An expression and what it has to equal, or where it has to lie."""
    expr = relation.expr.xreplace(_FACTORS)
    if isinstance(expr, Relational):
        return expr.gts - expr.lts, Span(
            low=sympy.Integer(0), low_open=isinstance(expr, sympy.Gt | sympy.Lt)
        )
    target = VOCABULARY[relation.gives].symbol
    if relation.is_bound:
        return expr, bound_branch(_MIRROR[relation.relation], target)
    return expr, Root(target)


# -- the two roots of a quadratic


def _admissible(branches: tuple[Branch, ...], unknown: Any) -> tuple[Branch, ...]:
    """Without the roots that no values of the other quantities bring into the domain."""
    kept = tuple(b for b in branches if not (isinstance(b, Root) and _excluded(b.value, unknown)))
    roots = [b for b in kept if isinstance(b, Root) and _square_roots(b.value)]
    if len(roots) == 2:
        # Of two real roots with a product below zero the lesser is negative.
        first, second = (root.value for root in roots)
        lesser = roots[1] if _with_known_signs(first - second).is_nonnegative else roots[0]
        if _excluded(first * second, unknown):
            return tuple(b for b in kept if b is not lesser)
    return kept


def _excluded(value: Any, unknown: Any) -> bool:
    """True where no number of that sign lies in the unknown's domain."""
    known = _with_known_signs(value)
    return bool(
        known.is_nonpositive
        if unknown.is_positive
        else unknown.is_nonnegative and known.is_negative
    )


def _with_known_signs(value: Any) -> Any:
    """The value where there is one: its denominator is not 0, its square roots are real."""
    top, bottom = sympy.fraction(sympy.together(sympy.expand(value)))
    divisors = {s: stand_in(positive=True) for s in bottom.free_symbols if s.is_nonnegative}
    whole = sympy.expand(top) / bottom
    return whole.xreplace(
        {root: stand_in(nonnegative=True) for root in _square_roots(whole)} | divisors
    )


def _square_roots(value: Any) -> set[Any]:
    return {power for power in value.atoms(sympy.Pow) if power.exp == sympy.Rational(1, 2)}


def _at_zero(expr: Any, goal: Branch, unknown: Any, found: tuple[Branch, ...]) -> list[Branch]:
    """What a quadratic becomes where its leading coefficient is 0."""
    bottoms = (
        b.value.as_numer_denom()[1] for b in found if isinstance(b, Root) and _square_roots(b.value)
    )
    vanishing = {s for bottom in bottoms for s in bottom.free_symbols if not s.is_positive}
    branches: list[Branch] = []
    for symbol in sorted(vanishing, key=str):
        linear = isolate_within(expr.xreplace({symbol: sympy.Integer(0)}), goal, unknown)
        if not isinstance(linear, Refused):
            branches += [
                replace(b, condition=sympy.And(b.condition, sympy.Eq(symbol, 0))) for b in linear
            ]
    return branches


def _with_ties(branch: Branch, goal: Branch) -> list[Branch]:
    """A rounded value's range: a tie goes to the even number, so only an even one has its ends."""
    if isinstance(branch, Root) or isinstance(goal, Span):
        return [branch]
    odd = sympy.Mod(goal.value, 2)
    return [
        replace(branch, condition=sympy.And(branch.condition, sympy.Eq(odd, 0))),
        Span(branch.low, branch.high, True, True, sympy.And(branch.condition, sympy.Eq(odd, 1))),
    ]


# -- the readable form


def _tidied(branch: Branch, unknown: Any) -> Branch:
    if isinstance(branch, Span):
        low, high = (None if end is None else tidy(end) for end in (branch.low, branch.high))
        return replace(branch, low=low, high=high)
    condition = branch.condition
    if not branch.value.is_Symbol:
        condition = condition.xreplace({branch.value: unknown})
    return Root(tidy(branch.value), condition)


def tidy(value: Any) -> Any:
    """The same value, written shorter: equal sums cancel, a quotient of sums may be split."""
    sums: dict[Any, Any] = {}
    whole = _with_named_sums(value, sums)
    forms = [_restored(form, sums, minus=4) for form in (*_split(whole, sums), whole)]
    return min(forms, key=_length)


def _length(value: Any) -> tuple[int, int]:
    """The names and numbers that there are to read, then the names alone."""
    leaves = Counter(_leaves(value))
    names = sum(count for leaf, count in leaves.items() if leaf.is_Symbol)
    return leaves.total(), names


def _leaves(node: Any) -> Iterator[Any]:
    """The names and numbers; the -1 of a minus or of a quotient is none."""
    for part in node.args:
        if part.args:
            yield from _leaves(part)
        elif part != -1 or node.is_Add:
            yield part


def _with_named_sums(node: Any, sums: dict[Any, Any]) -> Any:
    """The expression with each sum replaced by a symbol, so that its factors stay together.

    Sums that differ only by a number or a sign get one symbol.
    """
    if not isinstance(node, _ALGEBRA):
        return node
    built = node.func(*(_with_named_sums(part, sums) for part in node.args))
    if not isinstance(built, sympy.Add):
        return built
    factor, total = built.primitive()
    if total.could_extract_minus_sign():
        factor, total = -factor, -total
    known = {other: name for name, other in sums.items()}
    name = known.get(total) or stand_in(**_signs(total))
    sums[name] = total
    return factor * name


def _signs(total: Any) -> dict[str, bool]:
    """What is known of the sum, so that its powers simplify as the sum's own would."""
    known = {
        "real": total.is_real,
        "positive": total.is_positive,
        "nonnegative": total.is_nonnegative,
    }
    return {name: True for name, holds in known.items() if holds}


def _split(whole: Any, sums: dict[Any, Any]) -> list[Any]:
    """The forms in which one sum of the numerator is divided term by term."""
    top, bottom = whole.as_numer_denom()
    return [
        sympy.Add(*(term * (top / name) / bottom for term in sums[name].args))
        for name in sympy.Mul.make_args(top)
        if name in sums
    ]


def _restored(node: Any, sums: dict[Any, Any], minus: int = 2) -> Any:
    """The expression with the sums in their places, each turned so that few minuses are read.

    `minus` is what a minus before the whole costs.
    """
    if isinstance(node, sympy.Mul) or node in sums:
        return _restored_product(node, sums, minus)
    if not isinstance(node, _ALGEBRA):
        return node
    return node.func(*(_restored(part, sums) for part in node.args))


def _restored_product(node: Any, sums: dict[Any, Any], minus: int) -> Any:
    number, factors = node.as_coeff_mul()
    turning = [f for f in factors if f.as_base_exp()[0] in sums and abs(f.as_base_exp()[1]) == 1]
    choices = []
    for signs in product((1, -1), repeat=len(turning)):
        turned = {
            f: sign * sums[f.as_base_exp()[0]] for f, sign in zip(turning, signs, strict=True)
        }
        sign = prod(signs) * (1 if number > 0 else -1)
        choices.append((sum(map(_minuses, turned.values())) + minus * (sign < 0), sign < 0, turned))
    _, negative, turned = min(choices, key=lambda choice: choice[:2])
    parts = [
        _restored(turned[f], sums) ** f.as_base_exp()[1] if f in turned else _restored(f, sums)
        for f in factors
    ]
    number = -abs(number) if negative else abs(number)
    if number == 1 or len(parts) > 1 or not parts[0].is_Add:
        return sympy.Mul(number, *parts)
    # A number before a sum stays outside of it.
    return sympy.Mul(number, parts[0], evaluate=number == -1)


def _minuses(total: Any) -> int:
    """What the minuses of a sum cost: N - 1 reads well, but of a share p it is 1 - p."""
    number, terms = total.as_coeff_add()
    cost = sum(2 for term in terms if term.could_extract_minus_sign())
    share = any(
        VOCABULARY[s.name].domain.high == 1 for s in total.free_symbols if s.name in VOCABULARY
    )
    if share:
        return cost + 2 * bool(number < 0)
    return cost + bool(number > 0 and cost)
