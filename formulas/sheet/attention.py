"""The model, entries on arrays: attention, the decoder layer, softmax with temperature."""
# ruff: noqa: N803  (the letters of the sheet: a matrix is Q, K, V or M in its formula)

from __future__ import annotations

from sympy import exp, sqrt

from formulas import tensors
from formulas.formula import formula
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
