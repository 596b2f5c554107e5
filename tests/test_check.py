"""`check`: figures that fit together pass, and a slip in one of them is caught."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from derive.as_text import as_text
from derive.conversation import Conversation
from derive.outcome import Outcome
from derive.question import read_statement
from formulas.scenario import Given, Scenario, scenario
from formulas.statements import Statement
from solvers.audit import TOLERANCE, Audit, audit, fits
from solvers.digits import slack_of
from solvers.ground import ground
from solvers.reach import prepared
from solvers.trial import Trial
from tests.deployments import answers, deployment, spelt

DATA = json.loads((Path(__file__).parent / "data_check.json").read_text(encoding="utf-8"))
CONSISTENT, TRAPS = DATA["consistent"], DATA["traps"]
Facts = Mapping[str, Any]


@cache
def outcome_of(name: str) -> Outcome:
    """What `check` says of a consistent row's true figures."""
    return checked(next(row["facts"] for row in CONSISTENT if row["id"] == name))


def name_of(row: Mapping[str, Any]) -> str:
    return str(row["id"])


def statements(facts: Facts) -> list[Statement]:
    return [row for name, value in facts.items() for row in read_statement(name, str(value))]


def stated(facts: Facts) -> Scenario:
    return scenario(statements(facts))


def checked(*parts: Facts) -> Outcome:
    """The outcome of a `check` line that states all of these facts."""
    rows = [
        f"{name} {value}" if str(value)[0] in "<>" else f"{name} = {value}"
        for facts in parts
        for name, value in facts.items()
    ]
    return Conversation().say(f"check given {', '.join(rows)}")[1]


def broken(outcome: Outcome) -> dict[str, Mapping[str, Any]]:
    return {row["relation"]: row for row in outcome.data["findings"] if not row["holds"]}


def moved(value: Any, factor: str) -> Any:
    """The figure, 20 % off, written with as many digits."""
    if isinstance(value, int):
        return max(1, round(value * float(factor)))
    number, _, unit = str(value).replace("/", " /").partition(" ")
    old = Decimal(number)
    step = Decimal(1).scaleb(old.as_tuple().exponent)  # type: ignore[arg-type]
    # A figure of one digit has no room for a fifth of itself.
    step = step if len(old.as_tuple().digits) > 1 else step / 10
    return f"{(old * Decimal(factor)).quantize(step)} {unit}".strip().replace(" /", "/")


# -- what logs and benchmark pages print


def test_every_row_is_accounted_for() -> None:
    """Each start-up log, failed start and benchmark is audited, or left out for a reason."""
    groups = ("consistent", "traps", "first_order_fails", "impossible")
    ids = [row["id"] for group in groups for row in DATA[group]] + list(DATA["left_out"])
    assert len(ids) == len(set(ids)) == 169
    assert Counter(name[0] for name in ids) == {"a": 56, "b": 35, "c": 19, "d": 59}
    sizes = {group: len(DATA[group]) for group in groups}
    assert sizes == {"consistent": 103, "traps": 3, "first_order_fails": 6, "impossible": 4}
    assert all(DATA["left_out"].values())


@pytest.mark.parametrize("row", CONSISTENT, ids=name_of)
def test_consistent_figures_pass(row: Mapping[str, Any]) -> None:
    outcome = outcome_of(row["id"])
    assert outcome.status == "ok", broken(outcome)
    assert outcome.data["verdict"] == "consistent"
    # Something was compared in which a figure of the row stands.
    tried = {name for found in outcome.data["findings"] for name in found["facts"]}
    assert tried & set(row["figures"])


@pytest.mark.parametrize("row", TRAPS, ids=name_of)
def test_traps_are_caught(row: Mapping[str, Any]) -> None:
    """By the relation that they break: cache beyond the card, reading faster than the memory."""
    outcome = checked(row["facts"], row.get("also", {}))
    assert outcome.status == "contradiction"
    assert any(name.startswith(row["breaks"]) for name in broken(outcome))


