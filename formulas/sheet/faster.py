"""Faster and cheaper: speculative decoding, quantization, constrained output and LoRA."""

from __future__ import annotations

from formulas.expressions import Round, smallest
from formulas.formula import formula

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
