"""What the modelling code of a family adds and its config.json does not say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Structure:
    """How the layers of one family are built; the defaults are the usual decoder of today.

    Checked against every exactly published parameter count of the shipped models.
    """

    # The MLP has a gate projection beside up and down; without one it has two matrices.
    mlp_gated: bool = True
    norms_per_layer: int = 2
    # Norms around the experts that stand beside a dense MLP, on top of norms_per_layer.
    norms_beside_experts: int = 0
    # LayerNorm, which has a bias beside its scale.
    norm_bias: bool = False
    qkv_bias: bool = False
    output_bias: bool = False
    # Whether `attention_bias` in the config means the output projection as well.
    attention_bias_on_output: bool = True
    mlp_bias: bool = False
    expert_bias: bool = False
    router_bias: bool = False
    # "per_head" (one scale for each element of a head), "full" (one for each column), or "".
    qk_norm: str = ""
    # The same where the config asks for it by `use_qk_norm`.
    qk_norm_on_request: str = ""
    # One learned logit for each query head.
    sinks: bool = False
    # The query projection also makes a gate for the output.
    output_gate: bool = False
    # One column that weighs the shared expert.
    shared_expert_gate: bool = False
    # A shared expert as wide as a routed one, which no key of the config mentions.
    shared_expert_unmentioned: bool = False
    # Whether the head is the embedding where the config does not say.
    tied: bool = False
    # Rows of learned positions beyond max_position_embeddings; None: no learned positions.
    extra_positions: int | None = None
    # The key of the width of a dense MLP, before the usual ones.
    dense_width_key: str = ""
    # The width of a dense MLP over d_model where no key gives it.
    dense_width_factor: int | None = None
    # Whether `sliding_window` holds without `use_sliding_window`.
    window_without_switch: bool = True
    # How the mixers repeat where no key says: full attention in every layer but these.
    default_mixers: str = "F"
    # A list that the config must have, because nothing else tells attention from the rest.
    layout_key: str = ""
    # What the family's configuration class takes for a key that the config leaves out.
    defaults: tuple[tuple[str, int], ...] = ()
    # What `linear_attention` in layer_types stands for.
    linear_mixer: str = "G"


_USUAL = Structure()
_WINDOW_BY_SWITCH = Structure(window_without_switch=False)
_QWEN2 = Structure(qkv_bias=True, window_without_switch=False)
_QWEN2_MOE = Structure(qkv_bias=True, window_without_switch=False, shared_expert_gate=True)
_QWEN3 = Structure(qk_norm="per_head", window_without_switch=False)
_QWEN3_NEXT = Structure(
    qk_norm="per_head", output_gate=True, shared_expert_gate=True, layout_key="layer_types"
)
_GEMMA_HEADS = (("num_attention_heads", 8), ("num_key_value_heads", 4), ("head_dim", 256))
_GEMMA2 = Structure(
    norms_per_layer=4,
    tied=True,
    default_mixers="SF",
    defaults=(*_GEMMA_HEADS, ("vocab_size", 256_000), ("sliding_window", 4096)),
)
_GEMMA3 = Structure(
    norms_per_layer=4,
    qk_norm="per_head",
    tied=True,
    default_mixers="SSSSSF",
    defaults=(
        *_GEMMA_HEADS,
        ("vocab_size", 262_208),
        ("sliding_window", 4096),
        ("max_position_embeddings", 131_072),
    ),
)
_GEMMA4 = Structure(
    norms_per_layer=4,
    norms_beside_experts=3,
    qk_norm="per_head",
    tied=True,
    layout_key="layer_types",
)
_LLAMA4 = Structure(
    shared_expert_unmentioned=True, dense_width_key="intermediate_size_mlp", default_mixers="CCCF"
)
_DEEPSEEK_V3 = Structure(router_bias=True)
_MINIMAX = Structure(linear_mixer="L", layout_key="attn_type_list")
_GLM4_MOE = Structure(
    router_bias=True, qk_norm_on_request="per_head", attention_bias_on_output=False
)
_BIASED = Structure(mlp_gated=False, norm_bias=True, qkv_bias=True, output_bias=True, mlp_bias=True)
_COHERE = Structure(norms_per_layer=1, qk_norm_on_request="full", tied=True)

_FAMILIES: Mapping[str, Structure] = MappingProxyType(
    {
        "llama": _USUAL,
        "granite": _USUAL,
        "mistral": _USUAL,
        "mixtral": _USUAL,
        "phi3": _USUAL,
        "deepseek_v2": _USUAL,
        "deepseek_v3": _DEEPSEEK_V3,
        "deepseek_v32": _DEEPSEEK_V3,
        "kimi_k2": _DEEPSEEK_V3,
        "glm_moe_dsa": _DEEPSEEK_V3,
        "glm4_moe": _GLM4_MOE,
        "mimo_v2_flash": Structure(router_bias=True, layout_key="hybrid_layer_pattern"),
        "gpt_oss": Structure(
            qkv_bias=True,
            output_bias=True,
            expert_bias=True,
            router_bias=True,
            sinks=True,
            default_mixers="SF",
        ),
        "qwen2": _QWEN2,
        "qwen2_vl": _QWEN2,
        "qwen2_vl_text": _QWEN2,
        "qwen2_5_vl": _QWEN2,
        "qwen2_5_vl_text": _QWEN2,
        "qwen2_moe": _QWEN2_MOE,
        "qwen3": _QWEN3,
        "qwen3_moe": _QWEN3,
        "qwen3_next": _QWEN3_NEXT,
        "qwen3_5": _QWEN3_NEXT,
        "qwen3_5_text": _QWEN3_NEXT,
        "qwen3_5_moe": _QWEN3_NEXT,
        "qwen3_5_moe_text": _QWEN3_NEXT,
        "gemma": Structure(tied=True, defaults=(("head_dim", 256),)),
        "gemma2": _GEMMA2,
        "gemma3": _GEMMA3,
        "gemma3_text": _GEMMA3,
        "gemma4": _GEMMA4,
        "gemma4_text": _GEMMA4,
        "llama4": _LLAMA4,
        "llama4_text": _LLAMA4,
        "cohere": _COHERE,
        "falcon": Structure(
            mlp_gated=False, norms_per_layer=1, norm_bias=True, tied=True, dense_width_factor=4
        ),
        "opt": Structure(
            mlp_gated=False,
            norm_bias=True,
            qkv_bias=True,
            output_bias=True,
            mlp_bias=True,
            tied=True,
            extra_positions=2,
        ),
        "jamba": Structure(layout_key="attn_layer_period"),
        "bamba": Structure(layout_key="attn_layer_indices"),
        "granitemoehybrid": Structure(
            layout_key="layer_types", dense_width_key="shared_intermediate_size"
        ),
        "nemotron_h": Structure(
            mlp_gated=False,
            norms_per_layer=1,
            router_bias=True,
            layout_key="hybrid_override_pattern",
        ),
        "minimax_m1": _MINIMAX,
        "minimax_text_01": _MINIMAX,
        "minimax": Structure(linear_mixer="L", layout_key="layer_types"),
        **dict.fromkeys(("mistral3", "ministral3", "granitemoe", "deepseek", "ernie4_5"), _USUAL),
        **dict.fromkeys(("smollm3", "internlm2", "internlm3", "baichuan", "exaone"), _USUAL),
        **dict.fromkeys(("qwen3_vl", "qwen3_vl_text"), _QWEN3),
        **dict.fromkeys(("qwen3_vl_moe", "qwen3_vl_moe_text"), _QWEN3),
        **dict.fromkeys(("glm4v_moe", "glm4v_moe_text"), _GLM4_MOE),
        **dict.fromkeys(
            ("glm4", "glm4v", "glm4v_text"),
            Structure(norms_per_layer=4, attention_bias_on_output=False),
        ),
        "glm": Structure(attention_bias_on_output=False),
        "seed_oss": Structure(attention_bias_on_output=False),
        "arcee": Structure(mlp_gated=False),
        "nemotron": Structure(mlp_gated=False, norm_bias=True),
        "stablelm": Structure(norm_bias=True),
        "olmo2": Structure(qk_norm="full"),
        "olmoe": Structure(qk_norm="full"),
        "olmo3": Structure(qk_norm="full", layout_key="layer_types"),
        "exaone4": Structure(qk_norm="per_head", layout_key="layer_types"),
        "hunyuan_v1_dense": Structure(qk_norm="per_head"),
        "dots1": Structure(qk_norm="per_head", router_bias=True),
        "cohere2": Structure(norms_per_layer=1, tied=True, default_mixers="SSSF"),
        "starcoder2": replace(_BIASED, tied=True),
        "gpt_neox": _BIASED,
        "bloom": replace(_BIASED, tied=True, dense_width_factor=4),
        "kimi_linear": Structure(router_bias=True, layout_key="linear_attn_config"),
        "minimax_m2": Structure(router_bias=True, qk_norm_on_request="full"),
    }
)


def structure_of(model_type: str) -> Structure | None:
    """The structure of a family by its `model_type`, or None where it is not known."""
    return _FAMILIES.get(model_type)
