"""The model: tokens, attention, one decoder layer, and the FLOP count every estimate starts from.
"""

from __future__ import annotations

from formulas.formula import formula
from formulas.quantities import FLOP_PER_ATTENDED_ELEMENT, FLOP_PER_MULTIPLY_ADD

SECTION = "model"


@formula(
    gives="flops_per_token",
    section=SECTION,
    relation="≈",
    holds_when="every weight is used once, and every layer attends over the whole context",
    letters={"flops_per_token": r"\text{FLOPs per token}", "n_layers": "L"},
)
def flops_per_token(active_params, n_layers, context_tokens, d_attn):
    """Work to decode one token: the matmuls of the weights, and attention over the cached tokens.
    """
    mac, attended = FLOP_PER_MULTIPLY_ADD.symbol, FLOP_PER_ATTENDED_ELEMENT.symbol
    return mac * active_params + attended * n_layers * context_tokens * d_attn


@formula(
    id="rope_frequency",
    gives="rope_theta",
    section=SECTION,
    chapter=2,
    holds_when="rotary embedding without frequency scaling; i runs from 0 to d_head/2 - 1",
)
def rope_frequency(rope_base, rope_pair, d_head):
    """Rotation of pair i for one position; scores then depend only on distances."""
    return rope_base ** (-2 * rope_pair / d_head)
