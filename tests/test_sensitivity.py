"""Sensitivities against finite differences of the solver's own answers, and by hand."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from derive.asked import Asked, asked_of
from derive.conversation import Conversation
from derive.json_question import load_object, read_object
from derive.question import parse
from derive.sens import sensitivities as of_reply
from derive.session import Reply, Session
from formulas.errors import Problem
from formulas.formula import VOCABULARY
from solvers.answer import Answer, Exact
from solvers.sensitivity import Sensitivity, sensitivities
from solvers.slopes import NotSmooth
from solvers.solve import Request, solve
from solvers.spans import contains
from tests.deployments import deployment, spelt
from tests.oracle import Model

STEP = Fraction(1, 10**7)
TIGHT = 1e-5
# Near enough to nothing else, and far enough for what counts in wholes.
NEAR = Fraction(1, 100)
# Moved by a part of themselves without breaking what has to be whole.
REAL = (
    "mbu", "mfu", "link_latency", "step_overhead", "memory_bandwidth", "link_bandwidth",
    "peak_flops", "gpu_memory_utilization", "runtime_overhead", "vram_bytes", "n_params",
    "active_params", "prompt_tokens", "output_tokens", "context_tokens", "price_per_gpu_hour",
    "target_utilization", "prefix_hit_rate",
)  # fmt: skip
VALUES = ("tpot", "ttft", "e2e_latency", "memory_used_per_gpu", "replica_request_rate")
PATIENT = settings(
    max_examples=5,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    # A seed says nothing of how simple a deployment is.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)


def asked(find: str, given_: Mapping[str, Any]) -> Asked:
    return read_object(load_object(f'{{"find": "{find}", "given": {spelt(given_)}}}'))


def moved(request: Request, name: str, value: Fraction) -> Request:
    """The question with one fact moved, or stated where it was assumed."""
    before = request.scenario.given.get(name)
    origin = before.origin if before else "you"
    return replace(request, scenario=request.scenario.with_value(name, value, origin))


def unrounded(answer: Answer) -> float:
    """The value, for a largest or smallest the end of what satisfies the limits."""
    assert isinstance(answer, Exact), answer
    if not answer.sense or not answer.intervals:
        return float(answer.value)
    span = next(s for s in answer.intervals if contains(s, answer.value))
    end = span.high if answer.sense == "max" else span.low
    assert end is not None
    return float(end)


def precise(answer: Answer) -> Any:
    """The same with every digit."""
    assert isinstance(answer, Exact), answer
    if not answer.sense or not answer.intervals:
        return answer.value
    span = next(s for s in answer.intervals if contains(s, answer.value))
    return span.high if answer.sense == "max" else span.low


def finite_difference(request: Request, row: Sensitivity) -> float:
    value = Fraction(row.value)
    ends = [precise(solve(moved(request, row.name, value * (1 + sign * STEP)))) for sign in (-1, 1)]
    middle = precise(solve(request))
    low, high = (float((Fraction_(end) - Fraction_(middle)) / Fraction_(middle)) for end in ends)
    return (high - low) / (2 * float(STEP))


def Fraction_(value: Any) -> Any:  # noqa: N802
    """Exact where it is, else 40 digits: the differences are small."""
    if isinstance(value, Fraction):
        return value
    man, exp = value.man_exp
    return Fraction(int(man)) * Fraction(2) ** int(exp)


def some(request: Request, answer: Answer) -> list[Sensitivity]:
    """The sensitivities to a few of the stated facts; every one is wanted, few are quick."""
    names = [n for n in REAL if n in request.scenario.given and n != answer.find]
    found: list[Sensitivity] = []
    for name in random.Random(str(answer)).sample(names, min(len(names), 4)):
        try:
            found += sensitivities(request, answer, (name,))
        except NotSmooth as reason:
            # At a corner there are two slopes, and none is told.
            if "corner" not in str(reason):
                raise
    return [row for row in found if row.origin != "limit"]


def compared(request: Request, answer: Answer) -> int:
    """How many facts were compared; each agrees with the difference of two answers."""
    seen = 0
    for row in some(request, answer):
        if not row.value:
            continue
        near = [end for end in (row.low, row.high) if end is not None]
        if any(abs(float(end) / float(row.value) - 1) < 1e-4 for end in near):
            continue
        ends = [solve(moved(request, row.name, row.value * (1 + s * STEP))) for s in (-1, 1)]
        if not row.found and not all(isinstance(end, Exact) for end in ends):
            # How far it holds was not found, which is told; here it is nearer than the step.
            continue
        found = finite_difference(request, row)
        assert found == pytest.approx(float(row.elasticity), rel=TIGHT, abs=TIGHT), row
        seen += 1
    return seen


@PATIENT
@given(st.integers(0, 10**9), st.sampled_from(VALUES))
def test_of_a_value_they_are_what_small_changes_do(seed: int, find: str) -> None:
    question = asked(find, deployment(random.Random(seed)))
    request = question.request()
    answer = solve(request)
    assert isinstance(answer, Exact)
    compared(request, answer)


# The seed: beyond 1e-8 of its facts nothing satisfies it any more.
@PATIENT
@example(366)
@given(st.integers(0, 10**9))
def test_of_an_inverse_they_are_what_small_changes_do(seed: int) -> None:
    choose = random.Random(seed)
    facts = deployment(choose)
    find = choose.choice(("memory_bandwidth", "prompt_tokens", "mbu", "step_overhead"))
    true = Model({n: v for n, v in _exact(facts).items()})["tpot"]
    given_ = {
        **{n: v for n, v in facts.items() if n != find},
        "tpot": Fraction(f"{float(true):.9g}"),
    }
    request = asked(find, given_).request()
    answer = solve(request)
    if isinstance(answer, Exact) and not answer.branches:
        compared(request, answer)


@pytest.mark.parametrize(("fact", "sign"), [("peak_flops", -1), ("batch", 1)])
def test_a_bandwidth_that_no_longer_helps(fact: str, sign: int) -> None:
    """Where computing alone takes the time, no bandwidth satisfies it: so far the row holds."""
    given_ = {
        "n_layers": 32, "d_model": 4096, "n_heads": 32, "n_kv_heads": 8, "d_head": 128,
        "n_params": 8030261248, "vram_bytes": 80 * 10**9, "peak_flops": 10**14, "tp": 1,
        "batch": 200, "context_tokens": 1000, "tpot": Fraction(8, 100),
    }  # fmt: skip
    request = asked("memory_bandwidth", given_).request()
    (row,) = sensitivities(request, solve(request), (fact,))
    end = Fraction_(row.low if sign < 0 else row.high)
    held = [
        isinstance(solve(moved(request, fact, end * (1 + sign * step))), Exact)
        for step in (-NEAR, NEAR)
    ]
    assert held == [True, False]


def _exact(facts: Mapping[str, Any]) -> dict[str, Any]:
    from tests.deployments import oracle_facts

    return oracle_facts(facts)


def limited(seed: int) -> tuple[Request, Answer]:
    """The largest context or batch of a random deployment under memory and a limit on TPOT."""
    choose = random.Random(seed)
    facts = {**deployment(choose), "pp": 1}
    if "dp" in facts:
        facts |= {"dp": 1, "ep": 1}
    find = choose.choice(("batch", "prompt_tokens"))
    model = Model(_exact(facts))
    facts["vram_bytes"] = int(float(model["memory_used_per_gpu"]) * choose.uniform(1.3, 4))
    tpot = float(model["tpot"]) * choose.uniform(1.01, 4)
    given_ = {n: v for n, v in facts.items() if n != find}
    given_["tpot"] = f"<= {tpot!r}"
    request = asked(f"max {find}", given_).request()
    return request, solve(request)


@PATIENT
@given(st.integers(0, 10**9))
def test_of_a_largest_value_they_are_what_small_changes_do(seed: int) -> None:
    request, answer = limited(seed)
    if not isinstance(answer, Exact) or set(answer.binding) - {"memory", "tpot"}:
        return
    compared(request, answer)


@PATIENT
@given(st.integers(0, 10**9))
def test_what_binds_changes_where_it_is_said_to(seed: int) -> None:
    request, answer = limited(seed)
    if not isinstance(answer, Exact) or len(answer.binding) != 1:
        return
    if answer.binding[0] not in ("memory", "tpot"):
        return
    for row in some(request, answer):
        for end, then in ((row.low, row.below), (row.high, row.above)):
            if end is None or then not in ("memory", "tpot"):
                continue
            at = Fraction_(end)
            way = 1 if at > row.value else -1
            inside = solve(moved(request, row.name, at * (1 - way * NEAR)))
            beyond = solve(moved(request, row.name, at * (1 + way * NEAR)))
            assert isinstance(inside, Exact)
            assert answer.binding[0] in inside.binding, (row, inside.binding)
            # So near to its end nothing may be left a little further on.
            if isinstance(beyond, Exact):
                assert then in beyond.binding, (row, beyond.binding)


# -- by hand


def by_name(rows: tuple[Sensitivity, ...]) -> dict[str, Sensitivity]:
    return {row.name: row for row in rows}


MEMORY = (
    "n_params = 8e9, n_layers = 32, n_kv_heads = 8, d_head = 128, tp = 1, vram_bytes = 80 GB, "
    "gpu_memory_utilization = 0.9, runtime_overhead = 4 GB, batch = 16"
)


def test_a_largest_context_by_hand() -> None:
    reply = Session(MEMORY).ask("max context")
    rows = by_name(of_reply(reply))
    # 0.9 * 80 GB is the budget, 16 GB are weights, 4 GB overhead: 52 GB are left for the cache.
    assert rows["vram_bytes"].elasticity == Fraction(72, 52)
    assert rows["gpu_memory_utilization"].elasticity == Fraction(72, 52)
    assert rows["runtime_overhead"].elasticity == Fraction(-4, 52)
    assert rows["n_params"].elasticity == Fraction(-16, 52)
    assert rows["batch"].elasticity == -1
    # 20 GB of weights and overhead fill what 0.9 of 22.2 GB are.
    assert rows["vram_bytes"].low is not None
    assert float(rows["vram_bytes"].low) == pytest.approx(20e9 / 0.9)
    assert rows["vram_bytes"].below == "nothing"


def test_a_limit_with_room_says_how_much() -> None:
    facts = f"{MEMORY}, memory_bandwidth = 2 TB/s, peak_flops = 1e15, n_heads = 32, d_model = 4096"
    facts += ", mbu = 1, step_overhead = 0"
    reply = Session(facts).ask("max context given tpot <= 60 ms")
    assert reply.binding == ("memory",)
    rows = by_name(of_reply(reply))
    # Weights and cache, 16 + 52 GB, at 2 TB/s: 34 ms.
    assert rows["tpot"].origin == "limit"
    assert rows["tpot"].elasticity == 0
    assert rows["tpot"].low is not None
    assert float(rows["tpot"].low) == pytest.approx(0.034)
    assert rows["tpot"].below == "tpot"
    assert float(rows["memory_bandwidth"].low or 0) == pytest.approx(2e12 * 34 / 60)
    assert rows["memory_bandwidth"].below == "tpot"


def test_the_limit_that_binds_is_a_fact_too() -> None:
    facts = f"{MEMORY}, memory_bandwidth = 2 TB/s, peak_flops = 1e15, n_heads = 32, d_model = 4096"
    reply = Session(f"{facts}, mbu = 1, step_overhead = 0").ask("max context given tpot <= 20 ms")
    rows = by_name(of_reply(reply))
    # Of 40 GB read in 20 ms, 16 GB are weights.
    assert rows["tpot"].elasticity == Fraction(40, 24)
    assert rows["n_params"].elasticity == Fraction(-16, 24)
    # Memory takes over at 68 GB read.
    assert float(rows["tpot"].high or 0) == pytest.approx(0.034)
    assert rows["tpot"].above == "memory"


def test_a_derived_quantity_may_be_named() -> None:
    reply = Session(MEMORY).ask("max context")
    (row,) = of_reply(reply, ("kv_bytes_per_token",))
    assert row.elasticity == -1
    assert row.origin == "derived"


def test_the_verb_groups_what_does_the_same() -> None:
    conversation, _ = Conversation().say(MEMORY)
    conversation, _ = conversation.say("max context")
    _, outcome = conversation.say("sens context")
    text = outcome.text()
    line = next(row for row in text.splitlines() if "vram_bytes" in row)
    assert "gpu_memory_utilization" in line or "+1.38 %" in line
    assert outcome.data["status"] == "ok"
    rows = {row["name"]: row for row in outcome.data["sensitivities"]}
    assert rows["vram_bytes"]["elasticity"] == pytest.approx(72 / 52)
    assert rows["vram_bytes"]["unit"] == "byte"


def test_the_verb_keeps_to_the_names_asked() -> None:
    conversation, _ = Conversation().say(MEMORY)
    conversation, _ = conversation.say("max context")
    _, outcome = conversation.say("sens context by batch, vram_bytes")
    assert {row["name"] for row in outcome.data["sensitivities"]} == {"batch", "vram_bytes"}


def test_nothing_asked_is_said() -> None:
    with pytest.raises(Problem, match="nothing has been asked"):
        Conversation().say("sens")


def test_a_choice_does_not_move_by_a_per_cent() -> None:
    reply = Session(MEMORY).ask("max context")
    with pytest.raises(Problem, match="which tp"):
        of_reply(reply, ("tp",))


def test_an_answer_without_a_value_shows_its_card() -> None:
    conversation, _ = Conversation().say(MEMORY)
    conversation, outcome = conversation.say("sens context given vram_bytes = 10 GB")
    assert outcome.status in ("infeasible", "missing")


def test_a_row_speaks_of_a_known_quantity() -> None:
    asked_ = asked_of(parse(f"max context given {MEMORY}"))
    request = asked_.request()
    for row in sensitivities(request, solve(request)):
        assert row.name in VOCABULARY
    assert Reply(asked_, solve(request)).status == "ok"
