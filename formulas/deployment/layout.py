"""How a paged cache is laid out where layers differ: bytes of a token, states, pages, groups.

Layers of one kind are cut into groups of equally many layers. Every layer's page has the same
bytes, so that one pool of blocks serves all groups: a page of a layer with a state is a whole
state, and the pages of attention hold as many tokens as that takes.
"""

from __future__ import annotations

from sympy import Rational

from formulas.expressions import ceiling, floor, largest, smallest, where
from formulas.formula import definition
from formulas.quantities import ACTIVATION_BYTES

# Kinds of nearly as many layers share the larger group: padding costs less than another group.
NEARLY_AS_MANY = Rational(3, 2)


@definition()
def full_token_bytes(full_kv_heads, full_head_elements, kv_bytes_per_element, tp):
    """Bytes of one token in one layer; beyond the KV heads, TP replicates them."""
    return largest(1, full_kv_heads / tp) * full_head_elements * kv_bytes_per_element


@definition()
def window_token_bytes(window_kv_heads, window_head_elements, kv_bytes_per_element, tp):
    """Bytes of one token in one windowed layer; beyond the KV heads, TP replicates them."""
    return largest(1, window_kv_heads / tp) * window_head_elements * kv_bytes_per_element


@definition(only_with=("kv_lora_rank",))
def full_head_elements(kv_lora_rank, qk_rope_head_dim):
    """The one head of a latent cache: the compressed latent and the rotated key."""
    return kv_lora_rank + qk_rope_head_dim


@definition(only_with=("kv_scale_bytes",), unless=("kv_lora_rank",))
def kv_bytes_per_element(kv_code_bytes, kv_scale_bytes, d_head):
    """A cached element with its part of the scale of its head and token."""
    return kv_code_bytes + kv_scale_bytes / d_head


@definition(
    id="deployment.kv_bytes_per_element.latent",
    gives="kv_bytes_per_element",
    only_with=("latent_scale_group", "kv_lora_rank"),
)
def kv_bytes_per_element_latent(
    kv_code_bytes, kv_scale_bytes, latent_scale_group, kv_lora_rank, qk_rope_head_dim
):
    """Latent elements in a narrow format with scales, and the rotated key in BF16, on average."""
    latent = kv_lora_rank * (kv_code_bytes + kv_scale_bytes / latent_scale_group)
    key = qk_rope_head_dim * ACTIVATION_BYTES.symbol
    return (latent + key) / (kv_lora_rank + qk_rope_head_dim)


@definition()
def ssm_state_bytes(ssm_elements, ssm_bytes_per_element, tp):
    """One layer's recurrent state of one sequence, its heads spread over TP."""
    return ssm_elements / tp * ssm_bytes_per_element


@definition()
def conv_state_bytes(conv_channels, conv_kernel, speculative_tokens, tp):
    """The last inputs of one layer's convolution, and those of the tokens that may be withdrawn."""
    tokens = conv_kernel - 1 + speculative_tokens
    return conv_channels / tp * tokens * ACTIVATION_BYTES.symbol


@definition()
def state_bytes(ssm_state_bytes, conv_state_bytes):
    """What one layer keeps of one sequence, however long it is."""
    return ssm_state_bytes + conv_state_bytes


@definition(only_with=("draft_tokens",))
def speculative_tokens(draft_tokens):
    """The tokens drafted for one target pass."""
    return draft_tokens


@definition()
def state_copies(prefix_caching, speculative_tokens):
    """One state, one for each token that may be withdrawn, and one that prefix caching keeps."""
    return 1 + prefix_caching + speculative_tokens


@definition()
def stage_full_layers(full_layers, drafter_layers, pp):
    """Layers that cache every token in the longest stage; the drafter's are among them."""
    return ceiling((full_layers + drafter_layers) / pp)


@definition()
def stage_window_layers(window_layers, pp):
    """Windowed layers in the longest stage."""
    return ceiling(window_layers / pp)


@definition()
def stage_state_layers(state_layers, pp):
    """Layers with a state in the longest stage."""
    return ceiling(state_layers / pp)


@definition()
def most_of_a_kind(
    stage_full_layers, stage_window_layers, stage_state_layers, other_drafter_layers
):
    """Layers of the kind that has most."""
    return largest(stage_full_layers, stage_window_layers, stage_state_layers, other_drafter_layers)


@definition()
def fewest_of_a_kind(
    stage_full_layers,
    stage_window_layers,
    stage_state_layers,
    other_drafter_layers,
    most_of_a_kind,
):
    """Layers of the kind that has fewest, of the kinds that there are."""
    kinds = (stage_full_layers, stage_window_layers, stage_state_layers, other_drafter_layers)
    return smallest(*(where(layers > 0, layers, most_of_a_kind) for layers in kinds))


@definition()
def group_layers(fewest_of_a_kind, most_of_a_kind):
    """The kind of fewest layers decides, unless all kinds have nearly as many."""
    nearly = most_of_a_kind < NEARLY_AS_MANY * fewest_of_a_kind
    return where(nearly, most_of_a_kind, fewest_of_a_kind)


@definition()
def full_groups(stage_full_layers, other_drafter_layers, group_layers):
    """Groups of layers that cache every token; a drafter of another format has its own."""
    own = ceiling(stage_full_layers / group_layers)
    return own + ceiling(other_drafter_layers / group_layers)


@definition()
def window_groups(stage_window_layers, group_layers):
    """Groups of windowed layers, the last one padded."""
    return ceiling(stage_window_layers / group_layers)


@definition()
def state_groups(stage_state_layers, group_layers):
    """Groups of layers with a state, the last one padded."""
    return ceiling(stage_state_layers / group_layers)


@definition()
def page_bytes(
    block_size,
    full_layers,
    full_token_bytes,
    window_layers,
    window_token_bytes,
    state_layers,
    state_bytes,
):
    """The largest page of any kind; attention pages grow by whole blocks until a state fits."""
    block = block_size * full_token_bytes
    return largest(
        where(full_layers > 0, block),
        where(window_layers > 0, block_size * window_token_bytes),
        where(state_layers > 0, block * ceiling(state_bytes / block)),
    )


@definition()
def full_block_tokens(block_size, page_bytes, full_token_bytes):
    """Whole blocks that a page holds in a layer that caches every token."""
    return block_size * floor(page_bytes / (block_size * full_token_bytes))


@definition()
def window_block_tokens(block_size, page_bytes, window_token_bytes):
    """Whole blocks that a page holds in a windowed layer."""
    return block_size * floor(page_bytes / (block_size * window_token_bytes))
