"""The engine, entries on vectors and tables: the locked batch, block lookup, block hashes."""

from __future__ import annotations

from formulas.expressions import floor, remainder
from formulas.formula import formula
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
