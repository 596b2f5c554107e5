"""What one sequence of full length holds of a cache whose layers differ, and how many fit."""

from __future__ import annotations

from formulas.conditions import indexed_cache, mixed_cache
from formulas.expressions import ceiling, floor, largest, smallest, where
from formulas.formula import definition

MIXED = {"valid": (mixed_cache,), "rank": 4}


@definition(valid=(mixed_cache,))
def request_blocks(
    context_tokens,
    full_groups,
    full_block_tokens,
    window_groups,
    window_block_tokens,
    sliding_window,
    max_batched_tokens,
    state_groups,
    state_copies,
):
    """Blocks of every group: all tokens, the window with what a step adds to it, or the states."""
    in_window = smallest(sliding_window - 1 + max_batched_tokens, context_tokens)
    windowed = window_groups * (ceiling(in_window / window_block_tokens) + 1)
    return (
        full_groups * ceiling(context_tokens / full_block_tokens)
        + where(window_groups > 0, windowed)
        + where(state_groups > 0, state_groups * state_copies)
    )


@definition(id="deployment.request_cache_bytes.mixed", gives="request_cache_bytes", **MIXED)
def request_cache_bytes_mixed(request_blocks, group_layers, page_bytes):
    """A block is one page in each layer of a group."""
    return request_blocks * group_layers * page_bytes


@definition()
def request_cache_bytes(context_tokens, block_size, kv_bytes_per_token_per_gpu):
    """Whole blocks of the tokens of one sequence."""
    return ceiling(context_tokens / block_size) * block_size * kv_bytes_per_token_per_gpu


@definition(id="deployment.kv_cache_blocks.mixed", gives="kv_cache_blocks", **MIXED)
def kv_cache_blocks_mixed(kv_cache_bytes_per_gpu, group_layers, page_bytes):
    """Whole blocks that the cache of one rank holds."""
    return floor(kv_cache_bytes_per_gpu / (group_layers * page_bytes))


@definition(id="deployment.cache_concurrency.mixed", gives="cache_concurrency", **MIXED)
def cache_concurrency_mixed(kv_cache_blocks, request_blocks):
    """Sequences of full length that the blocks of one rank hold."""
    return kv_cache_blocks / request_blocks


@definition(id="deployment.kv_cache_tokens.mixed", gives="kv_cache_tokens", **MIXED)
def kv_cache_tokens_mixed(cache_concurrency, context_tokens):
    """Tokens of as many sequences of full length as fit, as engines print it today."""
    return floor(cache_concurrency * context_tokens)


@definition(valid=(mixed_cache,))
def kv_cache_tokens_old_log(
    kv_cache_blocks, full_groups, window_groups, state_groups, full_block_tokens
):
    """Tokens of the blocks that one group has, where all groups have as many."""
    groups = full_groups + window_groups + state_groups
    return floor(kv_cache_blocks / groups) * full_block_tokens


@definition(id="deployment.kv_bytes_per_gpu.mixed", gives="kv_bytes_per_gpu", **MIXED)
def kv_bytes_per_gpu_mixed(batch, dp, request_cache_bytes):
    """Cache bytes on each GPU, each sequence at its full length."""
    return (batch / dp) * request_cache_bytes


@definition(id="deployment.max_sequences.mixed", gives="max_sequences", **MIXED)
def max_sequences_mixed(
    memory_budget, weight_bytes_per_gpu, runtime_overhead, request_cache_bytes, dp
):
    """Whole sequences that fit in the memory of one replica; 0 where the weights do not fit."""
    room = memory_budget - weight_bytes_per_gpu - runtime_overhead
    return largest(0, floor(room / request_cache_bytes)) * dp


@definition(
    id="deployment.kv_bytes_per_token.indexed",
    gives="kv_bytes_per_token",
    valid=(indexed_cache,),
    only_with=("indexer_layers", "kv_lora_rank"),
    rank=4,
)
def kv_bytes_per_token_indexed(
    n_layers,
    kv_lora_rank,
    qk_rope_head_dim,
    kv_bytes_per_element,
    indexer_layers,
    index_bytes_per_token,
):
    """A latent in every layer, and the indexer's key where there is an indexer."""
    latent = n_layers * (kv_lora_rank + qk_rope_head_dim) * kv_bytes_per_element
    return latent + indexer_layers * index_bytes_per_token


@definition(
    id="deployment.kv_bytes_per_token_per_gpu.spread",
    gives="kv_bytes_per_token_per_gpu",
    any_with=("dcp", "drafter_layers"),
    rank=4,
)
def kv_bytes_per_token_per_gpu_spread(
    kv_bytes_per_token, stage_share, tp, n_kv_heads, n_layers, drafter_layers, dcp
):
    """With the layers of a drafter, and the tokens spread over context parallelism."""
    own = kv_bytes_per_token * stage_share / smallest(tp, n_kv_heads)
    return own * (n_layers + drafter_layers) / n_layers / dcp


@definition()
def growing_bytes_per_token(
    stage_full_layers, full_token_bytes, indexer_layers, index_bytes_per_token, pp
):
    """Only the layers that cache every token grow with a long sequence."""
    keys = ceiling(indexer_layers / pp) * index_bytes_per_token
    return stage_full_layers * full_token_bytes + where(indexer_layers > 0, keys)


@definition()
def state_pool_bytes(state_slots, stage_state_layers, state_bytes):
    """A place for each sequence and a spare one, in every layer with a state."""
    return (state_slots + 1) * stage_state_layers * state_bytes


@definition()
def token_pool_tokens(token_pool_bytes, growing_bytes_per_token):
    """Tokens that fit in the memory of the layers that cache every token."""
    return token_pool_bytes / growing_bytes_per_token
