"""Random deployments for the oracle tests, and questions about them through the JSONL reader."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from derive.as_json import answer_object, problem_object
from derive.json_question import load_object, read_object
from formulas.errors import Problem
from solvers.solve import solve
from tests.oracle import BYTES, Model

DIGITS = Context(prec=28)
# Facts that a person may leave to the defaults.
OPTIONAL = (
    "mbu", "mfu", "link_latency", "step_overhead", "gpu_memory_utilization", "runtime_overhead",
    "prefix_hit_rate", "target_utilization", "price_per_gpu_hour", "arrival_rate", "wide_params",
)  # fmt: skip


def answers(questions: list[tuple[str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """The answers' objects to (find, given) pairs, without the ways out of infeasible ones."""
    return [_answer(find, given) for find, given in questions]


def _answer(find: str, given: Mapping[str, Any]) -> dict[str, Any]:
    line = f'{{"find": "{find}", "given": {spelt(given)}}}'
    try:
        asked = read_object(load_object(line))
        found = answer_object(solve(asked.request()), asked.unit)
    except Problem as problem:
        found = problem_object(problem, find.rsplit(maxsplit=1)[-1])
    written: dict[str, Any] = json.loads(json.dumps(found))
    return written


def ask(find: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The answer's object to one question."""
    (answer,) = answers([(find, given)])
    return answer


def spelt(given: Mapping[str, Any]) -> str:
    """JSON with every digit of a Fraction that a reader of 30 digits takes."""
    rows = [f"{json.dumps(name)}: {_number(value)}" for name, value in given.items()]
    return "{" + ", ".join(rows) + "}"


def _number(value: Any) -> str:
    if not isinstance(value, Fraction):
        return json.dumps(value)
    if value.denominator == 1 and abs(value) < 10**28:
        return str(value.numerator)
    digits = DIGITS.divide(Decimal(value.numerator), Decimal(value.denominator))
    return f"{digits:.24e}"


def stated(value: Fraction | float) -> Fraction:
    """The number as a question states it: what `spelt` writes, read back."""
    return Fraction(_number(Fraction(value)))


def oracle_facts(given: Mapping[str, Any]) -> dict[str, Any]:
    """The given facts for the oracle: exact numbers, formats as bytes."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name == "weight_dtype":
            found["bytes_per_weight"] = BYTES[value]
        elif name == "kv_dtype":
            found["kv_bytes_per_element"] = BYTES[value]
        else:
            found[name] = Fraction(str(value))
    return found


def near(left: Any, right: Any, tolerance: float = 1e-9) -> bool:
    """Whether two numbers are equal within a relative tolerance."""
    return abs(float(left) - float(right)) <= tolerance * max(abs(float(left)), abs(float(right)))


def between(choose: random.Random, low: float, high: float) -> Fraction:
    """A number of four digits, as likely in one decade as in another."""
    value = math.exp(choose.uniform(math.log(low), math.log(high)))
    return Fraction(f"{value:.4g}")


def share(choose: random.Random, low: float, high: float) -> Fraction:
    return Fraction(f"{choose.uniform(low, high):.2f}")


def deployment(choose: random.Random, whole: bool = False) -> dict[str, Any]:
    """Facts of one random deployment, for both the product and the oracle.

    With `whole` nothing is left to the defaults.
    """
    kind = choose.choice(("dense", "dense", "dense", "moe", "moe", "mla", "mla moe"))
    heads = choose.choice((16, 32, 40, 64, 128))
    groups = [k for k in (1, 2, 4, 8, 10, 16, heads) if heads % k == 0]
    facts: dict[str, Any] = {
        "n_layers": choose.randint(8, 126),
        "d_model": choose.choice((2048, 4096, 5120, 8192)),
        "n_heads": heads,
        "n_kv_heads": choose.choice(groups),
        "d_head": choose.choice((64, 128, 256)),
        "n_params": choose.randint(10**9, 4 * 10**11),
        "vram_bytes": choose.choice((24, 80, 94, 141, 192)) * 10**9,
        "memory_bandwidth": between(choose, 3e11, 8e12),
        "peak_flops": between(choose, 1e14, 4e15),
        "link_bandwidth": between(choose, 2.5e10, 9e11),
        "node_gpus": choose.choice((4, 8, 16, 72)),
        "tp": choose.choice((1, 1, 2, 4, 8)),
        "pp": choose.choice((1, 1, 1, 2, 3, 4)),
        "batch": choose.choice((1, 2, 3, 4, 8, 16, 32, 64, 200, 512)),
        "prompt_tokens": choose.randint(1, 30000),
        "output_tokens": choose.randint(2, 5000),
    }
    if "mla" in kind:
        facts |= {"n_kv_heads": 1, "kv_lora_rank": 512, "qk_rope_head_dim": 64}
        facts |= {"qk_nope_head_dim": 128, "v_head_dim": 128}
    if "moe" in kind:
        facts |= _experts(choose, facts)
    extras = _extras(choose, facts)
    facts |= {n: v for n, v in extras.items() if whole or choose.random() < 0.6}
    for dtype in ("weight_dtype", "kv_dtype"):
        if choose.random() < 0.6:
            facts[dtype] = choose.choice(tuple(BYTES))
    return facts


def _experts(choose: random.Random, facts: Mapping[str, Any]) -> dict[str, Any]:
    found = {
        "n_experts": choose.choice((8, 16, 64, 128, 256)),
        "experts_per_token": choose.choice((1, 2, 4, 8)),
        "n_moe_layers": choose.randint(1, facts["n_layers"]),
        "expert_params": int(facts["n_params"] * choose.uniform(0.3, 0.95)),
    }
    idle = 1 - Fraction(found["experts_per_token"], found["n_experts"])
    found["active_params"] = int(facts["n_params"] - found["expert_params"] * idle)
    if choose.random() < 0.6:
        found["dp"] = choose.choice((1, 2, 4, 8))
        found["ep"] = 1 if found["dp"] == 1 else facts["tp"] * found["dp"]
    return found


def _extras(choose: random.Random, facts: Mapping[str, Any]) -> dict[str, Any]:
    values = {
        "mbu": share(choose, 0.2, 1),
        "mfu": share(choose, 0.2, 1),
        "link_latency": between(choose, 5e-7, 2e-5),
        "step_overhead": between(choose, 1e-4, 1e-2),
        "gpu_memory_utilization": share(choose, 0.7, 0.98),
        "runtime_overhead": choose.randint(10**8, 6 * 10**9),
        "prefix_hit_rate": share(choose, 0, 1),
        "target_utilization": share(choose, 0.4, 1),
        "price_per_gpu_hour": share(choose, 0.5, 9),
        "arrival_rate": between(choose, 0.01, 300),
        "wide_params": int(facts["n_params"] * choose.uniform(0, 0.04)),
    }
    assert tuple(values) == OPTIONAL
    return values


def replayed(facts: Mapping[str, Any], name: str, value: Any) -> Model:
    """The oracle with one fact changed."""
    return Model({**oracle_facts(facts), name: value})
