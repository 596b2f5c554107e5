"""Faster and cheaper: speculative decoding, quantization, constrained output and LoRA."""
# ruff: noqa: N803  (the letters of the sheet: a matrix of LoRA is W, A or B in its formula)

from __future__ import annotations

from sympy import Abs, oo

from formulas.expressions import Round, equal, largest, smallest, where
from formulas.formula import formula
from formulas.sheet.model import softmax_temperature
from formulas.tensors import entries, largest_of, total

SECTION = "faster"


@formula(
    id="speculative_acceptance",
    gives="accept_probability",
    section=SECTION,
    chapter=17,
    holds_when="on rejection the residual max(0, p - q) is sampled, renormalised",
    letters={
        "accept_probability": r"P(\text{accept } x)",
        "target_probability": "p(x)",
        "draft_probability": "q(x)",
    },
)
def speculative_acceptance(target_probability, draft_probability):
    """Keeping a draft token with this probability leaves the target's distribution unchanged."""
    return smallest(1, target_probability / draft_probability)


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
    id="speculative_expected_tokens",
    gives="expected_tokens",
    section=SECTION,
    chapter=17,
    holds_when="every draft token is accepted independently; at acceptance 1 it is k + 1",
    removable={"acceptance_rate": (1, lambda draft_tokens: draft_tokens + 1)},
    letters={"expected_tokens": r"\mathbb{E}[\text{tokens}]", "acceptance_rate": r"\alpha"},
)
def speculative_expected_tokens(acceptance_rate, draft_tokens):
    """Tokens that one pass of the target model yields, on average."""
    return (1 - acceptance_rate ** (draft_tokens + 1)) / (1 - acceptance_rate)


@formula(
    section=SECTION,
    chapter=17,
    relation="≈",
    holds_when="batch 1, where a target pass over k tokens costs what one token costs",
    letters={
        "speculative_speedup": r"\text{speedup}",
        "expected_tokens": r"\mathbb{E}[\text{tokens}]",
    },
)
def speculative_speedup(expected_tokens, draft_tokens, draft_cost_fraction):
    """Tokens of a pass over its cost in target steps."""
    return expected_tokens / (1 + draft_tokens * draft_cost_fraction)


@formula(
    id="integer_quantization",
    gives="quant_scale",
    section=SECTION,
    chapter=18,
    letters={"weight_absmax": r"\max |w|", "quant_bits": "b"},
)
def quant_scale(weight_absmax, quant_bits):
    """The largest magnitude sets the step, so one outlier stretches the grid."""
    return weight_absmax / (2 ** (quant_bits - 1) - 1)


@formula(
    id="integer_quantization",
    gives="quantized_weight",
    section=SECTION,
    chapter=18,
    letters={"quantized_weight": "q"},
)
def quantized_weight(weight, quant_scale):
    """The weight in whole steps; at most half a step is lost."""
    return Round(weight / quant_scale)


@formula(
    id="integer_quantization",
    gives="dequantized_weight",
    section=SECTION,
    chapter=18,
    letters={"quantized_weight": "q"},
)
def dequantized_weight(quantized_weight, quant_scale):
    """The weight that is computed with."""
    return quantized_weight * quant_scale


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


@formula(
    id="lora_size",
    gives="lora_fraction",
    section=SECTION,
    chapter=20,
    holds_when="a square matrix; r (d_in + d_out) / (d_in d_out) otherwise",
    letters={
        "lora_fraction": r"\frac{\text{adapter params}}{\text{matrix params}}",
        "d_model": "d",
    },
)
def lora_size(lora_rank, d_model):
    """Two thin matrices in place of a square one."""
    return 2 * lora_rank * d_model / d_model**2
