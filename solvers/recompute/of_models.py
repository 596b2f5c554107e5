"""Reference numbers that follow from the shape of models: sizes, caches, weights, adapters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import prod

from formulas.architecture import Architecture, count_parameters
from formulas.config_keys import Keys
from formulas.config_shape import architecture_of
from formulas.formula import VOCABULARY
from formulas.models import expanded, models
from formulas.storage import BYTES_PER_ELEMENT
from solvers.recompute.figures import Figures, Recomputation, Several, calculated

LLAMA_31 = ("llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b")
ONE = Fraction(1)
BF16, FP8 = BYTES_PER_ELEMENT["bf16"], BYTES_PER_ELEMENT["fp8"]


def mlp_shares() -> Mapping[str, Fraction]:
    """The share of the MLPs in the parameters of every dense model of the table."""
    dense = {name: _architecture(name) for name in models()}
    return {name: _mlp_share(a) for name, a in dense.items() if a.experts is None}


def _facts(name: str) -> Mapping[str, Fraction]:
    return models()[name].facts


def _architecture(name: str) -> Architecture:
    row = models()[name].row
    return architecture_of(Keys(row), expanded(row["layers"]), expanded(row["ffns"])).architecture


def _mlp_share(a: Architecture) -> Fraction:
    """What the parameter count loses with the feed-forwards, over the whole count."""
    whole = count_parameters(a).total
    bare = count_parameters(replace(a, ffns="-" * len(a.ffns))).total
    return Fraction(whole - bare, whole)


def _vocabulary_size() -> Figures:
    named = {"llama-3": "llama-3.1-8b", "qwen3": "qwen3-8b"}
    return {family: _facts(name)["vocab_size"] for family, name in named.items()}


def _layer_count() -> Figures:
    return {size: _facts(f"llama-3.1-{size}")["n_layers"] for size in ("8b", "70b")}


def _attention_heads() -> Figures:
    small, large = _facts("llama-3.1-8b"), _facts("llama-3.1-70b")
    return {
        "query_heads": small["n_heads"],
        "d_head": small["d_head"],
        "kv_heads": Several((small["n_kv_heads"], large["n_kv_heads"])),
        "70b_query_heads": large["n_heads"],
    }


def _embedding_table() -> Figures:
    facts = _facts("llama-3.1-8b")
    # embedding_params of the facts counts the head as well, which Llama 3.1 does not tie.
    parameters = facts["vocab_size"] * facts["d_model"]
    return {
        "rows": facts["vocab_size"],
        "columns": facts["d_model"],
        "parameters": parameters,
        "bf16_bytes": calculated("weight_bytes", n_params=parameters, bytes_per_weight=BF16),
        "fraction_of_model": parameters / facts["n_params"],
    }


def _dense_parameter_split() -> Figures:
    shares = mlp_shares()
    return {"mlp_fraction": Several((shares["llama-2-7b"], shares["llama-3.1-8b"]))}


def _cache_of_a_token(name: str, **changed: Fraction) -> Fraction:
    format_of_cache = {"kv_bytes_per_element": BF16}
    return calculated("kv_bytes_per_token", _facts(name), format_of_cache, **changed)


def _cache(name: str) -> Figures:
    one_token = _cache_of_a_token(name)
    conversation = calculated(
        "deployment.kv_bytes_per_gpu",
        batch=ONE,
        dp=ONE,
        context_tokens=Fraction(8192),
        kv_bytes_per_token_per_gpu=one_token,
    )
    return {"bytes": one_token, "bytes_for_8192_tokens": conversation}


def _weights(name: str, bytes_per_weight: Fraction = BF16) -> Fraction:
    return calculated("weight_bytes", _facts(name), bytes_per_weight=bytes_per_weight)


def _grouped_heads() -> Figures:
    """Every head with a key and value of its own, against the groups that Llama 3.1 has."""
    times = sorted(
        _cache_of_a_token(name, n_kv_heads=_facts(name)["n_heads"]) / _cache_of_a_token(name)
        for name in LLAMA_31
    )
    return {"times_smaller": (times[0], times[-1])}


def _latent_cache() -> Figures:
    """The latent of DeepSeek-V3 against keys and values of its value heads: 8 of them, or all."""
    facts = _facts("deepseek-v3")
    latent = calculated("deployment.kv_elements_per_token.mla", facts)

    def times_smaller(n_kv_heads: Fraction) -> Fraction:
        shared = {"n_kv_heads": n_kv_heads, "d_head": facts["v_head_dim"]}
        return calculated("deployment.kv_elements_per_token", facts, shared) / latent

    return {
        "times_smaller_than_gqa8": times_smaller(Fraction(8)),
        "times_smaller_than_mha": times_smaller(facts["n_heads"]),
    }


def _narrow_cache() -> Fraction:
    """The cache of a token in FP8 over that in BF16."""
    narrow = _cache_of_a_token("llama-3.1-8b", kv_bytes_per_element=FP8)
    return narrow / _cache_of_a_token("llama-3.1-8b")


def _adapters() -> Figures:
    """An adapter of each linear layer of Llama 3.1 8B, in BF16, at rank 8 and at rank 16."""
    sizes = (
        calculated("weight_bytes", n_params=Fraction(_adapter_params(rank)), bytes_per_weight=BF16)
        for rank in (8, 16)
    )
    return {"whole_model_adapter_bytes": tuple(sizes)}


def _adapter_params(rank: int) -> int:
    a = _architecture("llama-3.1-8b")
    heads = a.heads
    query, key = heads.query * heads.d_key, heads.kv * heads.d_key
    value, output = heads.kv * heads.d_value, heads.query * heads.d_value
    attention = [(a.d_model, query), (a.d_model, key), (a.d_model, value), (output, a.d_model)]
    # Gate and up, then down.
    mlp = [(a.d_model, a.dense_width)] * 2 + [(a.dense_width, a.d_model)]
    each = (thin_matrices(d_in, d_out, rank) for d_in, d_out in (*attention, *mlp))
    return len(a.mixers) * sum(each)


def thin_matrices(d_in: int, d_out: int, rank: int) -> int:
    """Elements of the two matrices of lora_forward beside a matrix of d_out by d_in.

    lora_size is this over d_in d_out where the matrix is square.
    """
    sizes = {"d_in": d_in, "d_out": d_out, "r": rank}
    shapes = (VOCABULARY[f"lora_forward.{matrix}"].shape for matrix in "AB")
    return sum(prod(sizes[dimension] for dimension in shape) for shape in shapes)


def _tensor_parallel_limit() -> Figures:
    return {
        "kv_heads": Several(tuple(_facts(name)["n_kv_heads"] for name in LLAMA_31)),
        "tp_that_replicates": Several(tuple(_first_that_replicates(name) for name in LLAMA_31)),
    }


def _first_that_replicates(name: str) -> Fraction:
    """The least TP at which the GPUs together hold more than one copy of the cache."""
    one_token = _cache_of_a_token(name)

    def on_each_gpu(tp: Fraction) -> Fraction:
        layout = {"stage_share": ONE, "tp": tp, "kv_bytes_per_token": one_token}
        return calculated("deployment.kv_bytes_per_token_per_gpu", _facts(name), layout)

    choices = VOCABULARY["tp"].domain.choices
    return next(tp for tp in choices if tp * on_each_gpu(tp) > one_token)


def _deepseek_parameters() -> Figures:
    facts = _facts("deepseek-v3")
    return {"total": facts["n_params"], "active": facts["active_params"]}


def _weight_memory() -> Figures:
    return {
        "dense_70b": _weights("llama-3.1-70b"),
        "moe_30b_a3b": _weights("qwen3-30b-a3b"),
        "moe_671b": _weights("deepseek-v3"),
        "moe_671b_fp8": _weights("deepseek-v3", FP8),
    }


OF_MODELS: Mapping[str, Recomputation] = {
    "vocabulary_size": _vocabulary_size,
    "llama31_layer_count": _layer_count,
    "llama31_8b_attention_heads": _attention_heads,
    "llama31_8b_embedding_table": _embedding_table,
    "dense_parameter_split": _dense_parameter_split,
    "llama31_8b_kv_per_token": lambda: _cache("llama-3.1-8b"),
    "llama31_70b_kv_per_token": lambda: _cache("llama-3.1-70b"),
    "8b_weights_bf16": lambda: {"bytes": _weights("llama-3.1-8b")},
    "llama31_70b_weights_bf16": lambda: {"bytes": _weights("llama-3.1-70b")},
    "gqa_vs_mha_cache": _grouped_heads,
    "mla_cache": _latent_cache,
    "fp8_kv_capacity": lambda: {"times": 1 / _narrow_cache()},
    "fp8_kv_cache": lambda: {"fraction_of_bf16": _narrow_cache()},
    "lora_rank": _adapters,
    "llama31_tp_limit": _tensor_parallel_limit,
    "deepseek_v3_parameters": _deepseek_parameters,
    "bf16_weight_memory": _weight_memory,
}
