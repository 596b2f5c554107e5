"""What is asked forwards and then backwards comes back, over the whole graph.

Random deployments; the values that are stated come from the independent model in plain Python.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from derive.as_json import answer_object
from derive.json_question import load_object, read_object
from solvers.solve import solve
from solvers.steps import MOST_STEPS
from tests.deployments import deployment, near, oracle_facts, replayed, spelt
from tests.oracle import Model, NotKnown

# What a person asks for, and results that they may have measured instead.
INPUTS = (
    "batch", "prompt_tokens", "output_tokens", "memory_bandwidth", "peak_flops", "link_bandwidth",
    "vram_bytes", "mbu", "mfu", "step_overhead", "link_latency", "runtime_overhead", "n_params",
    "gpu_memory_utilization", "price_per_gpu_hour", "target_utilization", "arrival_rate",
    "prefix_hit_rate", "d_model", "wide_params",
)  # fmt: skip
RESULTS = (
    "tpot", "ttft", "e2e_latency", "step_time", "prefill_time", "replica_request_rate", "replicas",
    "n_gpus", "cost_per_hour", "cost_per_million_tokens", "memory_used_per_gpu", "memory_budget",
    "kv_bytes_per_gpu", "weight_bytes_per_gpu", "output_token_rate", "decode_concurrency",
    "max_sequences", "stage_memory_time", "stage_compute_time", "all_reduce_time", "context_tokens",
)  # fmt: skip
TRIPLES = (
    ("tpot", "ttft", "e2e_latency"),
    ("tpot", "kv_bytes_per_gpu", "replica_request_rate"),
    ("ttft", "context_tokens", "step_time"),
    ("kv_bytes_per_gpu", "kv_bytes_read_per_gpu", "prefill_time"),
)
UNKNOWN = ("prompt_tokens", "output_tokens", "batch")
seeds = st.integers(0, 2**32)


def ask(find: str, given: dict[str, Any]) -> dict[str, Any]:
    """The answer's object, without the ways out of an infeasible one."""
    asked = read_object(load_object(f'{{"find": "{find}", "given": {spelt(given)}}}'))
    return answer_object(solve(asked.request()), asked.unit)


def complete(seed: int) -> tuple[random.Random, dict[str, Any]]:
    """A deployment of which nothing is left to the defaults."""
    choose = random.Random(seed)
    facts = deployment(choose, whole=True)
    return choose, {"weight_dtype": "bf16", "kv_dtype": "bf16", **facts}


def value_of(model: Model, name: str) -> Any:
    """The quantity's value in the plain model, None where it has none."""
    try:
        return model[name]
    except (NotKnown, ZeroDivisionError):
        return None


def matters(facts: dict[str, Any], name: str, result: str) -> bool:
    """Whether a small change of the input moves the result, both ways."""
    here = value_of(Model(oracle_facts(facts)), result)
    changed = [
        value_of(replayed(facts, name, Fraction(str(facts[name])) * factor), result)
        for factor in (Fraction(9999, 10000), Fraction(10001, 10000))
    ]
    return all(c is not None and not near(c, here, 1e-9) for c in changed)


def values_in(answer: dict[str, Any]) -> list[float]:
    branches = [branch["value"] for branch in answer.get("branches", ())]
    return branches or [answer["value"]]


def lies_in(answer: dict[str, Any], value: float) -> bool:
    spans = answer.get("intervals") or [answer]
    slack = 1e-9 * abs(value)
    return any(
        (s.get("low") is None or s["low"] - slack <= value)
        and (s.get("high") is None or value <= s["high"] + slack)
        for s in spans
    )


@given(seeds)
def test_backwards_undoes_forwards(seed: int) -> None:
    choose, facts = complete(seed)
    name, result = choose.choice(INPUTS), choose.choice(RESULTS)
    assume(facts[name] != 0)
    value = value_of(Model(oracle_facts(facts)), result)
    assume(value is not None and value != 0)
    rest = {n: v for n, v in facts.items() if n != name}
    answer = ask(name, {**rest, result: value})
    wanted = float(Fraction(str(facts[name])))
    if answer["status"] == "unproved":
        # One solution for each of so many counts of replicas is no answer.
        assert name == "arrival_rate", (name, result, answer)
        assert value_of(Model(oracle_facts(facts)), "replicas") > MOST_STEPS
    elif matters(facts, name, result):
        assert answer["status"] == "ok", (name, result, answer)
        if answer["kind"] == "range":
            assert lies_in(answer, wanted), (name, result, wanted, answer)
        else:
            assert any(near(v, wanted, 1e-6) for v in values_in(answer)), (name, result, answer)
    elif answer["status"] == "ok" and answer["kind"] == "range":
        assert lies_in(answer, wanted), (name, result, wanted, answer)
    else:
        # Where a step or an arm hides the input, nothing may be told that is not so.
        assert answer["status"] != "infeasible", (name, result, answer)


