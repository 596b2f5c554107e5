"""What a config.json must say before anything is computed from it, family by family."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from formulas.config_keys import Keys, shown

_GROUPED = ("num_key_value_heads",)
_WIDE_HEADS = ("head_dim", *_GROUPED)
_LATENT = (
    "n_routed_experts",
    "moe_intermediate_size",
    "n_shared_experts",
    "first_k_dense_replace",
    "kv_lora_rank",
    "q_lora_rank",
)
_INDEXED = (*_LATENT, "index_head_dim")
_QWEN3_5 = (*_WIDE_HEADS, "mamba_ssm_dtype")
_SHARED = ("num_experts", "moe_intermediate_size", "shared_expert_intermediate_size")
_LOCAL = (*_GROUPED, "num_local_experts")

# Keys without which another shape would be read that looks as right; null is an answer. What a
# family's own configuration class would take instead is another model's.
_REQUIRED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys(("qwen2", "qwen2_vl", "qwen2_vl_text", "qwen2_5_vl"), _GROUPED),
        **dict.fromkeys(("qwen2_5_vl_text", "mistral", "granite", "cohere", "phi3"), _GROUPED),
        **dict.fromkeys(("mistral3", "ministral3", "cohere2", "olmo3", "starcoder2"), _GROUPED),
        **dict.fromkeys(("smollm3", "seed_oss", "exaone4", "internlm3", "ernie4_5"), _GROUPED),
        "qwen2_moe": (*_GROUPED, *_SHARED),
        **dict.fromkeys(("qwen3", "qwen3_vl", "qwen3_vl_text", "glm4"), _WIDE_HEADS),
        **dict.fromkeys(
            ("qwen3_moe", "qwen3_vl_moe", "qwen3_vl_moe_text"),
            (*_WIDE_HEADS, "num_experts", "moe_intermediate_size"),
        ),
        "qwen3_next": (*_WIDE_HEADS, *_SHARED),
        **dict.fromkeys(("qwen3_5", "qwen3_5_text"), _QWEN3_5),
        **dict.fromkeys(("qwen3_5_moe", "qwen3_5_moe_text"), (*_QWEN3_5, *_SHARED)),
        **dict.fromkeys(("deepseek_v2", "deepseek_v3", "kimi_k2"), _LATENT),
        **dict.fromkeys(("deepseek_v32", "glm_moe_dsa"), _INDEXED),
        "glm4_moe": (
            *_WIDE_HEADS,
            "n_routed_experts",
            "moe_intermediate_size",
            "n_shared_experts",
            "first_k_dense_replace",
        ),
        "mixtral": _LOCAL,
        "granitemoe": _LOCAL,
        "olmoe": ("num_experts", *_GROUPED),
        "dots1": ("n_routed_experts", "moe_intermediate_size", "n_shared_experts", *_GROUPED),
        "kimi_linear": ("num_experts", "moe_intermediate_size", "num_shared_experts", *_WIDE_HEADS),
        "minimax_m1": ("head_dim", *_LOCAL),
        "minimax_m2": ("head_dim", *_LOCAL),
        "gpt_oss": ("head_dim", "sliding_window", *_LOCAL),
        **dict.fromkeys(
            ("gemma4", "gemma4_text"),
            (*_WIDE_HEADS, "global_head_dim", "num_global_key_value_heads", "sliding_window"),
        ),
        "mimo_v2_flash": (
            *_WIDE_HEADS,
            "n_routed_experts",
            "moe_intermediate_size",
            "moe_layer_freq",
            "swa_num_key_value_heads",
            "sliding_window",
        ),
        "jamba": (*_GROUPED, "num_experts"),
        "bamba": _GROUPED,
        "granitemoehybrid": _GROUPED,
        "nemotron_h": _GROUPED,
    }
)
# Counts and widths of experts under names that are not read here.
_EXPERTS = ("expert", "moe_num", "moe_k")
_FORMATS = frozenset(("", "float32", "float16", "bfloat16", "half", "auto"))


def check_config(keys: Keys) -> None:
    """A Problem that names the key where one is missing, or where two contradict each other."""
    for name in _REQUIRED.get(keys.text("model_type"), ()):
        if name not in keys.values:
            raise keys.missing(name)
    for name in ("torch_dtype", "dtype"):
        value = keys.text(name).removeprefix("torch.")
        if value not in _FORMATS and not value.startswith("float8"):
            raise keys.problem(f"{name!r} is {shown(value)}, which is no format known here")
    _inside(keys)


def refuse_unread_experts(keys: Keys) -> None:
    """A Problem where a config without a count of experts speaks of experts all the same."""
    for name, value in keys.values.items():
        speaks = any(part in name for part in _EXPERTS)
        if speaks and _is_count(value):
            raise keys.problem(f"{shown(name)} is of experts, and no key says how many there are")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 1


def _inside(keys: Keys) -> None:
    """Numbers of layers are numbers of layers that there are."""
    layers = keys.maybe("num_hidden_layers", "n_layer", "num_layers")
    if layers is None:
        return
    dense = keys.maybe("first_k_dense_replace", least=0) or 0
    if dense > layers:
        raise keys.problem(
            f"'first_k_dense_replace' is {dense}, and 'num_hidden_layers' is {layers}"
        )
    for name in ("mlp_only_layers", "moe_layers", "attn_layer_indices"):
        for layer in keys.wholes(name) or ():
            if layer >= layers:
                raise keys.problem(f"{name!r} holds {layer}, and 'num_hidden_layers' is {layers}")
    for name in ("full_attention_interval", "attn_layer_period"):
        interval = keys.maybe(name)
        if interval is not None and interval > layers:
            raise keys.problem(f"{name!r} is {interval}, and 'num_hidden_layers' is {layers}")
