"""Arrays of the matrix and indexed formulas; each belongs to its formula and is named FORMULA.NAME.

A scalar that only one array formula speaks of, such as an index, stands here too. Dimensions are named:
two arrays of a formula that share a name share a size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from formulas.dimension import PURE
from formulas.dimension import dimension_rules as scalar_rules
from formulas.errors import CatalogueError
from formulas.fold import Leaf
from formulas.quantity import (
    COUNT,
    COUNT_OR_NONE,
    NOT_NEGATIVE,
    REAL,
    SHARE,
    Quantity,
    parse_unit_of,
)
from formulas.tensors import BlockHash, MatrixFunction, OverIndex, Softmax
from formulas.units import Unit


def _belongs(formula: str, *rows: tuple[Any, ...]) -> tuple[Quantity, ...]:
    """The quantities of one formula, from rows of name, letter, unit, domain, shape, meaning."""
    return tuple(
        Quantity(
            name=f"{formula}.{name}",
            letter=letter,
            unit=parse_unit_of(unit),
            domain=domain,
            meaning=meaning,
            shape=tuple(shape.split()),
            subject="arrays",
        )
        for name, letter, unit, domain, shape, meaning in rows
    )


ARRAYS: tuple[Quantity, ...] = (
    *_belongs(
        "attention",
        ("Q", "Q", "1", REAL, "n_q d_k", "queries, a row for each token that looks"),
        ("K", "K", "1", REAL, "n_k d_k", "keys, a row for each token that is looked at"),
        ("V", "V", "1", REAL, "n_k d_v", "values, a row for each token that is looked at"),
        ("M", "M", "1", REAL, "n_q n_k", "0 where a token may look, minus infinity where not"),
        ("d_k", "d_k", "1", COUNT, "", "elements of a key"),
        (
            "attention_output",
            r"\text{Attention}(Q, K, V)",
            "1",
            REAL,
            "n_q d_v",
            "for each token the values that it looks at, weighted",
        ),
    ),
    *_belongs(
        "decoder_layer",
        ("x", "x", "1", REAL, "n d_model", "residual stream, a row for each token"),
        ("h", "h", "1", REAL, "n d_model", "residual stream after attention"),
        ("layer_output", "x'", "1", REAL, "n d_model", "residual stream after the layer"),
    ),
    *_belongs(
        "softmax_temperature",
        ("logits", "z", "1", REAL, "vocab", "score of each token of the vocabulary"),
        ("i", "i", "1", COUNT_OR_NONE, "", "position in the vocabulary, from 0"),
    ),
    *_belongs(
        "decode_step_kv",
        ("context_lengths", "n", "1", COUNT_OR_NONE, "batch", "cached tokens of each sequence"),
    ),
    *_belongs(
        "locked_batch_utilization",
        ("output_lengths", "L", "1", COUNT, "batch", "tokens that each request generates"),
    ),
    *_belongs(
        "paged_block_lookup",
        (
            "block_table",
            r"\text{block table}",
            "1",
            COUNT_OR_NONE,
            "n_blocks",
            "where in memory each block of a sequence is",
        ),
    ),
    *_belongs(
        "prefix_block_hash",
        ("parent_hash", "h_{i-1}", "hash", REAL, "", "hash of the block before; any value for none"),
        ("block_tokens", r"\text{tokens}_i", "1", REAL, "block_size", "tokens of the block"),
        ("extra_keys", r"\text{extra keys}", "tuple", REAL, "", "what else changes keys and values"),
        ("block_hash", "h_i", "hash", REAL, "", "hash of the block and of all before it"),
    ),
    *_belongs(
        "speculative_acceptance",
        ("target_distribution", "p", "1", SHARE, "vocab", "what the target model would sample from"),
        ("draft_distribution", "q", "1", SHARE, "vocab", "what the draft model sampled from"),
        ("residual_distribution", "p'", "1", SHARE, "vocab", "what is sampled from after a rejection"),
    ),
    *_belongs(
        "integer_quantization",
        ("weights", "w", "1", REAL, "group", "weights that share a scale"),
        ("quantized_weights", "q", "1", REAL, "group", "the weights in whole steps of the scale"),
        ("dequantized_weights", r"\hat{w}", "1", REAL, "group", "the weights that are computed with"),
    ),
    *_belongs(
        "constrained_decoding",
        ("logits", "z", "1", REAL, "vocab", "score of each token of the vocabulary"),
        ("allowed", r"\text{valid}", "bool", SHARE, "vocab", "whether output and token are a valid prefix"),
        ("masked_logits", r"\tilde{z}", "1", REAL, "vocab", "the scores, minus infinity where not allowed"),
        ("i", "i", "1", COUNT_OR_NONE, "", "position in the vocabulary, from 0"),
    ),
    *_belongs(
        "lora_forward",
        ("W", "W", "1", REAL, "d_out d_in", "frozen weights"),
        ("A", "A", "1", REAL, "r d_in", "adapter, first factor"),
        ("B", "B", "1", REAL, "d_out r", "adapter, second factor"),
        ("x", "x", "1", REAL, "n d_in", "inputs, one a row"),
        ("merged_weight", "W'", "1", REAL, "d_out d_in", "weights with the adapter merged in"),
        ("lora_output", "y", "1", REAL, "n d_out", "outputs, one a row"),
    ),
    *_belongs(
        "goodput",
        ("request_ttfts", r"\text{TTFT}", "s", NOT_NEGATIVE, "n", "time to first token of each request"),
        ("request_tpots", r"\text{TPOT}", "s", NOT_NEGATIVE, "n", "time per output token of each request"),
    ),
)

# The scalar that is the size of a dimension: both are given, and must agree.
SIZES: Mapping[str, str] = {"d_k": "attention.d_k", "r": "lora_rank"}

# How a dimension prints; one that is not here prints as its name.
DIMENSION_LETTERS: Mapping[str, str] = {
    "vocab": "V",
    "batch": "B",
    "group": "g",
    "n": "n",
    "n_blocks": r"n_\text{blocks}",
    "block_size": "B",
    "d_model": r"d_\text{model}",
    "d_in": r"d_\text{in}",
    "d_out": r"d_\text{out}",
}


def dimension_rules(vocabulary: Mapping[str, Quantity]) -> dict[type, Any]:
    """The unit rules of array nodes: an entry has the unit of its array, an index is a pure number."""

    def own(node: Any, _: Callable[[Any], Any]) -> Any:
        name = getattr(node, "name", None) or str(node.label)
        return vocabulary[name].unit if name in vocabulary else PURE

    def entry(node: Any, walk: Callable[[Any], Any]) -> Any:
        for index in node.indices:
            _pure(index, walk(index))
        return walk(node.base)

    def summed(node: Any, walk: Callable[[Any], Any]) -> Any:
        return walk(node.function)

    def over_index(node: Any, walk: Callable[[Any], Any]) -> Any:
        return walk(node.term)

    def same(_: Any, part: Any) -> Any:
        return part

    def softmax(node: Any, part: Any) -> Any:
        return _pure(node.matrix, part)

    def function(node: Any, walk: Callable[[Any], Any]) -> Any:
        return _pure(node.argument, walk(node.argument))

    def opaque(node: Any, walk: Callable[[Any], Any]) -> Any:
        return PURE

    # A matrix product or sum has the unit that the scalar one has.
    scalar = scalar_rules({})
    return {
        sympy.MatrixSymbol: Leaf(own),
        sympy.IndexedBase: Leaf(own),
        sympy.Indexed: Leaf(entry),
        sympy.Sum: Leaf(summed),
        OverIndex: Leaf(over_index),
        sympy.MatMul: scalar[sympy.Mul],
        sympy.MatAdd: scalar[sympy.Add],
        sympy.Transpose: same,
        Softmax: softmax,
        MatrixFunction: Leaf(function),
        BlockHash: Leaf(opaque),
    }


def _pure(node: MatrixExpr, unit: Unit) -> Unit:
    if isinstance(unit, Unit) and unit != PURE:
        raise CatalogueError(f"{node} is in {unit}, but only a pure number can stand there")
    return PURE
