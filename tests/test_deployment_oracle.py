"""Random deployments against the contract written a second time: forwards, and backwards."""

from __future__ import annotations

import random
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from tests.deployments import answers, ask, deployment, near, oracle_facts, stated
from tests.oracle import DERIVED, Model, NotKnown

STEPPED = ("replicas", "n_gpus", "max_sequences")
# One question each gives nearly everything among its outcomes.
ASKED = ("cost_per_million_tokens", "e2e_latency", "max_sequences", "decode_concurrency")
DIRECT = tuple(DERIVED)
SHOWN_DEFAULTS = {
    "mbu", "mfu", "link_latency", "step_overhead", "gpu_memory_utilization", "runtime_overhead",
    "target_utilization", "arrival_rate",
}  # fmt: skip


def agrees(name: str, value: Any, expected: Any) -> bool:
    if name in STEPPED:
        return bool(value == expected)
    return near(value, expected)


@pytest.mark.parametrize("seed", range(10))
def test_forwards(seed: int) -> None:
    """Every outcome of every answer is what the contract says, from stated facts and defaults."""
    choose = random.Random(seed)
    for number in range(13):
        facts = deployment(choose)
        names = (ASKED[number % len(ASKED)], choose.choice(DIRECT))
        for name, answer in zip(names, answers([(n, facts) for n in names]), strict=True):
            check_forwards(name, answer, facts)


def check_forwards(name: str, answer: dict[str, Any], facts: dict[str, Any]) -> None:
    model = Model(oracle_facts(facts))
    try:
        expected = model[name]
    except NotKnown:
        assert answer["status"] == "missing", (name, answer, facts)
        assert answer["missing"], (name, answer, facts)
        return
    assumed = model.assumed & SHOWN_DEFAULTS
    assert answer["status"] == "ok", (name, answer, facts)
    assert agrees(name, answer["value"], expected), (name, answer["value"], expected, facts)
    assert set(answer.get("assumed", ())) & SHOWN_DEFAULTS == assumed, (name, facts)
    for other, value in answer["outcomes"].items():
        if other in DERIVED:
            assert agrees(other, value, model[other]), (other, value, model[other], facts)


def test_the_outcomes_cover_the_contract() -> None:
    """The check above would be empty if answers carried no outcomes."""
    facts = deployment(random.Random(3), whole=True)
    seen = {name for a in answers([(n, facts) for n in ASKED]) for name in a["outcomes"]}
    missing = set(DERIVED) - seen
    # What no answer of these four rests on is asked directly.
    for name in sorted(missing):
        check_forwards(name, ask(name, facts), facts)


# -- MIG: an instance's figures by hand, from the vendors' tables

MIG = (
    # GPU, profile, memory of an instance, share of the bandwidth, of the compute, instances
    ("h100-sxm", "1g.10gb", Fraction("9.75"), Fraction(1, 8), Fraction(16, 132), 7),
    ("h100-sxm", "3g.40gb", Fraction("39.5"), Fraction(4, 8), Fraction(60, 132), 2),
    ("h100-sxm", "7g.80gb", Fraction("79.25"), Fraction(8, 8), Fraction(132, 132), 1),
)
H100_BANDWIDTH = Fraction("3.35e12")
H100_BF16 = Fraction("989.4e12")


@pytest.mark.parametrize(("gpu", "profile", "gib", "bandwidth", "compute", "instances"), MIG)
@pytest.mark.parametrize("arrival_rate", [1, 40, 333])
def test_a_mig_instance(
    gpu: str,
    profile: str,
    gib: Fraction,
    bandwidth: Fraction,
    compute: Fraction,
    instances: int,
    arrival_rate: int,
) -> None:
    facts = {
        "n_layers": 28, "d_model": 2048, "n_heads": 16, "n_kv_heads": 8, "d_head": 128,
        "n_params": 1720000000, "batch": 8, "prompt_tokens": 700, "output_tokens": 150,
        "price_per_gpu_hour": 3, "arrival_rate": arrival_rate,
    }  # fmt: skip
    named = {**facts, "gpu": gpu, "mig_profile": profile}
    asked = ("n_gpus", "cost_per_million_tokens", "max_sequences", "tpot", "ttft")
    found = dict(zip(asked, answers([(n, named) for n in asked]), strict=True))
    peak = Fraction(str(ask("peak_flops", {"gpu": gpu})["value"])) * compute
    assert near(peak / compute, H100_BF16, 1e-3)
    model = Model(
        oracle_facts(facts)
        | {
            "vram_bytes": gib * 2**30,
            "memory_bandwidth": H100_BANDWIDTH * bandwidth,
            "peak_flops": peak,
            "mig_instances": instances,
            "node_gpus": 1,
        }
    )
    for name, answer in found.items():
        assert answer["status"] == "ok", (name, answer)
        assert agrees(name, answer["value"], model[name]), (name, answer["value"], model[name])