# Three unknowns at once take seconds each: a quarter of the examples.
@settings(max_examples=settings.default.max_examples // 4)
@given(seeds)
def test_three_results_give_three_inputs(seed: int) -> None:
    choose, facts = complete(seed)
    facts["batch"] = max(facts["batch"], 2 * facts.get("dp", 1) * facts["pp"])
    facts["prefix_hit_rate"] = 0
    results = choose.choice(TRIPLES)
    values = {name: value_of(Model(oracle_facts(facts)), name) for name in results}
    assume(None not in values.values())
    rest = {n: v for n, v in facts.items() if n not in UNKNOWN}
    name = choose.choice(UNKNOWN)
    answer = ask(name, {**rest, **values})
    # With experts the batch stands in an exponent, where a search may end unproved.
    assume(answer["status"] != "unproved" or "n_experts" not in facts)
    # Where the memory decides the first token, it says nothing of the prompt.
    assume(decided_by_prefill(facts) or "ttft" not in results)
    assert answer["status"] == "ok", (name, results, answer)
    wanted = float(facts[name])
    if answer["kind"] == "range":
        assert lies_in(answer, wanted), (name, results, wanted, answer)
    else:
        found = values_in(answer)
        assert any(near(v, wanted, 1e-6) for v in found), (name, results, wanted, answer)


def decided_by_prefill(facts: dict[str, Any]) -> bool:
    model = Model(oracle_facts(facts))
    return bool(model["ttft"] == model["prefill_time"] + model["step_overhead"])


@given(seeds)
def test_the_largest_fits_and_the_next_does_not(seed: int) -> None:
    choose, facts = complete(seed)
    name = choose.choice(("batch", "prompt_tokens", "output_tokens"))
    limited = choose.choice(("tpot", "ttft", "e2e_latency", "memory_used_per_gpu"))
    limit = value_of(Model(oracle_facts(facts)), limited) * Fraction(choose.randint(60, 160), 100)
    sense = choose.choice(("max", "min"))
    rest = {n: v for n, v in facts.items() if n != name}
    shown = f"<= {float(limit):.9g}"
    answer = ask(f"{sense} {name}", {**rest, limited: shown})
    stated = Fraction(shown[3:])

    def broken(value: Any) -> bool:
        model = replayed(facts, name, Fraction(value))
        return bool(model.broken()) or model[limited] > stated * (1 + Fraction(1, 10**9))

    grid = Fraction(facts.get("dp", 1) * facts["pp"]) if name == "batch" else Fraction(1)
    if answer["status"] == "ok":
        value = Fraction(answer["value"])
        assert not broken(value), (name, limited, answer)
        beyond = value + (grid if sense == "max" else -grid)
        assert beyond <= 0 or broken(beyond), (name, limited, beyond, answer)
    elif answer["status"] == "infeasible":
        tried: Iterable[Fraction] = (grid * 2**power for power in range(18))
        assert all(broken(value) for value in tried), (name, limited, answer)
        assert broken(facts[name])
    else:
        assert answer["status"] == "unbounded", answer


@given(seeds)
def test_the_order_of_facts_never_matters(seed: int) -> None:
    choose, facts = complete(seed)
    facts = {n: v for n, v in facts.items() if choose.random() < 0.85}
    find = choose.choice((*RESULTS, "max batch", "max prompt_tokens", "batch"))
    limit = {"tpot": "<= 50 ms"} if find.startswith("max") or find == "batch" else {}
    rows = [*facts.items(), *limit.items()]
    if find == "batch":
        rows = [(n, v) for n, v in rows if n != "batch"]
    first = ask(find, dict(rows))
    choose.shuffle(rows)
    second = ask(find, dict(rows))
    assert first == second
