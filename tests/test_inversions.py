"""Every inverse of every relation, put back at random exact points by an evaluator of its own."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import numpy
import pytest
import sympy

from formulas.catalogue import catalogue
from formulas.formula import VOCABULARY, Relation
from formulas.quantity import Quantity
from solvers.branches import Root, Span
from solvers.equation import solve_equation
from solvers.inversions import NO_ARRAY_INVERSE, Inversion, inversion, inversions

mpmath.mp.dps = 60
POINTS = 40
# So close to a limit of 1 a number of 60 digits says nothing of what it was made from.
NO_DIGITS_LEFT = mpmath.mpf(10) ** -15
WITHIN = mpmath.mpf(10) ** -40
Point = Mapping[str, Any]


class Undefined(Exception):
    """No real number: the root or the logarithm of a negative one."""


NOWHERE = (ZeroDivisionError, Undefined)

RELATIONS = tuple(catalogue().relations.values())
SCALAR = tuple(row for row in RELATIONS if not row.is_array)
PAIRS = [(row, name) for row in SCALAR for name in row.inputs]
EQUATIONS = [pytest.param(r, n, id=f"{r.key}-{n}") for r, n in PAIRS if not r.is_bound]
BOUNDS = [pytest.param(r, n, id=f"{r.key}-{n}") for r, n in PAIRS if r.is_bound]
REFUSED = {
    ("paged_block_lookup.block_slot", "token_position"),
    ("paged_block_lookup.block_slot", "block_size"),
    ("speculative_expected_tokens", "acceptance_rate"),
    ("integer_quantization.quantized_weight", "quant_scale"),
    ("deployment.stage_share", "n_layers"),
    ("deployment.max_sequences", "context_tokens"),
    ("deployment.max_sequences", "kv_bytes_per_token_per_gpu"),
    ("deployment.link_bandwidth", "tp"),
    ("deployment.link_bandwidth", "dp"),
    ("deployment.link_bandwidth", "scale_up_domain_gpus"),
    ("deployment.all_reduce_time", "tp"),
    ("deployment.all_reduces_per_step", "dp"),
    ("deployment.all_to_all_time", "dp"),
    ("deployment.stage_send_time", "pp"),
    ("deployment.step_time", "n_moe_layers"),
    ("deployment.prefill_all_reduce_time", "tp"),
}
# Layouts of caches hang on which kinds of layers there are: conditions and steps.
REFUSED |= {
    ("deployment.fewest_of_a_kind", "stage_full_layers"),
    ("deployment.fewest_of_a_kind", "stage_window_layers"),
    ("deployment.fewest_of_a_kind", "stage_state_layers"),
    ("deployment.fewest_of_a_kind", "other_drafter_layers"),
    ("deployment.fewest_of_a_kind", "most_of_a_kind"),
    ("deployment.group_layers", "fewest_of_a_kind"),
    ("deployment.group_layers", "most_of_a_kind"),
    ("deployment.full_groups", "group_layers"),
    ("deployment.page_bytes", "block_size"),
    ("deployment.page_bytes", "full_layers"),
    ("deployment.page_bytes", "full_token_bytes"),
    ("deployment.page_bytes", "window_layers"),
    ("deployment.page_bytes", "state_layers"),
    ("deployment.full_block_tokens", "block_size"),
    ("deployment.window_block_tokens", "block_size"),
    ("deployment.request_blocks", "context_tokens"),
    ("deployment.request_blocks", "window_groups"),
    ("deployment.request_blocks", "window_block_tokens"),
    ("deployment.request_blocks", "sliding_window"),
    ("deployment.request_blocks", "max_batched_tokens"),
    ("deployment.request_blocks", "state_groups"),
    ("deployment.request_cache_bytes", "block_size"),
    ("deployment.expert_load", "ep"),
    ("deployment.all_reduce_time.calibrated", "tp"),
    ("deployment.all_to_all_time.calibrated", "dp"),
    ("deployment.stage_send_time.calibrated", "pp"),
    ("deployment.step_time.calibrated", "n_moe_layers"),
    ("deployment.prefill_all_reduce_time.calibrated", "tp"),
    ("deployment.kv_bytes_read_per_gpu.mixed", "stage_window_layers"),
    ("deployment.kv_bytes_read_per_gpu.mixed", "stage_state_layers"),
    ("deployment.flops_per_token.mixed", "window_layers"),
    ("deployment.prefill_flops.mixed", "window_layers"),
    ("deployment.prefill_flops.mixed", "sliding_window"),
    ("deployment.prefill_flops.indexed", "index_topk"),
    ("deployment.growing_bytes_per_token", "indexer_layers"),
    ("deployment.max_sequences.mixed", "request_cache_bytes"),
}


@cache
def solved(key: str, name: str) -> Inversion:
    return inversion(catalogue().relations[key], name)


# -- the evaluator: fractions as long as they go, then 60 digits


def real(value: Any) -> Any:
    if isinstance(value, Fraction):
        return mpmath.mpf(value.numerator) / value.denominator
    return value


def value_of(node: Any, at: Point) -> Any:
    if node.is_Symbol:
        constant = VOCABULARY[node.name].value
        return at[node.name] if constant is None else constant
    if node.is_Rational:
        return Fraction(int(node.p), int(node.q))
    if node in (sympy.true, sympy.false):
        return bool(node)
    if isinstance(node, sympy.Piecewise):
        return next(value_of(term, at) for term, test in node.args if value_of(test, at))
    parts = [value_of(part, at) for part in node.args]
    if node.func.__name__ not in ("And", "Or") and any(not isinstance(p, Fraction) for p in parts):
        parts = [real(part) for part in parts]
    return RULES[node.func.__name__](*parts)


def power(base: Any, exponent: Any) -> Any:
    if exponent == int(exponent):
        return base ** int(exponent)
    if base < 0 and not alike(base, Fraction(0)):
        raise Undefined
    return mpmath.power(max(real(base), 0), real(exponent))


def logarithm(number: Any) -> Any:
    if number <= 0:
        raise Undefined
    return mpmath.log(real(number))


def in_domain(quantity: Quantity, value: Any) -> bool:
    low, high = quantity.domain.low, quantity.domain.high
    below = low is not None and (
        real(value) < real(low) or (quantity.domain.low_open and value == low)
    )
    return not below and (high is None or bool(real(value) <= real(high)))


def alike(one: Any, other: Any) -> bool:
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return one == other
    size = max(abs(real(one)), abs(real(other)), 1)
    return bool(abs(real(one) - real(other)) <= WITHIN * size)


RULES: dict[str, Any] = {
    "Add": lambda *parts: sum(parts[1:], parts[0]),
    "Mul": lambda *parts: math.prod(parts[1:], start=parts[0]),
    "Pow": power,
    "log": logarithm,
    "exp": lambda x: mpmath.exp(real(x)),
    "ceiling": lambda x: Fraction(math.ceil(x)),
    "floor": lambda x: Fraction(math.floor(x)),
    "Round": lambda x: Fraction(round(x)),
    "Mod": lambda x, y: x % y,
    "Min": min,
    "Max": max,
    "Equality": alike,
    "StrictLessThan": lambda x, y: x < y and not alike(x, y),
    "StrictGreaterThan": lambda x, y: x > y and not alike(x, y),
    "LessThan": lambda x, y: x <= y or alike(x, y),
    "GreaterThan": lambda x, y: x >= y or alike(x, y),
    "And": lambda *parts: all(parts),
    "Or": lambda *parts: any(parts),
}


# -- random points


def drawn(quantity: Quantity, dice: random.Random) -> Fraction:
    domain = quantity.domain
    if domain.high == 1:
        return Fraction(dice.randint(1, 19), 20)
    if domain.whole or domain.choices:
        return Fraction(dice.randint(int(domain.low or 0) or 1, 9))
    value = Fraction(dice.randint(1, 400), dice.randint(1, 60))
    return value if domain.low is not None else dice.choice((1, -1)) * value


def points(relation: Relation, seed: str) -> Iterator[dict[str, Any]]:
    """Values of all inputs and what the relation makes of them, where that lies in its domain."""
    dice = random.Random(seed)
    for _ in range(POINTS):
        at: dict[str, Any] = {name: drawn(VOCABULARY[name], dice) for name in relation.inputs}
        if at.get("experts_per_token", 0) >= at.get("n_experts", 10):
            continue
        try:
            result = value_of(relation.expr, at)
        except NOWHERE:
            continue
        if isinstance(result, mpmath.mpf) and abs(1 - result) < NO_DIGITS_LEFT:
            continue
        if isinstance(result, bool) or in_domain(VOCABULARY[relation.gives], result):
            yield {**at, relation.gives: result}


def inside(span: Span, at: Point, value: Any) -> bool:
    low, high = (None if end is None else value_of(end, at) for end in (span.low, span.high))
    above = low is None or value > low or (not span.low_open and alike(value, low))
    below = high is None or value < high or (not span.high_open and alike(value, high))
    return above and below


def samples(span: Span, at: Point) -> Iterator[Any]:
    """The ends that belong to it, and some points between and beyond."""
    low, high = (None if end is None else value_of(end, at) for end in (span.low, span.high))
    if low is not None and high is not None:
        yield (low + high) / 2
    if low is not None:
        yield from [low] if not span.low_open else []
        yield from [low + 1, 7 * abs(low) + 3] if high is None else []
    if high is not None:
        yield from [high] if not span.high_open else []
        yield from [high / 2] if low is None else []
    if low is None and high is None:
        yield from (Fraction(1, 3), Fraction(17))


def candidates(branch: Root | Span, at: Point, name: str) -> Iterator[Any]:
    """The values that the branch gives at this point, in the domain and under its condition."""
    others = {key: value for key, value in at.items() if key != name}
    try:
        found = (
            [value_of(branch.value, others)]
            if isinstance(branch, Root)
            else list(samples(branch, others))
        )
    except NOWHERE:
        return
    for value in found:
        if in_domain(VOCABULARY[name], value) and value_of(branch.condition, {**at, name: value}):
            yield value


@pytest.mark.parametrize(("relation", "name"), EQUATIONS)
def test_an_inverse_put_back_satisfies_the_relation(relation: Relation, name: str) -> None:
    found = solved(relation.key, name)
    assert bool(found.refused) == ((relation.key, name) in REFUSED)
    assert bool(found.branches) != bool(found.refused)
    tried = 0
    for at in points(relation, f"{relation.key} {name}"):
        for branch in found.branches:
            for value in candidates(branch, at, name):
                assert alike(value_of(relation.expr, {**at, name: value}), at[relation.gives])
                tried += 1
    assert found.refused or tried >= 3


@pytest.mark.parametrize(("relation", "name"), EQUATIONS)
def test_no_value_is_lost(relation: Relation, name: str) -> None:
    found = solved(relation.key, name)
    for at in points(relation, f"{name} {relation.key}"):
        if found.refused or is_nowhere(found.branches, at, name):
            continue
        assert any(holds(branch, at, name) for branch in found.branches)


def holds(branch: Root | Span, at: Point, name: str) -> bool:
    """True where the branch has the value that the point was made with."""
    try:
        if not value_of(branch.condition, at):
            return False
        if isinstance(branch, Span):
            return inside(branch, at, at[name])
        return alike(value_of(branch.value, at), at[name])
    except NOWHERE:
        return False


def is_nowhere(branches: tuple[Root | Span, ...], at: Point, name: str) -> bool:
    """True where a quotient has no value: then the relation does not depend on the quantity."""
    ends = [
        end
        for branch in branches
        for end in ([branch.value] if isinstance(branch, Root) else [branch.low, branch.high])
        if end is not None
    ]
    try:
        [value_of(end, at) for end in ends]
    except NOWHERE:
        return True
    return False


@pytest.mark.parametrize(("relation", "name"), BOUNDS)
def test_a_bound_holds_on_one_side_and_not_on_the_other(relation: Relation, name: str) -> None:
    (branch,) = solved(relation.key, name).branches
    assert isinstance(branch, Span)
    end = branch.high if branch.low is None else branch.low
    assert (branch.low is None) != (branch.high is None)
    sign = 1 if branch.high is None else -1
    for at in points(relation, relation.key):
        # The relation at its limit: one step to the right side it holds, to the other it does not.
        border = value_of(end, at)
        step = Fraction(1, 7) * abs(border)
        if border:
            assert one_sided(relation, {**at, name: border + sign * step})
            assert not one_sided(relation, {**at, name: border - sign * step})
        is_open = branch.low_open or branch.high_open
        assert one_sided(relation, {**at, name: border}) == (not is_open)


def one_sided(relation: Relation, at: Point) -> bool:
    made = value_of(relation.expr, at)
    if isinstance(made, bool):
        return made
    given = at[relation.gives]
    return bool(given >= made if relation.relation == ">=" else given <= made)


@pytest.mark.parametrize("relation", [r for r in RELATIONS if r.is_array], ids=lambda r: r.key)
def test_an_array_is_refused_with_the_reason(relation: Relation) -> None:
    found = inversions(relation)
    assert [row.quantity for row in found] == list(relation.inputs)
    assert {row.refused for row in found} == {NO_ARRAY_INVERSE}
    assert all(not row.branches for row in found)


def test_only_one_root_of_the_ring_is_a_number_of_gpus() -> None:
    found = inversion(catalogue().relations["ring_all_reduce"], "ring_gpus").branches
    assert [branch.condition for branch in found[:1]] == [sympy.true]
    latency = VOCABULARY["link_latency"].symbol
    assert [branch.condition for branch in found[1:]] == [sympy.Eq(latency, 0)]


LAYERS = VOCABULARY["n_layers"]
N = LAYERS.symbol
FAR = sympy.Max(N - 65_000, 65_000 - N)


@pytest.mark.parametrize(
    ("expr", "target"),
    [
        (FAR + sympy.ceiling(N / 10**6), 1001),
        (FAR * sympy.ceiling(65_000 / N), 1000),
        (FAR + sympy.ceiling(N / 10) - N / 10, 1000),
        (sympy.ceiling(N / 8) / N, Fraction(4, 27)),
        (sympy.ceiling(N / 2) / N, Fraction(1, 2)),
    ],
)
def test_no_count_is_lost_above_those_that_are_tried(expr: Any, target: Any) -> None:
    """Every whole number that satisfies it is found, or it is refused; never some of them."""
    value = sympy.lambdify(N, expr, modules="numpy")(numpy.arange(1.0, 200_000.0))
    hits = numpy.flatnonzero(abs(value - float(target)) <= 1e-12 * float(target)) + 1
    solved = solve_equation(expr, Fraction(target), LAYERS)
    assert len(hits)
    if solved.refused:
        assert "may satisfy it as well" in solved.refused
        assert hits.max() > 65_536
    else:
        assert set(hits) <= {int(p) for p in solved.points if p == int(p)}