# -- backwards, where the answer is a whole stretch


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("output", ["replicas", "cost_per_hour", "max_sequences"])
def test_backwards_from_a_step(output: str, seed: int) -> None:
    """Replicas come whole, so that a stretch of values has the same number of them."""
    choose = random.Random(output + str(seed))
    given = deployment(choose, whole=True)
    facts = oracle_facts(given)
    rate = Model(facts)["replica_request_rate"] * choose.choice((Fraction(1, 2), 3, 20))
    facts["arrival_rate"] = given["arrival_rate"] = Fraction(f"{float(rate):.4g}")
    name = {"max_sequences": "vram_bytes"}.get(output, choose.choice(("mbu", "step_overhead")))
    if output == "max_sequences":
        facts["vram_bytes"] = given["vram_bytes"] = 10**13
    if Model(facts)[output] == Model({**facts, name: facts[name] / 50})[output]:
        return
    del given[name]
    given[output] = Model(facts)[output]
    check_backwards(name, output, given, facts)


# -- backwards

OUTPUTS = (
    "tpot", "ttft", "e2e_latency", "memory_used_per_gpu", "replica_request_rate", "step_time",
    "prefill_time", "cost_per_million_tokens",
)  # fmt: skip
INPUTS = (
    "mbu", "mfu", "link_latency", "link_bandwidth", "memory_bandwidth", "peak_flops", "batch",
    "context_tokens", "prompt_tokens", "output_tokens", "n_layers", "step_overhead", "n_params",
    "d_model", "n_heads", "active_params", "wide_params", "runtime_overhead", "prefix_hit_rate",
    "tp", "pp", "weight_dtype", "kv_dtype", "price_per_gpu_hour",
)  # fmt: skip
BYTES_OF = {"weight_dtype": "bytes_per_weight", "kv_dtype": "kv_bytes_per_element"}
WHOLE = {"n_layers", "n_params", "d_model", "n_heads", "active_params", "wide_params"}
LISTS = {"tp": (1, 2, 4, 8), "pp": (1, 2, 4, 8)}


def other_values(name: str, value: Fraction) -> Iterator[Fraction]:
    """Where to look whether an output depends on an input at all."""
    if name in LISTS:
        yield from (Fraction(v) for v in LISTS[name])
    elif name in BYTES_OF.values():
        yield from (Fraction(2), Fraction(1), Fraction(17, 32))
    elif name in ("mbu", "mfu", "prefix_hit_rate"):
        yield from (Fraction(1, 100), value * Fraction(99, 100), Fraction(1))
    else:
        yield from (value + 1, value * 2, value * 10) if name in WHOLE else (value / 2, value * 2)


def depends(facts: dict[str, Any], output: str, name: str) -> bool:
    expected = Model(facts)[output]
    return any(
        not near(Model({**facts, name: value})[output], expected)
        for value in other_values(name, facts[name])
    )


