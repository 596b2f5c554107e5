"""At its limits the deployment model is the sheet's own lines."""

from __future__ import annotations

from fractions import Fraction

import pytest

from formulas.catalogue import catalogue
from formulas.scenario import scenario
from formulas.statements import Fact
from solvers.answer import Exact
from solvers.exact import evaluate
from solvers.number import same
from solvers.solve import Request, solve

# A small dense model on one GPU, without overheads and far from compute-bound.
IDEAL = {
    "n_params": 8 * 10**9,
    "n_layers": 32,
    "n_heads": 32,
    "n_kv_heads": 8,
    "d_head": 128,
    "d_model": 4096,
    "bytes_per_weight": 2,
    "kv_bytes_per_element": 2,
    "memory_bandwidth": 3_350_000_000_000,
    "peak_flops": 10**18,
    "mbu": 1,
    "mfu": 1,
    "step_overhead": 0,
    "link_latency": Fraction(1, 10**6),
    "link_bandwidth": 450 * 10**9,
    "tp": 1,
    "pp": 1,
    "dp": 1,
    "ep": 1,
    "batch": 32,
    "context_tokens": 4096,
}


def ask(find: str, facts: dict[str, object], using: tuple[str, ...] = ()) -> Fraction:
    rows = [Fact(name, Fraction(value)) for name, value in facts.items()]
    answer = solve(Request(find, scenario(rows), using=using))
    assert isinstance(answer, Exact), answer
    return answer.value


def sheet(key: str, facts: dict[str, object]) -> Fraction:
    """The sheet's line itself, on values that are computed one by one."""
    relation = catalogue().relations[key]
    return evaluate(relation.value, lambda name: Fraction(facts[name]))


@pytest.mark.parametrize("batch", [1, 7, 32, 200])
@pytest.mark.parametrize("context", [1, 512, 4096, 100_000])
def test_one_gpu_without_overhead_is_decode_step_kv(batch: int, context: int) -> None:
    facts = {**IDEAL, "batch": batch, "context_tokens": context}
    facts_of_line = {
        **facts,
        "weight_bytes": 16 * 10**9,
        "kv_bytes_per_token": 2 * 32 * 8 * 128 * 2,
    }
    assert ask("step_time", facts) == sheet("decode_step_kv", facts_of_line)


@pytest.mark.parametrize("tp", [1, 2, 4, 8])
@pytest.mark.parametrize("batch", [1, 32])
def test_tensor_parallel_without_overhead_is_tp_decode_step(tp: int, batch: int) -> None:
    facts = {**IDEAL, "tp": tp, "batch": batch}
    message = 2 * batch * 4096
    ring = 2 * (tp - 1) * Fraction(1, 10**6) + Fraction(2 * (tp - 1), tp) * Fraction(
        message, 450 * 10**9
    )
    facts_of_line = {
        **facts,
        "weight_bytes_read_per_gpu": Fraction(16 * 10**9, tp),
        "kv_bytes_read_per_gpu": Fraction(batch * 4096 * 131072, tp),
        "all_reduce_time": ring,
    }
    assert ask("step_time", facts) == sheet("tp_decode_step", facts_of_line)


def test_context_to_zero_is_the_bound() -> None:
    facts = {**IDEAL, "context_tokens": 0}
    line = {"weight_bytes": 16 * 10**9, "memory_bandwidth": 3_350_000_000_000}
    assert ask("step_time", facts) == sheet("decode_step_bound.step_time", line)


def test_context_to_zero_approaches_the_bound_from_above() -> None:
    line = {"weight_bytes": 16 * 10**9, "memory_bandwidth": 3_350_000_000_000}
    bound = sheet("decode_step_bound.step_time", line)
    steps = [ask("step_time", {**IDEAL, "context_tokens": n}) for n in (1000, 100, 10, 1)]
    assert sorted(steps, reverse=True) == steps
    assert all(step > bound for step in steps)
    assert steps[-1] < bound * Fraction(1001, 1000)


@pytest.mark.parametrize("tp", [1, 4])
@pytest.mark.parametrize("hit_rate", [0, Fraction(1, 2), 1])
def test_the_request_rate_is_batch_over_output_times_tpot(tp: int, hit_rate: Fraction) -> None:
    facts = {
        **{name: value for name, value in IDEAL.items() if name != "context_tokens"},
        "tp": tp,
        "prompt_tokens": 2000,
        "output_tokens": 500,
        "prefix_hit_rate": hit_rate,
    }
    tpot = ask("tpot", facts)
    rate = ask("replica_request_rate", facts)
    assert rate == 32 / (500 * tpot)
    if tp == 1:
        # The sheet's own line, with the step and the prefill of the model.
        line = {
            **facts,
            "step_time": ask("step_time", facts),
            "prefill_time": ask("prefill_time", facts),
        }
        assert rate == sheet("replica_request_rate", line)


def test_a_prompt_without_attention_is_the_sheets_prefill() -> None:
    facts = {**IDEAL, "prompt_tokens": 4000, "output_tokens": 1}
    del facts["context_tokens"]
    with_pairs = ask("prefill_flops", facts)
    line = sheet("prefill_flops.prefill_flops", {"active_params": 8 * 10**9, "prompt_tokens": 4000})
    pairs = 32 * (4 * 32 * 128) * Fraction(4000**2, 2)
    assert with_pairs == line + pairs


def test_max_sequences_is_the_floor_of_the_sheets_real_number() -> None:
    facts = {
        **IDEAL,
        "vram_bytes": 80 * 10**9,
        "gpu_memory_utilization": Fraction(9, 10),
        "runtime_overhead": 4 * 10**9,
    }
    line = {
        **facts,
        "memory_budget": 72 * 10**9,
        "weight_bytes": 16 * 10**9,
        "kv_bytes_per_token": 131072,
    }
    real = sheet("max_sequences", line)
    assert ask("max_sequences", facts) == real.numerator // real.denominator
    given = {n: line[n] for n in catalogue().relations["max_sequences"].inputs}
    assert same(ask("max_sequences", given, ("max_sequences",)), real)


def test_one_expert_that_every_token_uses_is_the_dense_model() -> None:
    assert ask("experts_touched_fraction", IDEAL) == 1
