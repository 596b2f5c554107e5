"""Clashes and ways out against plain enumeration: of all subsets, and of all whole numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import combinations
from math import ceil, floor
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from formulas.scenario import scenario
from formulas.statements import Fact, Limit, Statement
from solvers.answer import Contradiction, Infeasible, Relaxation
from solvers.corrections import MOST
from solvers.explain import corrections_of, explained
from solvers.nearest import simplest_between
from solvers.replacing import away
from solvers.solve import Request, solve
from tests.deployments import stated

# The memory of one GPU, and what a sequence needs of it: few enough relations to know by hand
# which of the statements can hold together.
RELATIONS = ("deployment.memory_used_per_gpu", "deployment.kv_bytes_per_gpu")
POWERS = tuple(2**k for k in range(13))
SIGNS = {"most": "<=", "context": ">=", "cache": ">="}
NAMES = {
    "weights": "weight_bytes_per_gpu",
    "overhead": "runtime_overhead",
    "batch": "batch",
    "dp": "dp",
    "size": "kv_bytes_per_token_per_gpu",
    "most": "memory_used_per_gpu",
    "context": "context_tokens",
    "cache": "kv_bytes_per_gpu",
}
Case = Mapping[str, Fraction]

# Nothing in a case is exactly at its limit.
HALF = Fraction(1, 2)
cases = st.fixed_dictionaries(
    {
        "weights": st.integers(1, 60),
        "overhead": st.integers(0, 30),
        "batch": st.integers(1, 40),
        "dp": st.sampled_from(POWERS[:4]),
        "size": st.integers(1, 9),
        "most": st.integers(1, 200),
        "context": st.integers(0, 30),
        "cache": st.integers(0, 150),
    }
).map(
    lambda row: {
        name: Fraction(value) + (HALF if name == "most" else 0) for name, value in row.items()
    }
)


def can_hold(case: Case) -> bool:
    """Whether some whole context, and some value of what is not in the case, meets the case.

    A limit met within 1e-9 is met, so that what only has to be positive may as well be nothing.
    """
    least = case.get("cache", Fraction(0))
    used = case.get("weights", Fraction(0)) + case.get("overhead", Fraction(0))
    most = case["most"] - used if "most" in case else None
    shortest = case.get("context", Fraction(0))
    if most is None:
        return True
    if "size" not in case:
        return least <= most
    # One sequence of a longer context is as good as several where the batch is free.
    ranks = (case["dp"],) if "dp" in case else POWERS
    steps = (case.get("batch", Fraction(1)) / dp * case["size"] for dp in ranks)
    return any(max(ceil(least / step), ceil(shortest)) * step <= most for step in steps)


def statement(name: str, value: Fraction) -> Statement:
    quantity = NAMES[name]
    if name in SIGNS:
        return Limit(quantity, SIGNS[name], value, f"{quantity} {SIGNS[name]} {value}")
    return Fact(quantity, value, text=f"{quantity} = {value}")


def request(case: Case) -> Request:
    rows = [statement(name, value) for name, value in case.items()]
    return Request("context_tokens", scenario(rows), "max", RELATIONS)


def refusal(case: Case) -> Infeasible:
    asked = request(case)
    answer = explained(asked, solve(asked))
    assert isinstance(answer, Infeasible), answer
    return answer


def short(names: Iterable[str]) -> frozenset[str]:
    back = {quantity: name for name, quantity in NAMES.items()}
    return frozenset(back[name] for name in names)


def smallest(case: Case) -> int:
    """The size of the smallest subset that cannot hold together, by trying them all."""
    for size in range(1, len(case) + 1):
        for kept in combinations(case, size):
            if not can_hold({name: case[name] for name in kept}):
                return size
    raise AssertionError(case)


@given(cases)
def test_a_clash_is_infeasible_minimal_and_smallest(case: Case) -> None:
    assume(not can_hold(case))
    members = short(row.name for row in refusal(case).conflict)
    clash = {name: case[name] for name in members}
    assert not can_hold(clash), clash
    for name in members:
        assert can_hold({n: v for n, v in clash.items() if n != name}), (name, clash)
    assert len(members) == smallest(case), (clash, case)


def with_value(case: Case, name: str, value: Fraction) -> dict[str, Fraction]:
    return {**case, name: value}


def allowed(name: str, value: Fraction) -> bool:
    """Whether the value lies in the domain of what it is said of."""
    least = {"weights": value > 0, "size": value > 0, "batch": value >= 1}
    whole = name in ("batch",) and value.denominator != 1
    return least.get(name, name in SIGNS or value >= 0) and not whole


@given(cases)
def test_a_way_out_is_tight(case: Case) -> None:
    """At the value it is feasible, just short of it it is not, nor anywhere on the way."""
    assume(not can_hold(case))
    answer = refusal(case)
    rows = {next(iter(short((row.name,)))): row for row in answer.relaxations}
    for name, row in rows.items():
        check_tight(case, name, row)
    for name in set(case) - set(rows):
        if name == "dp":
            assert not any(can_hold(with_value(case, name, Fraction(p))) for p in POWERS)
            continue
        for value in (Fraction(n, 3) for n in range(700)):
            if allowed(name, value):
                assert not can_hold(with_value(case, name, value)), (name, value)


def check_tight(case: Case, name: str, row: Relaxation) -> None:
    to, start = stated(row.to), case[name]
    near = abs(to) * Fraction(1, 10**8)
    assert any(can_hold(with_value(case, name, v)) for v in (to, to + near, to - near)), row
    if name == "dp":
        nearer = [p for p in POWERS if abs(p - start) < abs(to - start)]
        assert not any(can_hold(with_value(case, name, Fraction(p))) for p in nearer)
        return
    if name == "batch":
        low, high = sorted((start, to))
        between = [Fraction(n) for n in range(ceil(low), floor(high) + 1) if n != to]
    else:
        between = [start + (to - start) * Fraction(n, 50) for n in range(50)]
        between.append(to - (to - start) * Fraction(1, 10**4))
        between.append(to + abs(to) * Fraction(1, 10**4) * (1 if to < start else -1))
    for value in between:
        if value != to and allowed(name, value) and min(start, to) <= value <= max(start, to):
            assert not can_hold(with_value(case, name, value)), (name, value, row)


@given(cases)
def test_what_is_given_up_is_enough_and_needed(case: Case) -> None:
    assume(not can_hold(case))
    found = corrections_of(request(case))
    assert found is not None
    # The list may end before all are found, but for no other reason.
    assert found.complete or len(found.sets) == MOST
    sets = [short(row.name for row in rows) for rows in found.sets]
    for size in (1, 2, 3):
        for dropped in map(frozenset, combinations(case, size)):
            kept = {name: case[name] for name in case if name not in dropped}
            if dropped in sets:
                assert can_hold(kept), (dropped, sets)
                assert not any(other < dropped for other in sets)
            elif found.complete and not any(other < dropped for other in sets):
                assert not can_hold(kept), (dropped, sets)


# -- questions about deployments

HEADLINE = "max context given tpot <= 5 ms, gpu 8 x h100-sxm, tp = 8, batch 32, model llama-3.1-70b"


def of_line(line: str) -> tuple[Request, Any]:
    from derive.asked import asked_of
    from derive.question import parse

    asked = asked_of(parse(line)).request()
    return asked, explained(asked, solve(asked))


def test_the_headline_names_what_makes_it_slow() -> None:
    """The weights of one GPU, 141.1 GB / 8 over 3.35 TB/s, take more than 5 ms by themselves."""
    _, answer = of_line(HEADLINE)
    assert [(row.name, row.origin) for row in answer.conflict] == [
        ("gpu", "you"),
        ("model", "you"),
        ("tpot", "you"),
        ("weight_dtype", "assumed"),
    ]
    alone = 70553706496 * 2 / 8 / 3.35e12
    assert alone > 0.005
    told = answer.reason.partition("at least ")[2].partition(" ms")[0]
    # Beside them, the messages of one sequence: two for each of 80 layers in 14 eighths.
    messages = 160 * 14 * (2 * 8192 / 8 / 450e9)
    assert float(told) == pytest.approx((alone + messages) * 1000, rel=1e-3)


def test_the_headline_has_one_way_out() -> None:
    """At 80 % of the bandwidth, with 3.5 ms a step and 1 us a hop: an empty context's TPOT."""
    _, answer = of_line(HEADLINE)
    messages = 160 * 14 * (1e-6 + 2 * 32 * 8192 / 8 / 450e9)
    step = 70553706496 * 2 / 8 / (3.35e12 * 0.8) + messages + 0.0035
    (row,) = answer.relaxations
    assert (row.name, row.relation) == ("tpot", ">=")
    assert float(row.to) == pytest.approx(step, rel=1e-9)
    assert row.change == pytest.approx(step / 0.005 - 1, rel=1e-9)
    assert row.text == f"tpot <= {ceil(step * 1e5) / 100:g} ms"
    assert any(text.startswith("tp: 16 breaks replica_size") for text in answer.cannot_help)


