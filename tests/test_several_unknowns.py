"""Questions with more than one unknown: circles, searches, trade-offs, equations, lists, steps."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
import sympy

from derive.question import read_statement
from formulas.errors import Problem
from formulas.formula import VOCABULARY
from formulas.scenario import scenario
from formulas.statements import Among, AmongNames, Axis, Fact, Relate, Statement
from solvers.answer import Choice, Exact, Infeasible, Missing, Range, Unproved
from solvers.solve import Request, solve
from tests.deployments import deployment, near, oracle_facts, replayed
from tests.oracle import Model

NODE = {"model": "llama-3.1-70b", "gpu": "8 x h100-sxm", "tp": "8"}


def said(facts: dict[str, Any]) -> list[Statement]:
    return [row for name, value in facts.items() for row in read_statement(name, str(value))]


def ask(find: str, facts: dict[str, Any], *more: Statement, **how: Any) -> Any:
    sense, _, name = find.rpartition(" ")
    return solve(Request(name, scenario([*said(facts), *more]), sense, **how))


def whole(seed: int) -> dict[str, Any]:
    facts = deployment(random.Random(seed), whole=True)
    return {"weight_dtype": "bf16", "kv_dtype": "bf16", **facts}


def spelt(facts: dict[str, Any]) -> dict[str, str]:
    return {n: str(v if isinstance(v, str) else sympy.N(sympy.Rational(v), 25)) for n, v in
            facts.items()}  # fmt: skip


# -- circles


def test_the_requests_in_flight_and_the_batch_are_found_together() -> None:
    facts = {**NODE, "prompt_tokens": 2000, "output_tokens": 500, "arrival_rate": 2}
    facts |= {"replicas": 1, "target_utilization": 1}
    answer = ask("requests_in_flight", facts)
    assert isinstance(answer, Exact)
    # With the batch stated, Little's law and the step give the same requests in flight.
    stated = ask("requests_in_flight", {**facts, "batch": f"{float(answer.value):.15g}"})
    assert near(stated.value, answer.value)
    assert "batch" in answer.evidence.assumed
    assert any("put back" in note for note in answer.evidence.notes)


def test_without_the_replicas_the_circle_says_what_it_needs() -> None:
    facts = {**NODE, "prompt_tokens": 2000, "output_tokens": 500, "arrival_rate": 5}
    answer = ask("requests_in_flight", facts)
    assert isinstance(answer, Missing)
    assert {("batch",), ("replicas",)} <= set(answer.alternatives)


# -- searches


def best_batch(facts: dict[str, Any], rate: Fraction, slo: float) -> tuple[int, int] | None:
    """The fewest GPUs, and of equal batches the one with the lowest TPOT, by trying them all."""
    grid, best = facts.get("dp", 1) * facts["pp"], None
    for batch in sorted({*range(1, grid), *range(grid, 3000, grid)}):
        model = replayed({**facts, "arrival_rate": rate}, "batch", Fraction(batch))
        if model["tpot"] > Fraction(slo) or model.broken():
            continue
        rank = (model["n_gpus"], model["tpot"], batch)
        best = rank if best is None or rank < best else best
    return None if best is None else (int(best[0]), best[2])


@pytest.mark.parametrize("seed", [1, 5, 8, 13, 21])
def test_the_fewest_gpus_over_every_batch(seed: int) -> None:
    facts = {n: v for n, v in whole(seed).items() if n not in ("batch", "arrival_rate")}
    facts |= {"tp": 8, "pp": 1, "node_gpus": 8}
    facts = {n: v for n, v in facts.items() if n not in ("dp", "ep")}
    rate = Fraction(7)
    least = replayed({**facts, "arrival_rate": rate}, "batch", Fraction(1))["tpot"]
    slo = float(f"{float(least) * 1.7:.6g}")
    shown = {**spelt(facts), "arrival_rate": "7", "tpot": f"<= {slo}"}
    answer = ask("min n_gpus", shown)
    expected = best_batch(facts, rate, slo)
    if expected is None:
        assert isinstance(answer, Infeasible), answer
    else:
        assert isinstance(answer, Choice), answer
        assert (answer.value, answer.choice) == (expected[0], {"batch": expected[1]})


def test_over_tp_and_the_cache_format_the_best_is_the_best_of_all() -> None:
    facts = {"model": NODE["model"], "gpu": NODE["gpu"], "batch": 32, "context_tokens": 32768}
    values = {}
    for tp in (1, 2, 4, 8):
        for dtype in ("bf16", "fp8"):
            one = ask("max tpot", {**facts, "tp": tp, "kv_dtype": dtype})
            if isinstance(one, Exact):
                values[tp, dtype] = one.value
    over = (Axis("tp", tuple(map(Fraction, (1, 2, 4, 8)))), Axis("kv_dtype", ("bf16", "fp8")))
    answer = ask("min tpot", facts, over=over)
    assert isinstance(answer, Choice)
    best = min(values, key=values.__getitem__)
    assert answer.value == values[best]
    assert answer.choice == {"tp": best[0], "kv_dtype": best[1]}


def test_equal_configurations_take_the_smaller_tp() -> None:
    facts = {"model": NODE["model"], "gpu": NODE["gpu"], "batch": 1, "context_tokens": 100}
    over = (Axis("tp", tuple(map(Fraction, (8, 4)))),)
    answer = ask("max kv_bytes_per_token", facts, over=over)
    assert isinstance(answer, Choice)
    assert answer.choice == {"tp": 4}


def test_a_search_that_nothing_fits_says_what_it_breaks() -> None:
    facts = {"model": NODE["model"], "gpu": NODE["gpu"], "batch": 8, "context_tokens": 8192}
    answer = ask("min tpot", {**facts, "tpot": "<= 1 ms"}, over=(Axis("tp"),))
    assert isinstance(answer, Infeasible)
    assert "tpot" in answer.reason


def test_too_many_combinations_are_refused() -> None:
    over = tuple(Axis(n, tuple(map(Fraction, range(1, 200)))) for n in ("prompt_tokens", "batch"))
    assert isinstance(ask("min tpot", NODE, over=over), Unproved)


def test_a_search_without_a_direction_is_refused() -> None:
    with pytest.raises(Problem, match="largest or smallest"):
        ask("tpot", {**NODE, "batch": 8, "context_tokens": 100}, over=(Axis("kv_dtype"),))


# -- trade-offs


def test_two_free_quantities_are_traded_off() -> None:
    answer = ask("max context_tokens", {**NODE, "tpot": "<= 30 ms"})
    assert isinstance(answer, Missing)
    assert "trade-off" in answer.reason
    assert 3 <= len(answer.tradeoff) <= 8
    for row in answer.tradeoff:
        one = ask("max context_tokens", {**NODE, "tpot": "<= 30 ms", "batch": row["batch"]})
        assert one.value == row["context_tokens"]


# -- equations


def test_a_rows_value_gives_way_to_what_is_stated() -> None:
    facts = {**NODE, "context_tokens": 8192, "batch": 32}
    answer = ask("memory_bandwidth", {**facts, "tpot": "20 ms"})
    assert isinstance(answer, Exact)
    assert answer.value < Fraction("3.35e12")
    assert any("set aside" in note for note in answer.evidence.notes)
    back = ask("tpot", facts, Fact("memory_bandwidth", answer.value, override=True))
    assert near(back.value, 0.02)
    # Without such a statement the row is a fact.
    assert ask("memory_bandwidth", facts).value == Fraction("3.35e12")


def test_a_calculation_is_an_equation_and_a_limit() -> None:
    weight, cache = (VOCABULARY[n].symbol for n in ("weight_bytes_per_gpu", "kv_bytes_per_gpu"))
    vram = VOCABULARY["vram_bytes"].symbol
    facts = {**NODE, "batch": 32}
    half = Relate(weight + cache, "<=", vram / 2, "weights and cache in half of it")
    answer = ask("max context_tokens", facts, half)
    assert answer.binding == ("weights and cache in half of it",)
    at, beyond = (
        ask("kv_bytes_per_gpu", {**facts, "context_tokens": v}) for v in
        (int(answer.value), int(answer.value) + 1)
    )  # fmt: skip
    room = ask("vram_bytes", NODE).value / 2 - ask("weight_bytes_per_gpu", NODE).value
    assert at.value <= room < beyond.value
    equal = ask("context_tokens", facts, Relate(weight, "=", cache, "as much cache as weights"))
    assert isinstance(equal, Exact)
    there = ask("kv_bytes_per_gpu", facts, Fact("context_tokens", equal.value))
    assert there.value == ask("weight_bytes_per_gpu", NODE).value


def test_an_equation_between_unknowns_defines_one_of_them() -> None:
    prompt, output = (VOCABULARY[n].symbol for n in ("prompt_tokens", "output_tokens"))
    triple = Relate(prompt, "=", 3 * output, "prompt_tokens = 3 * output_tokens")
    facts = {**NODE, "batch": 32}
    answer = ask("tpot", {**facts, "output_tokens": 500}, triple)
    plain = ask("tpot", {**facts, "output_tokens": 500, "prompt_tokens": 1500})
    assert answer.value == plain.value
    back = ask("output_tokens", facts, triple, Fact("tpot", plain.value))
    assert any(near(branch.value, 500) for branch in back.branches)


def test_the_break_even_prompt_and_the_side_that_always_wins() -> None:
    facts = {"model": NODE["model"], "gpu": "h100-sxm"}
    same = said({"reload_time": "recompute_time"})
    slow = ask("prompt_tokens", {**facts, "tier_bandwidth": "1 GB/s"}, *same)
    assert isinstance(slow, Exact)
    assert any("root 0" in note for note in slow.evidence.notes)
    fast = ask("prompt_tokens", {**facts, "tier_bandwidth": "20 GB/s"}, *same)
    assert isinstance(fast, Infeasible)
    assert "reload_time is always less than recompute_time" in fast.reason
    unknown = ask("prompt_tokens", facts, *same)
    assert isinstance(unknown, Missing)
    assert unknown.alternatives[0] == ("tier_bandwidth",)


def test_the_acceptance_that_a_speed_up_takes_says_what_it_needs() -> None:
    facts = {"speculative_speedup": 2, "draft_tokens": 4}
    assert ask("acceptance_rate", facts).alternatives == (("draft_cost_fraction",),)
    answer = ask("acceptance_rate", {**facts, "draft_cost_fraction": 0.05})
    a = float(answer.value)
    expected = sum(a**k for k in range(5))
    assert near(expected / (1 + 4 * 0.05), 2)


# -- steps


def test_whole_steps_leave_a_range_or_two_neighbours() -> None:
    facts = {"replica_request_rate": 2, "gpus_per_replica": 1, "target_utilization": 0.5}
    ranged = ask("arrival_rate", {**facts, "replicas": 3})
    assert isinstance(ranged, Range)
    (span,) = ranged.intervals
    assert (span.low, span.high, span.low_open, span.high_open) == (2, 3, True, False)
    priced = {**facts, "price_per_gpu_hour": "$4/h"}
    missed = ask("arrival_rate", {**priced, "cost_per_hour": "$50/h"})
    assert isinstance(missed, Infeasible)
    assert "$48" in missed.reason
    assert "$52" in missed.reason


# -- lists and preferences


def test_a_list_restricts_what_is_asked_what_follows_and_what_is_free() -> None:
    facts = {"model": NODE["model"], "gpu": NODE["gpu"], "context_tokens": 8192, "tpot": "<= 25 ms"}
    sizes = tuple(map(Fraction, (16, 64, 100, 256)))
    largest = ask("max batch", facts, Among("batch", sizes, "batch in {16, 64, 100, 256}"))
    assert largest.value == 64
    free = {n: v for n, v in facts.items() if n != "tpot"}
    values = ask(
        "tpot", {**free, "batch": 32}, Among("tp", sizes[:0] + tuple(map(Fraction, (4, 8))))
    )
    plain = {ask("tpot", {**free, "batch": 32, "tp": tp}).value for tp in (4, 8)}
    assert {span.low for span in values.intervals} == plain
    named = ask("max context_tokens", {**NODE, "batch": 32, "tpot": "<= 25 ms"},
                AmongNames("kv_dtype", ("bf16", "fp8")))  # fmt: skip
    assert isinstance(named, Choice)
    assert named.choice == {"kv_dtype": "fp8"}


def test_a_preferred_relation_answers_or_is_refused() -> None:
    facts = {"model": NODE["model"], "gpu": "h100-sxm", "batch": 4, "context_tokens": 1000}
    prefer = {"step_time": "decode_step_kv"}
    answer = ask("step_time", {**facts, "tp": 1}, prefer=prefer)
    assert answer.evidence.steps[-1].relation == "decode_step_kv"
    with pytest.raises(Problem, match="does not hold here"):
        ask("step_time", {**facts, "tp": 8}, prefer=prefer)
    with pytest.raises(Problem, match="gives step_time, not tpot"):
        ask("tpot", facts, prefer={"tpot": "decode_step_kv"})


def test_the_plain_model_is_the_one_asked_about() -> None:
    facts = whole(3)
    answer = ask("tpot", spelt(facts))
    assert near(answer.value, Model(oracle_facts(facts))["tpot"])
