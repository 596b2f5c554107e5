"""What attention reads and computes where layers differ: windows, states, and sparse attention."""

from __future__ import annotations

from formulas.conditions import indexed_cache, mixed_cache
from formulas.expressions import smallest, where
from formulas.formula import definition
from formulas.quantities import (
    FLOP_PER_ATTENDED_ELEMENT,
    FLOP_PER_MLA_ELEMENT,
    FLOP_PER_MULTIPLY_ADD,
)

MIXED = {"valid": (mixed_cache,), "rank": 4}
INDEXED = {"valid": (indexed_cache,), "only_with": ("kv_lora_rank",), "rank": 4}


@definition(id="deployment.kv_bytes_read_per_gpu.mixed", gives="kv_bytes_read_per_gpu", **MIXED)
def kv_bytes_read_per_gpu_mixed(
    micro_batch,
    mean_context_tokens,
    stage_full_layers,
    full_token_bytes,
    stage_window_layers,
    sliding_window,
    window_token_bytes,
    stage_state_layers,
    state_bytes,
):
    """All tokens, those of the window, and a state that is read and written back."""
    in_window = smallest(mean_context_tokens, sliding_window) * window_token_bytes
    return micro_batch * (
        stage_full_layers * mean_context_tokens * full_token_bytes
        + where(stage_window_layers > 0, stage_window_layers * in_window)
        + where(stage_state_layers > 0, 2 * stage_state_layers * state_bytes)
    )


@definition(id="deployment.flops_per_token.mixed", gives="flops_per_token", kind="model", **MIXED)
def flops_per_token_mixed(
    active_params,
    mean_context_tokens,
    full_layers,
    window_layers,
    sliding_window,
    n_heads,
    d_head,
):
    """Attention over all tokens or those of the window; a state's work is in its parameters."""
    windowed = window_layers * smallest(mean_context_tokens, sliding_window)
    attended = full_layers * mean_context_tokens + where(window_layers > 0, windowed)
    weights = FLOP_PER_MULTIPLY_ADD.symbol * active_params
    return weights + attended * FLOP_PER_ATTENDED_ELEMENT.symbol * n_heads * d_head


@definition(id="deployment.prefill_flops.mixed", gives="prefill_flops", kind="model", **MIXED)
def prefill_flops_mixed(
    active_params,
    prompt_tokens,
    cached_prompt_tokens,
    full_layers,
    window_layers,
    sliding_window,
    n_heads,
    d_head,
):
    """Causal pairs in full layers; in windowed ones no token attends over more than the window."""
    fresh = prompt_tokens - cached_prompt_tokens
    pairs = (prompt_tokens**2 - cached_prompt_tokens**2) / 2
    in_window = smallest(pairs, fresh * sliding_window)
    attended = full_layers * pairs + where(window_layers > 0, window_layers * in_window)
    weights = FLOP_PER_MULTIPLY_ADD.symbol * active_params * fresh
    return weights + attended * FLOP_PER_ATTENDED_ELEMENT.symbol * n_heads * d_head


@definition(id="deployment.kv_bytes_read_per_gpu.indexed", gives="kv_bytes_read_per_gpu", **INDEXED)
def kv_bytes_read_per_gpu_indexed(
    micro_batch,
    mean_context_tokens,
    stage_share,
    n_layers,
    kv_lora_rank,
    qk_rope_head_dim,
    kv_bytes_per_element,
    indexer_layers,
    index_topk,
    index_bytes_per_token,
):
    """The indexer's key of every token, and the latent of those tokens that it picks."""
    picked = smallest(mean_context_tokens, index_topk)
    latent = n_layers * picked * (kv_lora_rank + qk_rope_head_dim) * kv_bytes_per_element
    keys = indexer_layers * mean_context_tokens * index_bytes_per_token
    return micro_batch * stage_share * (latent + keys)


@definition(
    id="deployment.flops_per_token.indexed", gives="flops_per_token", kind="model", **INDEXED
)
def flops_per_token_indexed(
    active_params,
    mean_context_tokens,
    index_topk,
    n_layers,
    n_heads,
    kv_lora_rank,
    qk_rope_head_dim,
):
    """Attention over the tokens that the indexer picks; its own work is left out."""
    attended = n_layers * smallest(mean_context_tokens, index_topk)
    weights = FLOP_PER_MULTIPLY_ADD.symbol * active_params
    elements = n_heads * (2 * kv_lora_rank + qk_rope_head_dim)
    return weights + attended * FLOP_PER_MLA_ELEMENT.symbol * elements


@definition(id="deployment.prefill_flops.indexed", gives="prefill_flops", kind="model", **INDEXED)
def prefill_flops_indexed(
    active_params,
    prompt_tokens,
    cached_prompt_tokens,
    index_topk,
    n_layers,
    n_heads,
    qk_nope_head_dim,
    qk_rope_head_dim,
    v_head_dim,
):
    """No token attends over more than the indexer picks; its own work is left out."""
    fresh = prompt_tokens - cached_prompt_tokens
    pairs = smallest((prompt_tokens**2 - cached_prompt_tokens**2) / 2, fresh * index_topk)
    weights = FLOP_PER_MULTIPLY_ADD.symbol * active_params * fresh
    elements = n_heads * (qk_nope_head_dim + qk_rope_head_dim + v_head_dim)
    return weights + n_layers * pairs * FLOP_PER_MLA_ELEMENT.symbol * elements
