"""Faster and cheaper, entries on vectors and matrices: acceptance, quantization, masks, LoRA."""
# ruff: noqa: N803  (the letters of the sheet: a matrix of LoRA is W, A or B in its formula,
# which has as many inputs as it has)

from __future__ import annotations

from sympy import Abs, oo

from formulas.expressions import equal, largest, smallest, where
from formulas.formula import formula
from formulas.sheet.attention import softmax_temperature
from formulas.sheet.faster import dequantized_weight, quant_scale, quantized_weight
from formulas.tensors import entries, largest_of, total

SECTION = "faster"


@formula(
    id="speculative_acceptance",
    gives="acceptance_rate",
    section=SECTION,
    chapter=17,
    only_with=("speculative_acceptance.target_distribution",),
    holds_when="both distributions add up to 1; it is 1 minus their total variation distance",
    letters={"acceptance_rate": r"\alpha"},
)
def acceptance_over_vocabulary(target_distribution, draft_distribution):
    """What the two distributions have in common."""
    p, q = target_distribution, draft_distribution
    return total(p, lambda x: smallest(p[x], q[x]), index="x")


@formula(
    id="speculative_acceptance",
    gives="residual_distribution",
    section=SECTION,
    chapter=17,
    holds_when="the draft was rejected, so the two distributions differ",
)
def residual_distribution(target_distribution, draft_distribution):
    """What the target has in excess of the draft, renormalised."""
    p, q = target_distribution, draft_distribution
    excess = total(p, lambda y: largest(0, p[y] - q[y]), index="y")
    return entries(p, lambda x: largest(0, p[x] - q[x]) / excess, index="x")


@formula(
    id="integer_quantization",
    gives="group_scale",
    section=SECTION,
    chapter=18,
    holds_when="the weights of a group share one scale, and not all are 0",
    letters={"quant_bits": "b"},
)
def group_scale(weights, quant_bits):
    """The largest magnitude of the group sets the step of all its weights."""
    return quant_scale(largest_of(weights, lambda i: Abs(weights[i]), index="i"), quant_bits)


@formula(
    id="integer_quantization",
    gives="quantized_weights",
    section=SECTION,
    chapter=18,
    holds_when="the weights of a group share one scale",
)
def quantized_weights(weights, group_scale):
    """Each weight of the group in whole steps; at most half a step is lost."""
    return entries(weights, lambda i: quantized_weight(weights[i], group_scale))


@formula(
    id="integer_quantization",
    gives="dequantized_weights",
    section=SECTION,
    chapter=18,
    holds_when="the weights of a group share one scale",
)
def dequantized_weights(quantized_weights, group_scale):
    """The weights of the group that are computed with."""
    q = quantized_weights
    return entries(q, lambda i: dequantized_weight(q[i], group_scale))


@formula(
    id="constrained_decoding",
    gives="masked_logits",
    section=SECTION,
    chapter=19,
    holds_when="every prefix is valid; the output need not be finished or correct",
)
def masked_logits(logits, allowed):
    """The scores, with no way to choose a token that breaks the prefix."""
    return entries(logits, lambda i: where(equal(allowed[i], 1), logits[i], -oo))


@formula(
    id="constrained_decoding",
    gives="token_probability",
    section=SECTION,
    chapter=19,
    holds_when="at least one token is allowed",
    letters={"temperature": "T"},
)
def constrained_decoding(masked_logits, temperature, i):
    """Softmax over the tokens that are allowed."""
    return softmax_temperature(masked_logits, temperature, i)


@formula(
    id="lora_forward",
    gives="merged_weight",
    section=SECTION,
    holds_when="serving one adapter; with several, the merged weight is never formed",
    letters={"lora_alpha": r"\alpha"},
)
def merged_weight(W, A, B, lora_alpha, lora_rank):
    """The frozen weight plus the product of two thin matrices."""
    return W + lora_alpha / lora_rank * B * A


@formula(
    id="lora_forward",
    gives="lora_output",
    section=SECTION,
    holds_when="r much smaller than the sides of W",
    letters={"lora_alpha": r"\alpha"},
)
def lora_output(x, W, A, B, lora_alpha, lora_rank):
    """What the merged weight would give, without forming it."""
    return x * W.T + lora_alpha / lora_rank * (x * A.T) * B.T
