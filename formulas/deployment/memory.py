"""What lies in the memory of each GPU."""

from __future__ import annotations

from formulas.conditions import dense, something_wide, uniform_cache
from formulas.expressions import ceiling, floor, largest, smallest
from formulas.formula import definition
from formulas.quantities import WIDE_WEIGHT_BYTES


@definition(valid=(dense,))
def active_params(n_params):
    """A dense model uses every parameter for every token."""
    return n_params


@definition()
def d_attn(n_heads, d_head):
    """Elements of all query heads of one layer."""
    return n_heads * d_head


@definition()
def gqa_group_size(n_heads, n_kv_heads):
    """Query heads that share one key/value head."""
    return n_heads / n_kv_heads


@definition()
def gpus_per_replica(tp, dp, pp):
    """GPUs of one replica."""
    return tp * dp * pp


@definition()
def stage_share(n_layers, pp):
    """Share of the layers in the longest pipeline stage, which decides."""
    return ceiling(n_layers / pp) / n_layers


@definition()
def memory_budget(gpu_memory_utilization, vram_bytes):
    """Memory of one GPU that the engine may take."""
    return gpu_memory_utilization * vram_bytes


@definition(valid=(uniform_cache,), unless=("kv_lora_rank",))
def kv_elements_per_token(n_layers, n_kv_heads, d_head):
    """Cached elements of one token: a key and a value in every layer."""
    return 2 * n_layers * n_kv_heads * d_head


@definition(
    id="deployment.kv_elements_per_token.mla",
    gives="kv_elements_per_token",
    valid=(uniform_cache,),
    only_with=("kv_lora_rank",),
)
def kv_elements_per_token_mla(n_layers, kv_lora_rank, qk_rope_head_dim):
    """Cached elements of one token: the compressed latent and the rotated key of every layer."""
    return n_layers * (kv_lora_rank + qk_rope_head_dim)


# Below the sheet's own line in rank, which answers where the model is not MLA.
@definition(rank=1)
def kv_bytes_per_token(kv_elements_per_token, kv_bytes_per_element):
    """Bytes that one more cached token costs, over all layers."""
    return kv_elements_per_token * kv_bytes_per_element


@definition()
def kv_bytes_per_token_per_gpu(kv_bytes_per_token, stage_share, tp, n_kv_heads):
    """Cache bytes of one token on each GPU; beyond the KV heads, TP replicates them."""
    return kv_bytes_per_token * stage_share / smallest(tp, n_kv_heads)


@definition(valid=(something_wide,))
def weight_bytes(bytes_per_weight, n_params, wide_params):
    """Bytes of all weights, where some of them stay in BF16."""
    return bytes_per_weight * (n_params - wide_params) + WIDE_WEIGHT_BYTES.symbol * wide_params


@definition()
def expert_weight_bytes(bytes_per_weight, expert_params):
    """Bytes of all routed experts."""
    return bytes_per_weight * expert_params


@definition()
def dense_bytes_per_gpu(weight_bytes, expert_weight_bytes, stage_share, tp):
    """Weight bytes outside routed experts on each GPU."""
    return (weight_bytes - expert_weight_bytes) * stage_share / tp


@definition()
def expert_bytes_per_gpu(expert_weight_bytes, stage_share, tp, dp):
    """Bytes of routed experts on each GPU."""
    return expert_weight_bytes * stage_share / (tp * dp)


@definition()
def weight_bytes_per_gpu(dense_bytes_per_gpu, expert_bytes_per_gpu):
    """Weight bytes on each GPU."""
    return dense_bytes_per_gpu + expert_bytes_per_gpu


@definition(any_with=("prompt_tokens", "output_tokens"))
def context_tokens(prompt_tokens, output_tokens):
    """Tokens that memory must hold for a sequence."""
    return prompt_tokens + output_tokens


@definition()
def mean_context_tokens(prompt_tokens, output_tokens):
    """Cached tokens that a decode step attends over, on average."""
    return prompt_tokens + output_tokens / 2


@definition()
def kv_bytes_per_gpu(batch, dp, context_tokens, kv_bytes_per_token_per_gpu):
    """Cache bytes on each GPU."""
    return (batch / dp) * context_tokens * kv_bytes_per_token_per_gpu


@definition()
def memory_used_per_gpu(weight_bytes_per_gpu, kv_bytes_per_gpu, runtime_overhead):
    """Memory in use on each GPU."""
    return weight_bytes_per_gpu + kv_bytes_per_gpu + runtime_overhead


@definition()
def max_sequences(
    memory_budget,
    weight_bytes_per_gpu,
    runtime_overhead,
    context_tokens,
    kv_bytes_per_token_per_gpu,
    dp,
):
    """Whole sequences that fit in the memory of one replica; 0 where the weights do not fit."""
    room = memory_budget - weight_bytes_per_gpu - runtime_overhead
    return largest(0, floor(room / (context_tokens * kv_bytes_per_token_per_gpu))) * dp


@definition()
def kv_cache_bytes_per_gpu(memory_budget, weight_bytes_per_gpu, runtime_overhead):
    """What weights and overhead leave of the budget on each GPU, all of it set aside for cache."""
    return memory_budget - weight_bytes_per_gpu - runtime_overhead


@definition()
def kv_cache_tokens(kv_cache_bytes_per_gpu, kv_bytes_per_token_per_gpu):
    """Tokens that the cache of one rank holds."""
    return kv_cache_bytes_per_gpu / kv_bytes_per_token_per_gpu


@definition()
def kv_cache_blocks(kv_cache_tokens, block_size):
    """Blocks that the cache of one rank holds."""
    return kv_cache_tokens / block_size


@definition()
def cache_concurrency(kv_cache_tokens, context_tokens):
    """Sequences of full length that the cache of one rank holds, as engines print it."""
    return kv_cache_tokens / context_tokens