def test_a_copied_page_is_caught_by_what_it_says_of_two_machines_only() -> None:
    """The figures of d37 fit each other; they are published for another GPU to the last digit."""
    row = next(row for row in TRAPS if row["id"] == "d37")
    assert checked(row["facts"]).data["verdict"] == "consistent"
    outcome = checked(row["facts"], row["also"])
    names = {found["name"] for found in outcome.data["findings"] if not found["holds"]}
    assert "memory_bandwidth" in names


@pytest.mark.parametrize("row", DATA["first_order_fails"], ids=name_of)
def test_what_first_order_does_not_describe_is_told(row: Mapping[str, Any]) -> None:
    """A drafter's own layer, pages of hybrid caches: memory is not tokens times bytes there."""
    found = broken(checked(row["facts"]))
    relation = "deployment.kv_cache_tokens"
    if "kv_cache_bytes_per_gpu" in row["facts"]:
        assert found[relation]["off"] == pytest.approx(1 / row["ratio"] - 1, rel=0.02)
    else:
        assert "deployment.cache_concurrency" in found


@pytest.mark.parametrize("row", DATA["impossible"], ids=name_of)
def test_what_does_not_start_is_told(row: Mapping[str, Any]) -> None:
    assert row["breaks"] in broken(checked(row["facts"]))


COUNTS: Counter[bool] = Counter()


@pytest.mark.parametrize("row", CONSISTENT, ids=name_of)
def test_a_figure_20_per_cent_off_is_caught_or_named_beforehand(row: Mapping[str, Any]) -> None:
    """The audit of the true figures says of which a slip would not be noticed: exactly those."""
    said = outcome_of(row["id"]).data
    unseen = {(r["name"], "0.8") for r in said["loose"] if r["lower"]}
    unseen |= {(r["name"], "1.2") for r in said["loose"] if r["higher"]}
    unseen |= {(name, factor) for name in said["untied"] for factor in ("0.8", "1.2")}
    for name in row["figures"]:
        for factor in ("0.8", "1.2"):
            slip = {**row["facts"], name: moved(row["facts"][name], factor)}
            caught = not fits(stated(slip))
            assert caught == ((name, factor) not in unseen), (name, factor)
            COUNTS[caught] += 1


def test_how_many_slips_are_caught() -> None:
    """Those that are not stand under bounds: times beside a floor, or small terms of a sum."""
    if COUNTS.total() < 2 * sum(len(row["figures"]) for row in CONSISTENT):
        pytest.skip("the rows before were not all run")
    assert COUNTS == {True: 820, False: 164}


def test_slips_that_only_a_bound_sees() -> None:
    """What is missed is what no equation ties: latencies of a load, and small parts of a budget."""
    missed: Counter[str] = Counter()
    for row in CONSISTENT:
        loose = outcome_of(row["id"]).data["loose"]
        missed.update(r["name"] for r in loose if r["name"] in row["figures"])
    in_equations = {"kv_cache_tokens", "kv_cache_blocks", "cache_concurrency", "context_tokens"}
    in_equations |= {"total_token_rate", "completed_requests", "time_window", "block_size"}
    in_equations |= {"sequence_token_rate", "gpu_memory_utilization", "vram_bytes"}
    assert not missed.keys() & in_equations
    assert missed.total() - missed["tpot"] - missed["ttft"] < 40


# -- relations, with figures worked out by hand

