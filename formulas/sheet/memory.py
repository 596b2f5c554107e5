"""Memory: weights are paid once, the cache per request and token."""

from __future__ import annotations

from formulas.conditions import nothing_wide, one_gpu, uniform_cache
from formulas.formula import formula

SECTION = "memory"


@formula(
    section=SECTION,
    chapter=9,
    holds_when="every layer caches one key and one value per KV head (not MLA, not windowed)",
    valid=(uniform_cache,),
    unless=("kv_lora_rank",),
    letters={
        "kv_bytes_per_token": r"\text{KV bytes/token}",
        "kv_bytes_per_element": r"\text{bytes per element}",
    },
)
def kv_bytes_per_token(n_layers, n_kv_heads, d_head, kv_bytes_per_element):
    """Bytes that one more cached token costs, over all layers; the 2 is key and value."""
    return 2 * n_layers * n_kv_heads * d_head * kv_bytes_per_element


@formula(
    section=SECTION,
    holds_when="every weight is stored in the same format",
    valid=(nothing_wide,),
    letters={
        "weight_bytes": r"\text{weight bytes}",
        "bytes_per_weight": r"\text{bytes per weight}",
    },
)
def weight_bytes(n_params, bytes_per_weight):
    """Bytes of all weights."""
    return n_params * bytes_per_weight


@formula(
    section=SECTION,
    chapter=29,
    relation="≈",
    holds_when="one replica is one GPU; as a count of sequences take the floor",
    valid=(one_gpu,),
    letters={
        "max_sequences": r"\text{max sequences}",
        "memory_budget": r"\text{memory budget}",
        "weight_bytes": r"\text{weights}",
        "runtime_overhead": r"\text{runtime overhead}",
        "kv_bytes_per_token": r"\text{KV bytes/token}",
        "context_tokens": r"\text{context tokens}",
    },
)
def max_sequences(
    memory_budget, weight_bytes, runtime_overhead, kv_bytes_per_token, context_tokens
):
    """Sequences that fit in memory: what weights and overhead leave, over the cache of one."""
    room = memory_budget - weight_bytes - runtime_overhead
    return room / (kv_bytes_per_token * context_tokens)
