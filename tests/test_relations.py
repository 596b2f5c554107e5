"""Every relation and every variable in it: dimensions, isolation, and values put back."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
import sympy

from formulas.catalogue import catalogue
from formulas.dimension import PURE, AnyUnit, unit_of
from formulas.formula import VOCABULARY, Relation
from formulas.quantity import Quantity
from formulas.units import Unit
from solvers.branches import Refused, Root, Span
from solvers.equation import solve_equation
from solvers.exact import evaluate
from solvers.isolate import isolate
from solvers.number import Undefined, is_number, less, minus, same, to_sympy

SCALAR = [r for r in catalogue().relations.values() if not r.is_array and r.gives != "probe_ok"]
PAIRS = [(r, name) for r in SCALAR for name in r.inputs]
UNITS = {name: q.unit for name, q in VOCABULARY.items() if not q.shape}

# What the ladder cannot put alone symbolically; each of these answers on numbers, or is tried value
# by value. A new formula that adds to this list wants a reason here.
REFUSED = {
    ("speculative_expected_tokens", "acceptance_rate"): "several places",
    ("integer_quantization.quantized_weight", "quant_scale"): "sign",
    ("paged_block_lookup.block_slot", "token_position"): "Mod has no inverse",
    ("paged_block_lookup.block_slot", "block_size"): "Mod has no inverse",
    ("deployment.stage_share", "n_layers"): "several places",
    ("deployment.max_sequences", "context_tokens"): "sign",
    ("deployment.max_sequences", "kv_bytes_per_token_per_gpu"): "sign",
    ("deployment.link_bandwidth", "tp"): "condition",
    ("deployment.link_bandwidth", "dp"): "condition",
    ("deployment.link_bandwidth", "scale_up_domain_gpus"): "condition",
    ("deployment.all_reduce_time", "tp"): "condition",
    ("deployment.all_reduces_per_step", "dp"): "condition",
    ("deployment.all_to_all_time", "dp"): "condition",
    ("deployment.stage_send_time", "pp"): "condition",
    ("deployment.step_time", "n_moe_layers"): "condition",
    ("deployment.prefill_all_reduce_time", "tp"): "condition",
    ("deployment.expert_load", "ep"): "condition",
    ("deployment.all_reduce_time.calibrated", "tp"): "condition",
    ("deployment.all_to_all_time.calibrated", "dp"): "condition",
    ("deployment.stage_send_time.calibrated", "pp"): "condition",
    ("deployment.step_time.calibrated", "n_moe_layers"): "condition",
    ("deployment.prefill_all_reduce_time.calibrated", "tp"): "condition",
    ("deployment.kv_bytes_read_per_gpu.mixed", "stage_window_layers"): "condition",
    ("deployment.kv_bytes_read_per_gpu.mixed", "stage_state_layers"): "condition",
    ("deployment.flops_per_token.mixed", "window_layers"): "condition",
    ("deployment.prefill_flops.mixed", "window_layers"): "condition",
    ("deployment.prefill_flops.mixed", "sliding_window"): "sign",
    ("deployment.prefill_flops.indexed", "index_topk"): "sign",
    ("deployment.fewest_of_a_kind", "stage_full_layers"): "condition",
    ("deployment.fewest_of_a_kind", "stage_window_layers"): "condition",
    ("deployment.fewest_of_a_kind", "stage_state_layers"): "condition",
    ("deployment.fewest_of_a_kind", "other_drafter_layers"): "condition",
    ("deployment.fewest_of_a_kind", "most_of_a_kind"): "several arms",
    ("deployment.group_layers", "fewest_of_a_kind"): "condition",
    ("deployment.group_layers", "most_of_a_kind"): "condition",
    ("deployment.full_groups", "group_layers"): "several places",
    ("deployment.page_bytes", "block_size"): "several arms",
    ("deployment.page_bytes", "full_layers"): "condition",
    ("deployment.page_bytes", "full_token_bytes"): "several arms",
    ("deployment.page_bytes", "window_layers"): "condition",
    ("deployment.page_bytes", "state_layers"): "condition",
    ("deployment.full_block_tokens", "block_size"): "several places",
    ("deployment.window_block_tokens", "block_size"): "several places",
    ("deployment.request_blocks", "context_tokens"): "several places",
    ("deployment.request_blocks", "window_groups"): "condition",
    ("deployment.request_blocks", "window_block_tokens"): "sign",
    ("deployment.request_blocks", "sliding_window"): "both sides",
    ("deployment.request_blocks", "max_batched_tokens"): "both sides",
    ("deployment.request_blocks", "state_groups"): "condition",
    ("deployment.request_cache_bytes", "block_size"): "several places",
    ("deployment.max_sequences.mixed", "request_cache_bytes"): "sign",
    ("deployment.growing_bytes_per_token", "indexer_layers"): "condition",
}


def identity(pair: tuple[Relation, str]) -> str:
    return f"{pair[0].key}-{pair[1]}"


def example(quantity: Quantity, chance: random.Random) -> Fraction:
    """An exact value inside the domain, away from its ends."""
    domain = quantity.domain
    if domain.choices:
        return chance.choice(domain.choices[:4])
    if domain.high is not None:
        return Fraction(chance.randint(1, 98), 99)
    if domain.whole:
        return Fraction(chance.randint(2, 60))
    return Fraction(chance.randint(1, 4000), chance.randint(1, 60))


def sample(relation: Relation, seed: int) -> tuple[dict[str, Fraction], object] | None:
    """Random exact inputs for which the relation has a value in the domain of what it gives."""
    chance = random.Random(f"{relation.key}-{seed}")
    for _ in range(400):
        values = {name: example(VOCABULARY[name], chance) for name in relation.inputs}
        if values.get("experts_per_token", 0) > values.get("n_experts", 100):
            continue  # a token uses no more experts than there are
        try:
            result = evaluate(relation.value, values.__getitem__)
        except Undefined:
            continue
        domain = VOCABULARY[relation.gives].domain
        low_ok = domain.low is None or not less(result, domain.low)
        # A share that has come within 1e-9 of 1 keeps too few digits to be inverted.
        high_ok = domain.high is None or float(result) < float(domain.high) - 1e-9
        if low_ok and high_ok:
            return values, result
    return None


@pytest.mark.parametrize("relation", SCALAR, ids=lambda r: r.key)
def test_both_sides_have_the_same_unit_as_written(relation: Relation) -> None:
    expected = VOCABULARY[relation.gives].unit
    for expr in (relation.expr, relation.written):
        found = unit_of(expr, UNITS)
        assert isinstance(found, AnyUnit) or found == expected


@pytest.mark.parametrize("relation", SCALAR, ids=lambda r: r.key)
def test_what_is_written_computes_the_same(relation: Relation) -> None:
    assert relation.written.doit() == relation.expr


@pytest.mark.parametrize("pair", PAIRS, ids=identity)
def test_isolated_with_its_unit_or_refused_with_its_reason(pair: tuple[Relation, str]) -> None:
    relation, name = pair
    quantity = VOCABULARY[name]
    found = isolate(relation.expr, VOCABULARY[relation.gives].symbol, quantity.symbol)
    if isinstance(found, Refused):
        assert REFUSED.get((relation.key, name), "not expected") in found.reason
        return
    assert found, "no branch at all"
    assert (relation.key, name) not in REFUSED, "it is isolated now: take it off the list"
    for branch in found:
        ends = [branch.value] if isinstance(branch, Root) else [branch.low, branch.high]
        for end in ends:
            if end is not None:
                check_unit(end, quantity.unit)


def check_unit(expr: sympy.Expr, expected: Unit) -> None:
    found = unit_of(expr, UNITS)
    assert isinstance(found, AnyUnit) or found == expected or found == PURE == expected


@pytest.mark.parametrize("pair", PAIRS, ids=identity)
def test_random_exact_values_are_solved_and_put_back(pair: tuple[Relation, str]) -> None:
    relation, name = pair
    quantity = VOCABULARY[name]
    for seed in range(3):
        drawn = sample(relation, seed)
        assert drawn is not None, "no sample in the domain"
        values, result = drawn
        others = {n: v for n, v in values.items() if n != name}
        function = evaluate(relation.value, lambda n, others=others: others.get(n, quantity.symbol))
        if quantity.symbol not in getattr(function, "free_symbols", ()):
            continue  # a case in which the quantity does not matter
        solved = solve_equation(function, result, quantity)
        if solved.refused:
            assert (relation.key, name) in REFUSED
            continue
        assert solved.points or solved.spans
        found_again = any(same(p, values[name]) for p in solved.points)
        inside = any(_within(values[name], span) for span in solved.spans)
        assert found_again or inside
        for point in solved.points:
            back = evaluate(relation.value, {**values, name: point}.__getitem__)
            assert abs(float(minus(back, result))) <= 1e-12 * max(1e-300, abs(float(result)))
        for span in solved.spans:
            for point in _points_of(span):
                back = evaluate(relation.value, {**values, name: point}.__getitem__)
                assert same(back, result)


def _within(value: Fraction, span: object) -> bool:
    low, high = span.low, span.high
    return (low is None or not less(value, low)) and (high is None or not less(high, value))


def _points_of(span: object) -> list[Fraction]:
    """The middle, and each end that belongs to the span."""
    both = ((span.low, span.low_open), (span.high, span.high_open))
    ends = [end for end, is_open in both if not is_open]
    kept = [e for e in ends if e is not None]
    if span.low is not None and span.high is not None:
        kept.append((Fraction(span.low) + Fraction(span.high)) / 2)
    return [e for e in kept if is_number(e)]


# -- sympy.solve as the oracle


# Its answers take seconds on more than these; one of each kind is asked.
ASKED_OF_SYMPY = [
    ("kv_bytes_per_token", "d_head"),
    ("max_sequences", "context_tokens"),
    ("ring_all_reduce", "ring_gpus"),
    ("ring_all_reduce", "message_bytes"),
    ("pipeline_bubble", "pipeline_stages"),
    ("replica_request_rate", "batch"),
    ("kv_offload.recompute_time", "prompt_tokens"),
    ("speculative_speedup", "draft_tokens"),
    ("cost_per_million_tokens", "output_token_rate"),
    ("rope_frequency", "d_head"),
]


@pytest.mark.parametrize("pair", ASKED_OF_SYMPY, ids="-".join)
def test_sympy_finds_the_same_values(pair: tuple[str, str]) -> None:
    relation, quantity = catalogue().relations[pair[0]], VOCABULARY[pair[1]]
    drawn = sample(relation, 7)
    assert drawn is not None
    values, result = drawn
    function = relation.value.xreplace(
        {VOCABULARY[n].symbol: to_sympy(v) for n, v in values.items() if n != quantity.name}
    )
    ours = solve_equation(function, result, quantity).points
    theirs = sympy.solve(sympy.Eq(function, to_sympy(result)), quantity.symbol)
    real = [float(t) for t in theirs if abs(sympy.im(t.evalf(30))) < 1e-15 and sympy.re(t) >= 0]
    for value in ours:
        assert any(abs(float(value) - t) <= 1e-9 * max(1, abs(t)) for t in real)


def test_the_list_of_refusals_names_real_pairs() -> None:
    assert {(r.key, n) for r, n in PAIRS} >= set(REFUSED)


def test_spans_and_roots_are_the_only_branches() -> None:
    assert {Root, Span} == {
        type(b)
        for r, n in PAIRS
        for b in _branches(isolate(r.expr, VOCABULARY[r.gives].symbol, VOCABULARY[n].symbol))
    }


def _branches(found: object) -> tuple[object, ...]:
    return () if isinstance(found, Refused) else found