LITTLE = {"arrival_rate": "2.5/s", "time_in_system": "4.00 s", "requests_in_flight": "10.0"}
E2E = {"ttft": "200 ms", "tpot": "20.0 ms", "output_tokens": 101, "e2e_latency": "2.20 s"}
RATES = {
    "arrival_rate": "4.00/s", "output_tokens": 250, "prompt_tokens": 750,
    "output_token_rate": "1000/s", "total_token_rate": "4000/s",
    "time_window": "50.0 s", "completed_requests": 200,
}  # fmt: skip
CACHE = {
    "n_layers": 32, "n_kv_heads": 8, "d_head": 128, "kv_dtype": "bf16", "tp": 1,
    "kv_cache_tokens": 100000, "kv_cache_bytes_per_gpu": "13.11 GB",
    "block_size": 16, "kv_cache_blocks": 6250, "context_tokens": 8000, "cache_concurrency": "12.5",
}  # fmt: skip
BUDGET = {
    "vram_bytes": "80.0 GB", "gpu_memory_utilization": "0.90", "weight_bytes_per_gpu": "16.0 GB",
    "runtime_overhead": "6.00 GB", "kv_cache_bytes_per_gpu": "50.0 GB",
}  # fmt: skip
MONEY = {
    "n_gpus": 8, "price_per_gpu_hour": "$2.50/h", "cost_per_hour": "$20.0/h",
    "output_token_rate": "5000/s", "cost_per_million_tokens": "$1.111",
}  # fmt: skip


@pytest.mark.parametrize(
    ("facts", "name", "relation"),
    [
        (LITTLE, "requests_in_flight", "littles_law"),
        (LITTLE, "time_in_system", "littles_law"),
        (E2E, "e2e_latency", "e2e_latency"),
        (E2E, "tpot", "e2e_latency"),
        (E2E, "output_tokens", "e2e_latency"),
        (RATES, "output_token_rate", "deployment.output_token_rate"),
        (RATES, "total_token_rate", "deployment.total_token_rate"),
        (RATES, "completed_requests", "deployment.completed_requests"),
        (CACHE, "kv_cache_bytes_per_gpu", "deployment.kv_cache_tokens"),
        (CACHE, "kv_cache_blocks", "deployment.kv_cache_blocks"),
        (CACHE, "cache_concurrency", "deployment.cache_concurrency"),
        (CACHE, "n_kv_heads", "deployment.kv_cache_tokens"),
        (BUDGET, "kv_cache_bytes_per_gpu", "deployment.kv_cache_bytes_per_gpu"),
        (BUDGET, "weight_bytes_per_gpu", "deployment.kv_cache_bytes_per_gpu"),
        (MONEY, "cost_per_hour", "deployment.cost_per_hour"),
        (MONEY, "cost_per_million_tokens", "cost_per_million_tokens"),
    ],
)
def test_each_identity_by_a_figure_of_its_own(facts: Facts, name: str, relation: str) -> None:
    assert checked(facts).data["verdict"] == "consistent"
    for factor in ("0.8", "1.2"):
        if name == "n_kv_heads":
            slip = {**facts, name: 10 if factor == "1.2" else 6}
        else:
            value = str(facts[name])
            dollars = value.startswith("$")
            text = moved(int(value) if value.isdigit() else value.removeprefix("$"), factor)
            slip = {**facts, name: f"${text}" if dollars else text}
        outcome = checked(slip)
        assert outcome.status == "contradiction"
        assert any(relation in found for found in broken(outcome)), broken(outcome).keys()


def test_both_figures_are_told_and_how_far_they_are_apart() -> None:
    # 101 tokens: 200 ms and 100 times 20 ms are 2.2 s; 2.64 s is 20 % more.
    (row,) = [
        row
        for row in broken(checked({**E2E, "e2e_latency": "2.64 s"})).values()
        if row["name"] == "e2e_latency"
    ]
    assert row["stated"] == pytest.approx(2.64)
    assert row["computed"] == pytest.approx(2.2)
    assert row["off"] == pytest.approx(0.2)
    assert row["unit"] == "s"
    assert "2.64 s is 20 % above 2.2 s" in row["text"]


