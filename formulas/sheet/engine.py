"""The engine: batching, paging, caching, scheduling."""

from __future__ import annotations

from formulas.expressions import ceiling, floor, remainder
from formulas.formula import formula
from formulas.quantities import FLOP_PER_CAUSAL_PAIR, FLOP_PER_MULTIPLY_ADD
from formulas.tensors import BlockHash, largest_of, total

SECTION = "engine"


@formula(
    id="locked_batch_utilization",
    gives="useful_fraction",
    section=SECTION,
    chapter=12,
    holds_when="no slot is refilled before the longest request ends",
    letters={"useful_fraction": r"\text{useful}"},
)
def locked_batch_utilization(output_lengths):
    """The mean length over the longest: it depends on the spread of lengths, not on their scale."""
    mean = total(output_lengths, lambda i: output_lengths[i], index="i") / output_lengths.shape[0]
    return mean / largest_of(output_lengths, lambda i: output_lengths[i], index="i")


@formula(
    id="paged_block_lookup",
    gives="physical_block",
    section=SECTION,
    chapter=13,
    holds_when="at most B - 1 slots of the last block stay empty",
    letters={"physical_block": r"\text{physical block}", "block_size": "B"},
)
def physical_block(token_position, block_size, block_table):
    """The table's entry for the block that holds the token."""
    return block_table[floor(token_position / block_size)]


@formula(
    id="paged_block_lookup",
    gives="block_slot",
    section=SECTION,
    chapter=13,
    holds_when="at most B - 1 slots of the last block stay empty",
    letters={"block_slot": r"\text{slot}", "block_size": "B"},
)
def block_slot(token_position, block_size):
    """Where in its block the token is."""
    return remainder(token_position, block_size)


@formula(
    id="prefix_block_hash",
    gives="block_hash",
    section=SECTION,
    chapter=14,
    holds_when="full blocks only; two prompts share exactly their common full blocks",
    letters={"block_tokens": r"\text{tokens in block } i"},
)
def prefix_block_hash(parent_hash, block_tokens, extra_keys):
    """A block is known by its tokens and by all that came before it."""
    return BlockHash(parent_hash, block_tokens, extra_keys)


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
