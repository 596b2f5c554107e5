"""The memory that an engine takes, by the share that its setting is a share of."""

from __future__ import annotations

from formulas.formula import definition
from formulas.quantities import WIDE_WEIGHT_BYTES


@definition(any_with=("activation_peak", "non_torch_bytes", "cuda_graph_bytes"))
def runtime_overhead(activation_peak, non_torch_bytes, cuda_graph_bytes):
    """What the engine measured besides weights and cache."""
    return activation_peak + non_torch_bytes + cuda_graph_bytes


@definition(
    id="deployment.memory_budget.static",
    gives="memory_budget",
    only_with=("mem_fraction_static",),
    rank=4,
)
def memory_budget_static(mem_fraction_static, free_memory, runtime_overhead):
    """The share is for weights and cache alone; the rest of the overhead lies outside it."""
    return mem_fraction_static * free_memory + runtime_overhead


@definition(
    id="deployment.memory_budget.free",
    gives="memory_budget",
    only_with=("free_gpu_memory_fraction",),
    unless=("mem_fraction_static",),
    rank=4,
)
def memory_budget_free(
    free_gpu_memory_fraction, free_memory_after_load, weight_bytes_per_gpu, runtime_overhead
):
    """The share is of what weights and overhead leave, and for the cache alone."""
    cache = free_gpu_memory_fraction * free_memory_after_load
    return cache + weight_bytes_per_gpu + runtime_overhead


@definition()
def free_memory_after_load(free_memory, weight_bytes_per_gpu, runtime_overhead):
    """What weights and overhead leave of the memory that was free."""
    return free_memory - weight_bytes_per_gpu - runtime_overhead


@definition(
    id="deployment.kv_cache_bytes_per_gpu.static",
    gives="kv_cache_bytes_per_gpu",
    only_with=("mem_fraction_static",),
    rank=4,
)
def kv_cache_bytes_static(mem_fraction_static, free_memory, weight_bytes_per_gpu):
    """What the weights leave of the share."""
    return mem_fraction_static * free_memory - weight_bytes_per_gpu


@definition(
    id="deployment.kv_cache_bytes_per_gpu.free",
    gives="kv_cache_bytes_per_gpu",
    only_with=("free_gpu_memory_fraction",),
    unless=("mem_fraction_static",),
    rank=4,
)
def kv_cache_bytes_free(free_gpu_memory_fraction, free_memory_after_load):
    """The share of what is free once the weights are loaded."""
    return free_gpu_memory_fraction * free_memory_after_load


@definition(only_with=("token_budget",))
def max_batched_tokens(token_budget):
    """The tokens that one engine step may process."""
    return token_budget


@definition(
    id="deployment.weight_bytes.loaded",
    gives="weight_bytes",
    any_with=("tower_params", "duplicated_params", "expert_padding"),
    rank=4,
)
def weight_bytes_loaded(
    bytes_per_weight,
    n_params,
    wide_params,
    tower_params,
    duplicated_params,
    expert_params,
    expert_padding,
):
    """With towers for images and sound, what is held twice, and the padding of experts."""
    narrow = n_params - wide_params + (expert_padding - 1) * expert_params
    wide = wide_params + tower_params + duplicated_params
    return bytes_per_weight * narrow + WIDE_WEIGHT_BYTES.symbol * wide


@definition(
    id="deployment.expert_weight_bytes.padded",
    gives="expert_weight_bytes",
    only_with=("expert_padding",),
    rank=4,
)
def expert_weight_bytes_padded(bytes_per_weight, expert_params, expert_padding):
    """Bytes of all routed experts with their padding."""
    return bytes_per_weight * expert_params * expert_padding


@definition(
    id="deployment.dense_bytes_per_gpu.copied",
    gives="dense_bytes_per_gpu",
    only_with=("replicated_weight_bytes",),
    rank=4,
)
def dense_bytes_per_gpu_copied(
    weight_bytes, expert_weight_bytes, replicated_weight_bytes, stage_share, tp
):
    """TP cuts the weights outside routed experts but for those that it copies."""
    cut = (weight_bytes - expert_weight_bytes - replicated_weight_bytes) / tp
    return (cut + replicated_weight_bytes) * stage_share