@pytest.mark.parametrize(
    ("facts", "relation"),
    [
        # 16 GB read at 1 TB/s take 16 ms.
        ({"weight_bytes": "16.0 GB", "memory_bandwidth": "1.00 TB/s", "tpot": "15.0 ms", "tp": 1},
         "decode_step_bound.step_time"),
        # Over two GPUs 8 ms.
        ({"weight_bytes": "16.0 GB", "memory_bandwidth": "1.00 TB/s", "tpot": "7.5 ms", "tp": 2},
         "deployment.tpot"),
        # At 60 % of the bandwidth 26.7 ms.
        ({"weight_bytes": "16.0 GB", "memory_bandwidth": "1.00 TB/s", "tpot": "24.0 ms", "tp": 1,
          "mbu": "0.600"}, "deployment.tpot"),
        ({"achieved_bandwidth": "3.6 TB/s", "gpu": "h100-sxm"}, "utilization.mbu"),
        ({"achieved_flops": "1100 TFLOP/s", "gpu": "h100-sxm"}, "utilization.mfu"),
        ({"weight_bytes_per_gpu": "90 GB", "gpu": "h100-sxm"}, "memory"),
        ({"model": "llama-3.1-70b", "weight_dtype": "bf16", "gpu": "h100-sxm", "tp": 1,
          "n_gpus": 1}, "memory"),
        # 8 requests of 20 ms decode at 500 tokens per second with 10 in flight at least.
        ({"output_token_rate": "500/s", "tpot": "20.0 ms", "output_tokens": 100,
          "requests_in_flight": "8.00"}, "littles_law"),
        ({"output_token_rate": "500/s", "tpot": "20.0 ms", "output_tokens": 100,
          "requests_in_flight": "<= 8"}, "requests_in_flight <= 8"),
        # 30 000 tokens of 16 GFLOP each take half a second.
        ({"n_params": 8000000000, "prompt_tokens": 30000, "peak_flops": "989 TFLOP/s", "tp": 1,
          "n_layers": 32, "n_heads": 32, "d_head": 128, "ttft": "0.300 s"}, "deployment.ttft"),
        ({"n_heads": 64, "tp": 6}, "heads_divide"),
        ({"tpot": "31.0 ms", "tpot_slo": "30.0 ms"}, "tpot_level"),
    ],
)  # fmt: skip
def test_each_bound(facts: Facts, relation: str) -> None:
    found = broken(checked(facts))
    assert relation in [*found, *(name for row in found.values() for name in row["through"])]


def test_what_lies_above_a_floor_passes() -> None:
    facts = {"weight_bytes": "16.0 GB", "memory_bandwidth": "1.00 TB/s", "tp": 1}
    outcome = checked({**facts, "tpot": "16.1 ms"})
    assert outcome.data["verdict"] == "consistent"
    unseen = {(row["name"], row["lower"], row["higher"]) for row in outcome.data["loose"]}
    assert unseen == {
        ("memory_bandwidth", False, True),
        ("tpot", False, True),
        ("weight_bytes", True, False),
    }


def test_nothing_is_guessed() -> None:
    """No default takes part: without a batch, a context or a rate there is nothing to compare."""
    outcome = checked({"batch": 32, "tpot": "5 ms", "mfu": "0.4"})
    assert outcome.status == "ok"
    assert outcome.data["verdict"] == "nothing to compare"
    assert outcome.data["untied"] == ["batch", "mfu", "tpot"]
    # A model with experts reads fewer weights than it has.
    sparse = {"n_params": 235000000000, "active_params": 22000000000, "weight_dtype": "fp8"}
    assert checked(
        {**sparse, "memory_bandwidth": "3.35 TB/s", "tp": 8, "tpot": "4.0 ms"}
    ).status == "ok"  # fmt: skip


def test_what_a_person_asks_to_hold_is_tried_within_the_digits_alone() -> None:
    text = "weight_bytes_per_gpu = 60.0 GB, kv_bytes_per_gpu = 20.0 GB, vram_bytes = 88.0 GB"
    asked = "kv_bytes_per_gpu + weight_bytes_per_gpu <= 0.9 * vram_bytes"
    # 80 GB beside 79.2 GB: 1 % more.
    outcome = Conversation().say(f"check given {text}, {asked}")[1]
    assert set(broken(outcome)) == {asked}
    assert broken(outcome)[asked]["off"] == pytest.approx(80 / 79.2 - 1)
    fits_well = Conversation().say(f"check given {text.replace('88', '90')}, {asked}")[1]
    assert asked in {row["relation"] for row in fits_well.data["findings"] if row["holds"]}
    assert set(broken(checked({"tpot": "30.5 ms"}, {"tpot ": "<= 30 ms"}))) == {"tpot  <= 30 ms"}