LINES = (
    HEADLINE,
    "max batch given model llama-3.1-70b, gpu 1 x h100-sxm, context 4k",
    "max context given model llama-3.1-70b, gpu 2 x h100-sxm, batch 128, context >= 8k",
    "max context given tpot <= 8 ms, gpu 8 x h100-sxm, tp = 4, batch 32, model llama-3.1-70b,"
    " step_overhead = 0.5 ms, link_latency = 0.1 us",
    "max batch given tpot <= 6 ms, gpu 1 x h200-sxm, model llama-3.1-8b, context 8k",
)


@pytest.mark.parametrize("line", LINES)
def test_every_way_out_of_a_deployment_is_tight(line: str) -> None:
    """Asked again with what is told it has an answer, and a little short of it there is none."""
    asked, answer = of_line(line)
    assert isinstance(answer, Infeasible)
    assert answer.relaxations
    for row in answer.relaxations:
        told = changed(asked, row, row.to)
        assert not isinstance(solve(told), Infeasible), row
        if isinstance(row.to, str) or row.relation == "=":
            continue
        short_of = row.to * (1 + Fraction(1, 10**4) * (-1 if row.relation == ">=" else 1))
        if row.name == "batch":
            short_of = row.to + 1
        assert isinstance(solve(changed(asked, row, short_of)), Infeasible), row


