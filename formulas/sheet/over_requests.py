"""Sums over unequal requests: goodput (production), the step of an uneven batch (speed)."""

from __future__ import annotations

from formulas.conditions import dense, one_gpu
from formulas.expressions import both, where
from formulas.formula import formula
from formulas.tensors import total


@formula(
    id="decode_step_kv",
    gives="step_time",
    section="speed",
    chapter=12,
    relation="≈",
    rank=1,
    only_with=("decode_step_kv.context_lengths",),
    holds_when="memory-bound decode on one GPU; each sequence has its own length",
    valid=(one_gpu, dense),
    letters={
        "weight_bytes": r"\text{weight bytes}",
        "kv_bytes_per_token": r"\text{KV bytes/token}",
        "memory_bandwidth": r"\text{memory bandwidth}",
    },
    variant="sum",
)
def uneven_decode_step(weight_bytes, context_lengths, kv_bytes_per_token, memory_bandwidth):
    """The weights are shared by the batch; each sequence's own cache is read."""
    kv_bytes = total(context_lengths, lambda s: context_lengths[s] * kv_bytes_per_token, index="s")
    return (weight_bytes + kv_bytes) / memory_bandwidth


@formula(
    section="production",
    holds_when="counted over one window; capacity is the knee of this curve, not peak throughput",
)
def goodput(request_ttfts, request_tpots, ttft_slo, tpot_slo, time_window):
    """Requests per second that met every service level."""
    met = total(
        request_ttfts,
        lambda j: where(both(request_ttfts[j] <= ttft_slo, request_tpots[j] <= tpot_slo), 1),
    )
    return met / time_window