def test_a_fact_that_is_known_to_lie_between_two_values() -> None:
    # 1 s and 100 times 20 to 30 ms are 3 to 4 s.
    facts = {"tpot": "20 ms..30 ms", "ttft": "1.00 s", "output_tokens": 101}
    (row,) = checked({**facts, "e2e_latency": "3.90 s"}).data["findings"]
    assert row["holds"]
    assert row["sense"] == ".."
    assert (row["computed"], row["computed_high"]) == pytest.approx((3, 4))
    (row,) = checked({**facts, "e2e_latency": "5.00 s"}).data["findings"]
    assert not row["holds"]
    assert row["off"] == pytest.approx(0.25)


def test_an_override_is_not_compared() -> None:
    text = ", ".join(f"{name} = {value}" for name, value in E2E.items() if name != "e2e_latency")
    assert Conversation().say(f"check given {text}, e2e_latency := 9 s")[1].status == "ok"


# -- digits


def digits(text: str, value: str, quantity: str = "tpot", origin: str = "you") -> float:
    from formulas.catalogue import catalogue

    row = Given(quantity, Fraction(value), origin, text)
    return slack_of(row, catalogue().quantities[quantity])


@pytest.mark.parametrize(
    ("text", "value", "slack"),
    [
        ("tpot = 27.78 ms", "0.02778", 0.000005),
        ("tpot = 28 ms", "0.028", 0.0005),
        ("tpot = 0.9 s", "0.9", 0.005),
        ("tpot = 2.0e-2", "0.02", 0.0005),
        ("tpot = 3 * 9 ms", "0.027", 0.0),
    ],
)
def test_half_a_unit_of_the_last_digit(text: str, value: str, slack: float) -> None:
    assert digits(text, value) == pytest.approx(slack)


def test_counts_and_rows_are_exact() -> None:
    assert digits("n_layers = 32", "32", "n_layers") == 0
    assert digits("n_params = 8.03e9", "8030000000", "n_params") == pytest.approx(5e6)
    assert digits("gpu h100", "3350000000000", "memory_bandwidth", "gpu H100") == 0
    assert digits("gpu h100", "80000000000", "vram_bytes", "gpu H100") == pytest.approx(8e8)


def test_rounded_figures_agree_that_exact_ones_would_not() -> None:
    # 0.16 stands for anything from 0.155 to 0.165, which 1280 / 8192 = 0.15625 is.
    cache = {"kv_cache_tokens": 1280, "context_tokens": 8192}
    assert checked({**cache, "cache_concurrency": "0.16"}).status == "ok"
    assert checked({**cache, "cache_concurrency": "0.1600"}).status == "contradiction"


# -- properties


@given(st.integers(0, 10**9))
@settings(max_examples=40, deadline=None)
def test_figures_made_by_arithmetic_fit_and_slips_do_not(seed: int) -> None:
    """A random benchmark, written with four digits; each figure moved by a fifth is caught."""
    choose = random.Random(seed)
    rate, ttft = choose.uniform(0.5, 40), choose.uniform(0.05, 3)
    tpot, osl, isl = choose.uniform(0.005, 0.1), choose.randint(50, 2000), choose.randint(50, 8000)
    window = choose.uniform(50, 900)
    e2e = ttft + (osl - 1) * tpot
    figures = {
        "arrival_rate": rate, "ttft": ttft, "tpot": tpot, "e2e_latency": e2e,
        "output_token_rate": rate * osl, "total_token_rate": rate * (osl + isl),
        "time_window": window, "completed_requests": rate * window,
        "time_in_system": e2e, "requests_in_flight": rate * e2e,
    }  # fmt: skip
    facts: dict[str, Any] = {name: f"{value:.4g}" for name, value in figures.items()}
    facts |= {"output_tokens": osl, "prompt_tokens": isl}
    assert fits(stated(facts))
    name = choose.choice(["arrival_rate", "e2e_latency", "output_token_rate", "total_token_rate",
                          "completed_requests", "requests_in_flight", "tpot"])  # fmt: skip
    slip = {**facts, name: f"{figures[name] * choose.choice((0.8, 1.2)):.4g}"}
    small = name == "tpot" and (osl - 1) * tpot < 0.2 * e2e
    assert small or not fits(stated(slip))


