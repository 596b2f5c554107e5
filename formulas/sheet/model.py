"""The model: tokens, attention, one decoder layer, and the FLOP count behind every estimate."""
# ruff: noqa: N803  (the letters of the sheet: a matrix is Q, K, V or M in its formula)

from __future__ import annotations

from sympy import exp, sqrt

from formulas import tensors
from formulas.formula import formula
from formulas.quantities import FLOP_PER_ATTENDED_ELEMENT, FLOP_PER_MULTIPLY_ADD
from formulas.tensors import Softmax, total

SECTION = "model"


@formula(
    id="attention",
    gives="attention_output",
    section=SECTION,
    chapter=3,
    holds_when="one head; M is 0 where a token may look and minus infinity where it may not",
)
def attention(Q, K, V, M, d_k):
    """For each token the values of the tokens that it may look at, the best fit weighing most."""
    return Softmax(Q * K.T / sqrt(d_k) + M) * V


@formula(
    id="decoder_layer",
    gives="h",
    section=SECTION,
    chapter=4,
    holds_when="pre-norm layers; a stack applies the layer again, each time with its own weights",
)
def after_attention(x):
    """The residual stream, plus attention over its normalised rows."""
    return x + tensors.attention(tensors.rms_norm(x))


@formula(
    id="decoder_layer",
    gives="layer_output",
    section=SECTION,
    chapter=4,
    holds_when="pre-norm layers; a stack applies the layer again, each time with its own weights",
)
def layer_output(h):
    """The residual stream after attention, plus the MLP of its normalised rows."""
    return h + tensors.mlp(tensors.rms_norm(h))


@formula(
    gives="flops_per_token",
    section=SECTION,
    relation="≈",
    holds_when="every weight is used once, and every layer attends over the whole context",
    letters={"flops_per_token": r"\text{FLOPs per token}", "n_layers": "L"},
)
def flops_per_token(active_params, n_layers, context_tokens, d_attn):
    """Work to decode one token: the matmuls of the weights, and attention over what is cached."""
    mac, attended = FLOP_PER_MULTIPLY_ADD.symbol, FLOP_PER_ATTENDED_ELEMENT.symbol
    return mac * active_params + attended * n_layers * context_tokens * d_attn


@formula(
    id="softmax_temperature",
    gives="token_probability",
    section=SECTION,
    chapter=5,
    holds_when="T > 0; greedy as T goes to 0, the model's own distribution at 1, flatter above",
    letters={"temperature": "T"},
)
def softmax_temperature(logits, temperature, i):
    """The share of one token in e to the scaled scores."""
    return exp(logits[i] / temperature) / total(logits, lambda j: exp(logits[j] / temperature))


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
