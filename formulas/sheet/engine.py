"""The engine: batching, paging, caching, scheduling."""

from __future__ import annotations

from formulas.expressions import ceiling
from formulas.formula import formula
from formulas.quantities import FLOP_PER_CAUSAL_PAIR, FLOP_PER_MULTIPLY_ADD

SECTION = "engine"


@formula(
    id="chunked_prefill",
    gives="chunk_tokens",
    section=SECTION,
    chapter=15,
    letters={"chunk_tokens": r"\text{chunk}", "token_budget": r"\text{budget}"},
)
def chunk_tokens(token_budget, decoding_sequences):
    """Running sequences are served first; the prompt gets what is left of the step's budget."""
    return token_budget - decoding_sequences


@formula(
    id="chunked_prefill",
    gives="prefill_iterations",
    section=SECTION,
    chapter=15,
    letters={
        "prefill_iterations": r"\text{iterations to prefill}",
        "prompt_tokens": r"\text{prompt length}",
        "chunk_tokens": r"\text{chunk}",
    },
)
def prefill_iterations(prompt_tokens, chunk_tokens):
    """Steps until the whole prompt is prefilled."""
    return ceiling(prompt_tokens / chunk_tokens)


@formula(
    id="kv_offload",
    gives="reload_time",
    section=SECTION,
    chapter=16,
    letters={
        "prompt_tokens": r"\text{tokens}",
        "kv_bytes_per_token": r"\text{KV bytes/token}",
        "tier_bandwidth": r"\text{tier bandwidth}",
    },
)
def reload_time(prompt_tokens, kv_bytes_per_token, tier_bandwidth):
    """Reloading a cached prompt grows linearly with its length."""
    return prompt_tokens * kv_bytes_per_token / tier_bandwidth


@formula(
    id="kv_offload",
    gives="recompute_time",
    section=SECTION,
    chapter=16,
    kind="model",
    letters={
        "active_params": "P",
        "prompt_tokens": "N",
        "n_layers": "L",
        "n_heads": "H",
        "d_head": "d",
        "peak_flops": r"\text{GPU FLOP/s}",
    },
)
def recompute_time(active_params, prompt_tokens, n_layers, n_heads, d_head, peak_flops, mfu):
    """Prefilling the prompt again grows faster than linearly with its length."""
    mac, pair = FLOP_PER_MULTIPLY_ADD.symbol, FLOP_PER_CAUSAL_PAIR.symbol
    work = (
        mac * active_params * prompt_tokens + pair * n_layers * prompt_tokens**2 * n_heads * d_head
    )
    return work / (peak_flops * mfu)