RESULTS = ("tpot", "kv_bytes_per_gpu", "ttft", "e2e_latency", "memory_used_per_gpu")


@given(st.integers(0, 10**9))
@settings(max_examples=10, deadline=None)
def test_what_the_product_answers_fits(seed: int) -> None:
    """No bound is above the estimate that it bounds, whatever the deployment."""
    choose = random.Random(seed)
    facts = {**deployment(choose), "arrival_rate": 1, "dp": 1, "ep": 1}
    found = answers([(name, facts) for name in RESULTS])
    results = {
        name: answer["value"]
        for name, answer in zip(RESULTS, found, strict=True)
        if answer["status"] == "ok"
    }
    assert len(results) > 2
    stands = json.loads(spelt(facts)) | {n: repr(v) for n, v in results.items()}
    trial = Trial(prepared(ground(stated(stands))), TOLERANCE)
    # A random deployment may well not fit; that is said of the constraints, not of the results.
    names = {f.relation for f in trial.findings() if not f.holds}
    if "memory" in names:
        names.discard("deployment.memory_used_per_gpu")
    assert names <= {"memory", "heads_divide", "kv_heads_divide", "node_size", "batch_divides",
                     "stages_fit", "deployment.kv_cache_bytes_per_gpu"}, names  # fmt: skip


@given(st.randoms())
@settings(max_examples=15, deadline=None)
def test_the_order_of_facts_does_not_matter(shuffler: random.Random) -> None:
    rows = statements({**CACHE, **RATES, **E2E, "output_tokens": 250})
    first = audit(scenario(rows))
    shuffler.shuffle(rows)
    assert facts_of(audit(scenario(rows))) == facts_of(first)


def facts_of(found: Audit) -> tuple[Any, ...]:
    rows = sorted((f.relation, f.holds, f.quantities) for f in found.findings)
    return (found.verdict, rows, found.untied, found.loose)


# -- what people see


def test_the_verdict_comes_first_and_broken_relations_before_the_others() -> None:
    outcome = checked({**RATES, "total_token_rate": "4800/s", "thinking_tokens": 7})
    lines = as_text(outcome.document).splitlines()
    assert lines[0].startswith("inconsistent: 1 of ")
    assert lines[2].split()[0] == "broken"
    holds = [row["holds"] for row in outcome.data["findings"]]
    assert holds == sorted(holds)
    assert any("thinking_tokens: no relation ties" in line for line in lines)
    assert outcome.data["untied"] == ["thinking_tokens"]
    assert max(map(len, lines)) <= 130


def test_facts_of_a_conversation_are_checked(here: Callable[..., tuple[int, str, str]]) -> None:
    conversation, _ = Conversation().say("arrival_rate = 2 req/s, time_in_system = 5 s")
    assert conversation.say("check given requests_in_flight = 10")[1].status == "ok"
    assert conversation.say("check given requests_in_flight = 13")[1].status == "contradiction"
    line = "check given arrival_rate = 2 req/s, time_in_system = 5 s, requests_in_flight = "
    assert here("ask", f"{line}10")[0] == 0
    code, printed, complained = here("ask", f"{line}13")
    assert code == 4
    assert "littles_law" in printed + complained