def changed(asked: Request, row: Relaxation, value: Any) -> Request:
    """The request with one thing said otherwise, by the words of the grammar."""
    from dataclasses import replace

    from derive.question import read_statement

    kept = []
    for old in asked.scenario.statements:
        name = getattr(old, "quantity", None) or getattr(old, "choice", None)
        if name == row.name and isinstance(old, Limit | Fact):
            kept.append(replace(old, value=Fraction(value)))
        elif type(old).__name__ == "UseGpu" and row.name == "gpu":
            kept.append(replace(old, name=value))
        else:
            kept.append(old)
    if isinstance(value, str) and row.name != "gpu":
        kept += read_statement(row.name, value)
    elif row.name not in {getattr(old, "quantity", "") for old in kept} and row.name != "gpu":
        kept.append(Fact(row.name, Fraction(value)))
    return replace(asked, scenario=scenario(kept))


@pytest.mark.parametrize(
    ("said", "needed"),
    [
        # Half of it is what a format of one byte takes.
        (163840, {"n_layers", "n_kv_heads", "d_head", "kv_bytes_per_element"}),
        # 2.5 bytes are no format: these clash whatever the format is.
        (409600, {"n_layers", "n_kv_heads", "d_head"}),
    ],
)
def test_facts_that_contradict_are_the_fewest(said: int, needed: set[str]) -> None:
    """2 x 80 x 8 x 128 x 2 bytes are 327 680; what says otherwise clashes with each of these."""
    facts = {"n_layers": 80, "n_kv_heads": 8, "d_head": 128, "kv_bytes_per_element": 2, "batch": 8}
    rows = [Fact(name, Fraction(value), text=f"{name} = {value}") for name, value in facts.items()]
    wrong = Fact("kv_bytes_per_token", Fraction(said), text=f"kv_bytes_per_token = {said}")
    asked = Request("kv_bytes_per_gpu", scenario([*rows, wrong]))
    answer = explained(asked, solve(asked))
    assert isinstance(answer, Contradiction)
    assert {row.name for row in answer.conflict} == {*needed, "kv_bytes_per_token"}
    right = Fact("kv_bytes_per_token", Fraction(327680) * (1 + Fraction(1, 10**10)))
    near = Request("kv_bytes_per_gpu", scenario([*rows, right]))
    assert not isinstance(solve(near), Contradiction)


@given(st.fractions(), st.fractions(min_value=Fraction(1, 10**6), max_value=1))
def test_the_simplest_fraction_between(low: Fraction, width: Fraction) -> None:
    found = simplest_between(low, low + width)
    assert low <= found <= low + width
    if found.denominator > 1:
        smaller = found.denominator - 1
        assert ceil(low * smaller) > floor((low + width) * smaller)


@given(st.fractions(min_value=-(10**6), max_value=10**6), st.booleans())
def test_rounded_away(value: Fraction, upwards: bool) -> None:
    found = away(value, upwards)
    assert found >= value if upwards else found <= value
    assert abs(found - value) <= abs(value) / 1000