def inverse_case(choose: random.Random) -> tuple[str, str, dict[str, Any], dict[str, Any]]:
    """An input, an output, the question's facts and the oracle's."""
    while True:
        given = deployment(choose, whole=True)
        given.setdefault("weight_dtype", "bf16")
        given.setdefault("kv_dtype", "bf16")
        asked, output = choose.choice(INPUTS), choose.choice(OUTPUTS)
        name = BYTES_OF.get(asked, asked)
        facts = oracle_facts(given)
        if asked in LISTS and facts[asked] not in LISTS[asked]:
            continue
        if asked == "context_tokens":
            facts[asked] = facts["prompt_tokens"] + facts["output_tokens"]
            dropped = choose.choice(("prompt_tokens", "output_tokens"))
            del facts[dropped], given[dropped]
        if asked == "active_params" and "expert_params" not in facts:
            # A dense model's follows from n_params.
            continue
        if asked == "n_params" and "expert_params" not in facts:
            facts.pop("wide_params"), given.pop("wide_params")
        if name not in facts and asked != "active_params":
            continue
        # A cost takes steps in all but its price.
        if (output == "cost_per_million_tokens") != (name == "price_per_gpu_hour"):
            continue
        if depends(facts, output, name):
            given.pop(asked, None)
            given[output] = stated(Model(facts)[output])
            return name, output, given, facts


@pytest.mark.parametrize("seed", range(40))
def test_backwards(seed: int) -> None:
    """The input is found again from the output, and every value found gives that output."""
    name, output, given, facts = inverse_case(random.Random(1000 + seed))
    check_backwards(name, output, given, facts)


@pytest.mark.parametrize("name", INPUTS)
def test_backwards_from_every_input(name: str) -> None:
    """Two outputs for each input, so that none is left out by chance."""
    choose = random.Random(name)
    seen: set[str] = set()
    while len(seen) < 2:
        found, output, given, facts = inverse_case(choose)
        if found == BYTES_OF.get(name, name) and output not in seen:
            seen.add(output)
            check_backwards(found, output, given, facts)
            if name in ("runtime_overhead", "n_heads", "price_per_gpu_hour"):
                break


# Fails as written: the value for pp is compared exactly, where a share of the layers is no finite
# decimal or the memory is rounded, although equal means within 1e-9.
@pytest.mark.parametrize("n_layers", [27, 67])
@pytest.mark.parametrize("significant", [12, 17, 25])
def test_pipeline_stages_from_a_rounded_memory(n_layers: int, significant: int) -> None:
    given = {
        "n_layers": n_layers, "n_kv_heads": 8, "d_head": 128, "n_params": 24518676847,
        "batch": 4, "prompt_tokens": 7921, "output_tokens": 3620, "runtime_overhead": 2611338934,
    }  # fmt: skip
    facts = {**oracle_facts(given), "pp": Fraction(2)}
    memory = stated(Model(facts)["memory_used_per_gpu"])
    memory = Fraction(f"{Decimal(memory.numerator) / memory.denominator:.{significant - 1}e}")
    check_backwards("pp", "memory_used_per_gpu", {**given, "memory_used_per_gpu": memory}, facts)


def check_backwards(name: str, output: str, given: dict[str, Any], facts: dict[str, Any]) -> None:
    answer = ask(name, given)
    shown = {k: v for k, v in answer.items() if k not in ("outcomes", "steps", "constraints")}
    context = (name, "from", output, shown, given)
    assert answer["status"] == "ok", context
    true, target = facts[name], given[output]
    values = [b["value"] for b in answer.get("branches", ())]
    if not values and answer.get("value") is not None:
        values = [answer["value"]]
    spans = answer.get("intervals", [answer] if "low" in answer or "high" in answer else [])
    found_again = any(near(v, true, 1e-6) for v in values) or any(
        (s.get("low") is None or s["low"] <= float(true) * (1 + 1e-9))
        and (s.get("high") is None or s["high"] >= float(true) * (1 - 1e-9))
        for s in spans
    )
    assert found_again, (float(true), *context)
    for value in [*values, *(p for s in spans for p in inner_points(s))]:
        again = Model({**facts, name: Fraction(repr(value))})[output]
        assert near(again, target, 1e-8), (value, float(again), *context)


def inner_points(span: dict[str, Any]) -> list[float]:
    """Points of a range, a little inside its ends."""
    low, high = span.get("low"), span.get("high")
    low = 1e-9 if low is None else low
    high = 10 * max(low, 1) if high is None else high
    return [low + (high - low) * part for part in (1e-6, 0.5, 1 - 1e-6)]
