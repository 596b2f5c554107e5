"""Intervals and spreads against the answers inside them, and the second model of the contract."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from derive.json_question import load_object, read_object
from derive.session import Session
from solvers.answer import Answer, Exact, Infeasible, Range, Unproved
from solvers.solve import Request, solve
from solvers.uncertain_values import bounds
from tests.deployments import between, deployment, oracle_facts, share, spelt
from tests.oracle import Model

Box = dict[str, tuple[Fraction, Fraction]]
VALUES = ("tpot", "ttft", "e2e_latency", "memory_used_per_gpu", "replica_request_rate")
# A fact, and how a value of it is drawn.
UNCERTAIN = {
    "mbu": lambda choose: share(choose, 0.3, 1),
    "mfu": lambda choose: share(choose, 0.3, 1),
    "memory_bandwidth": lambda choose: between(choose, 5e11, 8e12),
    "peak_flops": lambda choose: between(choose, 1e14, 4e15),
    "step_overhead": lambda choose: between(choose, 1e-4, 1e-2),
    "gpu_memory_utilization": lambda choose: share(choose, 0.7, 0.98),
    "prompt_tokens": lambda choose: Fraction(choose.randint(100, 20000)),
    "output_tokens": lambda choose: Fraction(choose.randint(20, 4000)),
    "vram_bytes": lambda choose: Fraction(choose.randint(40, 192) * 10**9),
}
SLACK = 1e-8


def patient(examples: int) -> settings:
    """So many examples of a hundred; the thorough profile has ten times as many."""
    return settings(
        max_examples=examples * settings.default.max_examples // 100,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
    )


def request_of(find: str, given_: Mapping[str, Any], box: Box) -> Request:
    """The question with these intervals for some of its facts."""
    middles = {name: (low + high) / 2 for name, (low, high) in box.items()}
    line = f'{{"find": "{find}", "given": {spelt({**given_, **middles})}}}'
    request = read_object(load_object(line)).request()
    return replace(request, scenario=replace(request.scenario, ranges=box))


def at(request: Request, point: Mapping[str, Fraction]) -> Request:
    scenario = replace(request.scenario, ranges={})
    for name, value in point.items():
        scenario = scenario.with_value(name, value, "you")
    return replace(request, scenario=scenario)


def box_of(choose: random.Random, names: list[str]) -> Box:
    found: Box = {}
    for name in names:
        low, high = sorted(UNCERTAIN[name](choose) for _ in range(2))
        if low < high:
            found[name] = (low, high)
    return found


def inside(choose: random.Random, box: Box) -> dict[str, Fraction]:
    return {
        name: low + (high - low) * Fraction(choose.randint(0, 100), 100)
        for name, (low, high) in box.items()
    }


def ends(answer: Answer) -> tuple[float, float]:
    """Between what the answer lies; one value where it does not move."""
    if isinstance(answer, Exact):
        return float(answer.value), float(answer.value)
    assert isinstance(answer, Range), answer
    low, high = answer.intervals[0].low, answer.intervals[-1].high
    return -math.inf if low is None else float(low), math.inf if high is None else float(high)


def lies_in(value: Any, span: tuple[float, float]) -> bool:
    slack = SLACK * max(abs(float(value)), 1e-12)
    return span[0] - slack <= float(value) <= span[1] + slack


# -- values


@patient(10)
@given(st.integers(0, 10**9), st.sampled_from(VALUES))
def test_a_value_lies_in_its_interval(seed: int, find: str) -> None:
    choose = random.Random(seed)
    facts = deployment(choose, whole=True)
    box = box_of(choose, choose.sample(list(UNCERTAIN), 2))
    answer = solve(request_of(find, facts, box))
    span = ends(answer)
    seen = []
    for _ in range(6):
        point = inside(choose, box)
        value = float(Model({**oracle_facts(facts), **point})[find])
        assert lies_in(value, span), (point, value, span)
        seen.append(value)
    corners = [
        float(Model({**oracle_facts(facts), **dict(zip(box, (a, b), strict=True))})[find])
        for a in next(iter(box.values()), (0,))
        for b in (list(box.values())[1] if len(box) > 1 else (0,))
        if len(box) == 2
    ]
    turning = any("turn" in note for note in answer.evidence.notes)
    if corners and not turning:
        # Monotone: the ends are those of the corners, exactly.
        assert span[0] == pytest.approx(min(corners), rel=1e-9)
        assert span[1] == pytest.approx(max(corners), rel=1e-9)


def test_an_end_is_what_the_question_gives_there() -> None:
    session = Session("model llama-3.1-70b, gpu 8 x h100-sxm, tp = 8, batch = 32, context = 8000")
    found = session.ask("tpot given mbu = 0.7..0.8").answer
    assert isinstance(found, Range)
    worst, best = (session.ask(f"tpot given mbu = {mbu}").answer for mbu in ("0.7", "0.8"))
    assert isinstance(best, Exact)
    assert isinstance(worst, Exact)
    assert found.intervals[0].low == best.value
    assert found.intervals[0].high == worst.value


def test_a_value_that_turns_is_bounded_from_outside() -> None:
    from sympy import Symbol

    x = Symbol("x", positive=True)
    low, high = bounds(x + 4 / x, {"x": (Fraction(1), Fraction(5))})
    # The least is 4, at 2; the greatest 5.8, at 5.
    assert 4 - 1e-6 < low <= 4
    assert Fraction(29, 5) <= high < Fraction(29, 5) + Fraction(1, 10**6)


# -- inverses


@patient(6)
@given(st.integers(0, 10**9))
def test_an_inverse_lies_in_its_interval(seed: int) -> None:
    choose = random.Random(seed)
    facts = deployment(choose, whole=True)
    find = choose.choice(("prompt_tokens", "memory_bandwidth", "step_overhead"))
    names = [n for n in ("mbu", "mfu", "step_overhead", "peak_flops") if n != find]
    box = box_of(choose, choose.sample(names, 2))
    tpot = float(Model(oracle_facts(facts))["tpot"]) * 2
    given_ = {n: v for n, v in facts.items() if n != find} | {"tpot": Fraction(f"{tpot:.6g}")}
    request = request_of(find, given_, box)
    answer = solve(request)
    if isinstance(answer, Unproved | Infeasible):
        return
    for _ in range(3):
        there = solve(at(request, inside(choose, box)))
        assert isinstance(there, Exact)
        assert lies_in(there.value, ends(answer))


def test_an_uncertain_target_is_a_range_of_inverses() -> None:
    session = Session("model llama-3.1-70b, gpu 8 x h100-sxm, tp = 8, batch = 32")
    low, high = (
        session.ask(f"context given tpot = {tpot} ms").answer for tpot in (20, 25)
    )  # fmt: skip
    found = session.ask("context given tpot = 20 ms..25 ms").answer
    assert isinstance(found, Range)
    assert isinstance(low, Exact)
    assert isinstance(high, Exact)
    assert (found.intervals[0].low, found.intervals[0].high) == (low.value, high.value)


# -- largest and smallest


def largest(seed: int) -> tuple[random.Random, Request, Box]:
    choose = random.Random(seed)
    facts = {**deployment(choose, whole=True), "pp": 1}
    if "dp" in facts:
        facts |= {"dp": 1, "ep": 1}
    find = choose.choice(("batch", "prompt_tokens"))
    names = [n for n in UNCERTAIN if n != find]
    box = box_of(choose, choose.sample(names, choose.choice((1, 2))))
    tpot = float(Model(oracle_facts(facts))["tpot"]) * choose.uniform(1.2, 4)
    given_ = {n: v for n, v in facts.items() if n != find} | {"tpot": f"<= {tpot!r}"}
    return choose, request_of(f"max {find}", given_, box), box


@patient(6)
@given(st.integers(0, 10**9))
def test_a_largest_value_lies_in_its_interval(seed: int) -> None:
    choose, request, box = largest(seed)
    answer = solve(request)
    if isinstance(answer, Unproved):
        return
    for _ in range(4):
        there = solve(at(request, inside(choose, box)))
        if isinstance(there, Infeasible):
            continue
        assert isinstance(there, Exact), there
        assert lies_in(there.value, ends(answer)), (there.value, ends(answer))


@patient(15)
@given(st.integers(0, 10**9))
def test_widening_an_interval_never_narrows_a_largest(seed: int) -> None:
    choose, request, box = largest(seed)
    never_narrower(choose, request, box)


@patient(85)
@given(st.integers(0, 10**9), st.sampled_from(VALUES))
def test_widening_an_interval_never_narrows_a_value(seed: int, find: str) -> None:
    choose = random.Random(seed)
    facts = deployment(choose, whole=True)
    box = box_of(choose, choose.sample(list(UNCERTAIN), choose.choice((1, 2))))
    never_narrower(choose, request_of(find, facts, box), box)


def never_narrower(choose: random.Random, request: Request, box: Box) -> None:
    """A box inside the box gives an interval inside the interval."""
    narrow: Box = {}
    for name, (low, high) in box.items():
        first, last = sorted(choose.randint(0, 100) for _ in range(2))
        width = (high - low) / 100
        narrow[name] = (low + first * width, low + last * width)
    middles = {name: (low + high) / 2 for name, (low, high) in narrow.items()}
    smaller = at(request, middles)
    smaller = replace(smaller, scenario=replace(smaller.scenario, ranges=narrow))
    wide, inner = solve(request), solve(smaller)
    if not isinstance(wide, Range | Exact) or not isinstance(inner, Range | Exact):
        return
    span = ends(wide)
    least, greatest = ends(inner)
    assert lies_in(least, (span[0], math.inf))
    assert lies_in(greatest, (-math.inf, span[1]))


def test_an_infeasible_end_is_said() -> None:
    session = Session("model llama-3.1-70b, gpu 8 x h100-sxm, tp = 8, batch = 32, tpot <= 30 ms")
    found = session.ask("max context given mbu = 0.2..0.8").answer
    best = session.ask("max context given mbu = 0.8").answer
    assert isinstance(found, Range)
    assert isinstance(best, Exact)
    assert found.intervals[0].high == best.value
    assert any("mbu = 0.2" in note and "nothing" in note for note in found.evidence.notes)


def test_two_limits_that_bind_at_the_two_ends_are_named() -> None:
    session = Session("model llama-3.1-70b, gpu 8 x h100-sxm, tp = 8, context = 8000")
    found = session.ask("max batch given tpot <= 40 ms, mbu = 0.6..0.8").answer
    assert isinstance(found, Range)
    notes = " ".join(found.evidence.notes)
    assert "tpot binds" in notes
    assert "memory binds" in notes


# -- spreads

SMALL = (
    "n_params = 8e9, n_layers = 32, n_kv_heads = 8, d_head = 128, n_heads = 32, d_model = 4096, "
    "tp = 1, peak_flops = 1e15, batch = 1, context = 0, step_overhead = 0"
)


def test_a_spread_is_the_slope_times_the_deviation() -> None:
    session = Session(f"{SMALL}, memory_bandwidth = 2 TB/s")
    found = session.ask("tpot given mbu = 0.8 ± 0.04").answer
    assert isinstance(found, Exact)
    # 16 GB at 1.6 TB/s are 10 ms, and 5 % of that is the spread.
    assert found.value == Fraction(1, 100)
    assert found.spread is not None
    assert float(found.spread) == pytest.approx(5e-4)
    assert any("first order" in note for note in found.evidence.notes)


def test_independent_spreads_add_as_squares() -> None:
    # 3 % and 4 % are 5 % together.
    line = "tpot given mbu = 0.8 ± 0.024, memory_bandwidth = 2e12 ± 0.08e12"
    found = Session(SMALL).ask(line).answer
    assert isinstance(found, Exact)
    assert found.spread is not None
    assert float(found.spread) == pytest.approx(5e-4)


def test_a_spread_of_a_largest_value() -> None:
    session = Session(
        "n_params = 8e9, n_layers = 32, n_kv_heads = 8, d_head = 128, tp = 1, vram_bytes = 80 GB, "
        "gpu_memory_utilization = 0.9, batch = 16, runtime_overhead = 4 GB ± 0.52 GB"
    )
    found = session.ask("max context").answer
    assert isinstance(found, Exact)
    # 52 GB for the cache, 131 072 B a token, 16 sequences: 0.52 GB are 1 % of it.
    assert found.spread is not None
    assert float(found.spread) == pytest.approx(0.52e9 / 131072 / 16)
