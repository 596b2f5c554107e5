"""What is assumed of caches and engines where nobody states it: mostly that something is absent."""

from __future__ import annotations

from formulas.formula import assumption


@assumption
def window_layers():
    """No layer caches the last tokens only."""
    return 0


@assumption
def state_layers():
    """No layer keeps a state instead of a cache."""
    return 0


@assumption
def windowed_layers(window_layers, state_layers):
    """Every layer caches every token in full but those that are said not to."""
    return window_layers + state_layers


@assumption
def full_layers(n_layers, windowed_layers):
    """The other layers cache every token."""
    return n_layers - windowed_layers


@assumption
def drafter_layers():
    """No drafter."""
    return 0


@assumption
def other_drafter_layers():
    """No drafter with a cache of its own format."""
    return 0


@assumption
def indexer_layers():
    """No indexer."""
    return 0


@assumption
def full_kv_heads(n_kv_heads):
    """The heads of every layer."""
    return n_kv_heads


@assumption
def window_kv_heads(n_kv_heads):
    """The heads of every layer."""
    return n_kv_heads


@assumption
def full_head_elements(d_head):
    """A key and a value."""
    return 2 * d_head


@assumption
def window_head_elements(d_head):
    """A key and a value."""
    return 2 * d_head


@assumption
def tower_params():
    """Text only."""
    return 0


@assumption
def duplicated_params():
    """Nothing is held twice."""
    return 0


@assumption
def expert_padding():
    """Experts are stored as wide as they are."""
    return 1


@assumption
def speculative_tokens():
    """No token is drafted."""
    return 0


@assumption
def dcp():
    """Every GPU of a rank has the same tokens."""
    return 1


@assumption
def vocab_multiple():
    """What engines pad the vocabulary to since 2024."""
    return 64


@assumption
def block_size():
    """What engines take unless told otherwise."""
    return 16


@assumption
def prefix_caching():
    """On, as engines have it unless told otherwise."""
    return 1


@assumption
def max_batched_tokens():
    """What vLLM takes on large cards unless told otherwise."""
    return 8192


@assumption
def ssm_bytes_per_element():
    """States in the format of the activations, where the model's config names no other."""
    return 2


@assumption
def cuda_graph_bytes():
    """CUDA graphs lie outside the budget, as they do before vLLM 0.21."""
    return 0


@assumption
def free_memory(vram_bytes):
    """Nothing else is on the card."""
    return vram_bytes


# What facts mean that leave it out, rather than a guess: never withdrawn, and not worth a line.
ABSENT = (
    window_layers,
    state_layers,
    windowed_layers,
    full_layers,
    drafter_layers,
    other_drafter_layers,
    indexer_layers,
    full_kv_heads,
    window_kv_heads,
    full_head_elements,
    window_head_elements,
    tower_params,
    duplicated_params,
    expert_padding,
    speculative_tokens,
    dcp,
    vocab_multiple,
)
OF_ENGINES = (
    block_size,
    prefix_caching,
    max_batched_tokens,
    ssm_bytes_per_element,
    cuda_graph_bytes,
    free_memory,
)
