"""Arrays of the matrix and indexed formulas; each belongs to its formula, as FORMULA.NAME.

A scalar that only one array formula speaks of, such as an index, stands here too. Dimensions are
named: two arrays of a formula that share a name share a size.
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
    INTEGER,
    NOT_NEGATIVE,
    POSITIVE,
    REAL,
    SHARE,
    Quantity,
    parse_unit_of,
)
from formulas.tensors import BlockHash, MatrixFunction, OverIndex, Softmax
from formulas.units import Unit

_ATTENTION = r"\text{Attention}(Q, K, V)"
_TABLE = r"\text{block table}"


def _belongs(formula: str, *rows: tuple[Any, ...]) -> tuple[Quantity, ...]:
    """The quantities of one formula, from rows of name, shape, letter, unit, domain, meaning."""
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
        for name, shape, letter, unit, domain, meaning in rows
    )


ARRAYS: tuple[Quantity, ...] = (
    *_belongs(
        "attention",
        ("Q", "n_q d_k", "Q", "1", REAL, "queries, a row for each token that looks"),
        ("K", "n_k d_k", "K", "1", REAL, "keys, a row for each token that is looked at"),
        ("V", "n_k d_v", "V", "1", REAL, "values, a row for each token that is looked at"),
        ("M", "n_q n_k", "M", "1", REAL, "0 where a token may look, minus infinity where not"),
        ("d_k", "", "d_k", "1", COUNT, "elements of a key"),
        ("attention_output", "n_q d_v", _ATTENTION, "1", REAL, "what each token gathers"),
    ),
    *_belongs(
        "decoder_layer",
        ("x", "n d_model", "x", "1", REAL, "residual stream, a row for each token"),
        ("h", "n d_model", "h", "1", REAL, "residual stream after attention"),
        ("layer_output", "n d_model", "x'", "1", REAL, "residual stream after the layer"),
    ),
    *_belongs(
        "softmax_temperature",
        ("logits", "vocab", "z", "1", REAL, "score of each token of the vocabulary"),
        ("i", "", "i", "1", COUNT_OR_NONE, "position in the vocabulary, from 0"),
    ),
    *_belongs(
        "decode_step_kv",
        ("context_lengths", "batch", "n", "1", COUNT_OR_NONE, "cached tokens of each sequence"),
    ),
    *_belongs(
        "locked_batch_utilization",
        ("output_lengths", "batch", "L", "1", COUNT, "tokens that each request generates"),
    ),
    *_belongs(
        "paged_block_lookup",
        ("block_table", "n_blocks", _TABLE, "1", COUNT_OR_NONE, "where each block is in memory"),
    ),
    *_belongs(
        "prefix_block_hash",
        ("parent_hash", "", "h_{i-1}", "hash", REAL, "hash of the block before"),
        ("block_tokens", "block_size", r"\text{tokens}_i", "1", REAL, "tokens of the block"),
        ("extra_keys", "", r"\text{extra keys}", "tuple", REAL, "what else changes the cache"),
        ("block_hash", "", "h_i", "hash", REAL, "hash of the block and of all before it"),
    ),
    *_belongs(
        "speculative_acceptance",
        ("target_distribution", "vocab", "p", "1", SHARE, "what the target would sample from"),
        ("draft_distribution", "vocab", "q", "1", SHARE, "what the draft sampled from"),
        ("residual_distribution", "vocab", "p'", "1", SHARE, "what follows a rejection"),
    ),
    *_belongs(
        "integer_quantization",
        ("weights", "group", "w", "1", REAL, "weights that share a scale"),
        ("group_scale", "", "s", "1", POSITIVE, "step of the grid of the group"),
        ("quantized_weights", "group", "q", "1", INTEGER, "the weights in whole steps"),
        ("dequantized_weights", "group", r"\hat{w}", "1", REAL, "weights to compute with"),
    ),
    *_belongs(
        "constrained_decoding",
        ("logits", "vocab", "z", "1", REAL, "score of each token of the vocabulary"),
        ("allowed", "vocab", r"\text{valid}", "bool", SHARE, "whether the token keeps it valid"),
        ("masked_logits", "vocab", r"\tilde{z}", "1", REAL, "scores, minus infinity where barred"),
        ("i", "", "i", "1", COUNT_OR_NONE, "position in the vocabulary, from 0"),
    ),
    *_belongs(
        "lora_forward",
        ("W", "d_out d_in", "W", "1", REAL, "frozen weights"),
        ("A", "r d_in", "A", "1", REAL, "adapter, first factor"),
        ("B", "d_out r", "B", "1", REAL, "adapter, second factor"),
        ("x", "n d_in", "x", "1", REAL, "inputs, one a row"),
        ("merged_weight", "d_out d_in", "W'", "1", REAL, "weights with the adapter merged in"),
        ("lora_output", "n d_out", "y", "1", REAL, "outputs, one a row"),
    ),
    *_belongs(
        "goodput",
        ("request_ttfts", "n", r"\text{TTFT}", "s", NOT_NEGATIVE, "TTFT of each request"),
        ("request_tpots", "n", r"\text{TPOT}", "s", NOT_NEGATIVE, "TPOT of each request"),
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
    """The unit rules of array nodes: an entry has its array's unit, an index is a pure number."""

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
