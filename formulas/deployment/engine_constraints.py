"""What engines check before they start, besides memory: each where its facts are known."""

from __future__ import annotations

from formulas.expressions import ceiling, either, equal, remainder
from formulas.formula import condition


@condition
def request_fits(request_cache_bytes, kv_cache_bytes_per_gpu):
    """The cache holds one sequence of full length."""
    return request_cache_bytes <= kv_cache_bytes_per_gpu


@condition
def length_fits(context_tokens, kv_cache_tokens):
    """The cache holds as many tokens as one sequence of full length has."""
    return context_tokens <= kv_cache_tokens


@condition
def vocabulary_divides(vocab_size, vocab_multiple, tp):
    """TP divides the vocabulary as the engine pads it."""
    return equal(remainder(vocab_multiple * ceiling(vocab_size / vocab_multiple), tp), 0)


@condition
def vision_heads_divide(vision_heads, tp):
    """TP divides the heads of the tower for images."""
    return equal(remainder(vision_heads, tp), 0)


@condition
def dense_blocks_divide(dense_width, quant_block, tp):
    """Each GPU has whole quantization blocks of a dense MLP."""
    return equal(remainder(dense_width / tp, quant_block), 0)


@condition
def expert_blocks_divide(expert_width, quant_block, tp, ep):
    """Each GPU has whole quantization blocks of an expert, or whole experts."""
    return either(ep > 1, equal(remainder(expert_width / tp, quant_block), 0))


@condition
def capability(needed_capability, compute_capability):
    """The GPU runs the kernels that the engine has for these weights."""
    return needed_capability <= compute_capability


OF_ENGINES = (
    request_fits,
    length_fits,
    vocabulary_divides,
    vision_heads_divide,
    dense_blocks_divide,
    expert_blocks_divide,
    capability,
)
# Checked only where these are stated or rows of the model say them.
WHERE_STATED = (
    "kv_cache_bytes_per_gpu",
    "kv_cache_tokens",
    "vocab_size",
    "vision_heads",
    "dense_width",
    "expert_width",
    "quant_block",
    "needed_capability",
)
# What an engine that refuses to start prints: figures that break these may well be true.
REFUSED = frozenset(("request_fits", "length_fits"))
