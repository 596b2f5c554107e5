"""The architecture that the keys of a config.json describe, and what had to be assumed for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from formulas.architecture import (
    Architecture,
    DeltaAttention,
    DeltaNet,
    Experts,
    Heads,
    Indexer,
    Latent,
    Mamba1,
    Mamba2,
)
from formulas.config_checks import check_config, refuse_unread_experts
from formulas.config_keys import MOST_LAYERS, Keys, shown
from formulas.errors import Problem
from formulas.families import Structure, structure_of
from formulas.layers import ffns_of, mixers_of

# Each changes the cache or the count in a way that is not read here.
_NOT_READ = (
    "is_encoder_decoder",
    "block_configs",
    "num_kv_shared_layers",
    "hidden_size_per_layer_input",
    "compress_ratios",
    "use_cla",
)
_USED_EXPERTS = (
    "num_experts_per_tok",
    "experts_per_token",
    "top_k_experts",
    "num_experts_per_token",
)
_STATE_INSTEAD = "state the quantities instead:  n_layers = ..., n_params = ..."


@dataclass(frozen=True, slots=True)
class Reading:
    """An architecture, its keys with the family's defaults, and a sentence for each assumption."""

    architecture: Architecture
    keys: Keys
    assumed: tuple[str, ...]


def architecture_of(keys: Keys, mixers: str | None = None, ffns: str | None = None) -> Reading:
    """The architecture behind the keys; `mixers` and `ffns` where a table gives them already."""
    for name in _NOT_READ:
        if keys.has(name):
            raise keys.problem(f"{name!r} is a layout that is not read here", _STATE_INSTEAD)
    structure = _structure(keys)
    if mixers is None:
        check_config(keys)
    keys, defaulted = _with_defaults(keys, structure)
    n_layers = keys.whole("num_hidden_layers", "n_layer", "num_layers", most=MOST_LAYERS)
    d_model = keys.whole("hidden_size", "n_embd", "d_model")
    mixers = mixers_of(keys, n_layers, structure) if mixers is None else mixers
    experts = _experts(keys, structure)
    if ffns is None:
        ffns = ffns_of(keys, n_layers, 0 if experts is None else experts.count)
    sparse = any(ffn in "EB" for ffn in ffns)
    if sparse and experts is None:
        raise keys.missing("n_routed_experts")
    latent = _latent(keys)
    heads, ungrouped = _heads(keys, d_model, latent)
    has_dense = any(ffn in "DB" for ffn in ffns)
    positions = 0
    if structure.extra_positions is not None:
        positions = keys.whole("max_position_embeddings") + structure.extra_positions
    architecture = Architecture(
        structure=structure,
        d_model=d_model,
        vocab_size=keys.whole("vocab_size"),
        tied=keys.flag("tie_word_embeddings", default=structure.tied),
        mixers=mixers,
        ffns=ffns,
        heads=heads,
        heads_of=MappingProxyType({}) if latent else _heads_of(keys, heads),
        latent=latent,
        indexer=_indexer(keys),
        recurrent=_recurrent(keys, d_model, mixers),
        dense_width=_dense_width(keys, structure, d_model) if has_dense else 0,
        experts=experts if sparse else None,
        positions=positions,
    )
    return Reading(architecture, keys, (*defaulted, *ungrouped))


def _structure(keys: Keys) -> Structure:
    """The family's structure with what this config switches on."""
    model_type = keys.text("model_type")
    known = structure_of(model_type)
    if known is None:
        raise _unknown(keys, model_type)
    structure = known
    changes: dict[str, bool | str | int] = {}
    if keys.flag("attention_bias", default=False):
        changes["qkv_bias"] = True
        changes["output_bias"] = structure.output_bias or structure.attention_bias_on_output
    if keys.flag("mlp_bias", default=False):
        changes["mlp_bias"] = True
    if structure.qk_norm_on_request and keys.flag("use_qk_norm", default=False):
        changes["qk_norm"] = structure.qk_norm_on_request
    if keys.has("new_decoder_architecture") or not keys.flag("parallel_attn", default=True):
        # The Falcons that norm attention and MLP apart.
        changes["norms_per_layer"] = 2
    return replace(structure, **changes)  # type: ignore[arg-type]


def _unknown(keys: Keys, model_type: str) -> Problem:
    """An architecture that is not known is refused by its name, never guessed."""
    if not model_type:
        return Problem("config", f"{keys.where} has no 'model_type'", (_STATE_INSTEAD,), keys.word)
    what = f"the architecture {shown(model_type)} ('model_type') is not known here"
    return keys.problem(what, _STATE_INSTEAD)


def _with_defaults(keys: Keys, structure: Structure) -> tuple[Keys, tuple[str, ...]]:
    """The keys, and for each that is absent what the family's own configuration class has."""
    absent = {name: value for name, value in structure.defaults if name not in keys.values}
    assumed = (f"no {name!r}: the family's default {value}" for name, value in absent.items())
    return replace(keys, values={**keys.values, **absent}), tuple(assumed)


def _heads(keys: Keys, d_model: int, latent: Latent | None) -> tuple[Heads, tuple[str, ...]]:
    """The heads of the usual attention layer, and what was assumed of them."""
    query = keys.whole("num_attention_heads", "n_head", "num_heads")
    if latent is not None:
        # Every head of the query reads the one latent that is cached.
        return Heads(query, 1, latent.nope + latent.rope, latent.value), ()
    assumed: tuple[str, ...] = ()
    kv = keys.maybe("num_key_value_heads", "num_kv_heads", "n_head_kv")
    # Falcon's first generation shares one head even where num_kv_heads says otherwise.
    if keys.flag("multi_query", default=False) and not keys.has("new_decoder_architecture"):
        kv = 1
    if kv is None:
        kv = query
        assumed = (
            f"no 'num_key_value_heads': heads are not grouped, so n_kv_heads = n_heads = {query}",
        )
    d_key = keys.maybe("head_dim", "attention_head_dim")
    if d_key is None:
        if d_model % query:
            raise keys.problem(
                f"'hidden_size' {d_model} is not a multiple of 'num_attention_heads' {query}, "
                "and there is no 'head_dim'",
                "state it:  d_head = ...",
            )
        d_key = d_model // query
    return _grouped(Heads(query, kv, d_key, keys.maybe("v_head_dim") or d_key), keys), assumed


def _heads_of(keys: Keys, usual: Heads) -> Mapping[str, Heads]:
    """The heads of the mixers that do not have the usual ones."""
    special: dict[str, Heads] = {}
    if keys.maybe("swa_num_key_value_heads") is not None:
        special["S"] = Heads(
            query=keys.maybe("swa_num_attention_heads") or usual.query,
            kv=keys.whole("swa_num_key_value_heads"),
            d_key=keys.maybe("swa_head_dim") or usual.d_key,
            d_value=keys.maybe("swa_v_head_dim") or usual.d_value,
            sinks=keys.flag("add_swa_attention_sink_bias", default=False),
        )
    width = keys.maybe("global_head_dim")
    if width is not None:
        special["F"] = Heads(
            query=usual.query,
            kv=keys.maybe("num_global_key_value_heads") or usual.kv,
            d_key=width,
            d_value=width,
            value_is_key=keys.flag("attention_k_eq_v", default=False),
        )
    if keys.flag("add_full_attention_sink_bias", default=False):
        special["F"] = replace(special.get("F", usual), sinks=True)
    return MappingProxyType({mixer: _grouped(heads, keys) for mixer, heads in special.items()})


def _grouped(heads: Heads, keys: Keys) -> Heads:
    if heads.query % heads.kv:
        raise keys.problem(
            f"{heads.query} attention heads are not a multiple of {heads.kv} key-value heads"
        )
    return heads


def _latent(keys: Keys) -> Latent | None:
    kv_rank = keys.maybe("kv_lora_rank")
    if kv_rank is None:
        return None
    return Latent(
        kv_rank=kv_rank,
        q_rank=keys.maybe("q_lora_rank"),
        rope=keys.whole("qk_rope_head_dim"),
        nope=keys.whole("qk_nope_head_dim"),
        value=keys.whole("v_head_dim"),
    )


def _indexer(keys: Keys) -> Indexer | None:
    width = keys.maybe("index_head_dim")
    if width is None:
        return None
    return Indexer(keys.whole("index_n_heads"), width, keys.maybe("index_topk"))


def _recurrent(
    keys: Keys, d_model: int, mixers: str
) -> DeltaNet | DeltaAttention | Mamba2 | Mamba1 | None:
    if "G" in mixers:
        return DeltaNet(
            key_heads=keys.whole("linear_num_key_heads"),
            d_key=keys.whole("linear_key_head_dim"),
            value_heads=keys.whole("linear_num_value_heads"),
            d_value=keys.whole("linear_value_head_dim"),
            kernel=keys.whole("linear_conv_kernel_dim"),
        )
    if "K" in mixers:
        own = keys.section("linear_attn_config")
        return DeltaAttention(
            own.whole("num_heads"), own.whole("head_dim"), own.whole("short_conv_kernel_size")
        )
    if "M" in mixers:
        return _mamba2(keys, d_model)
    if "m" in mixers:
        rank_is_open = keys.values.get("mamba_dt_rank") in (None, "auto")
        return Mamba1(
            inner=keys.whole("mamba_expand") * d_model,
            rank=-(-d_model // 16) if rank_is_open else keys.whole("mamba_dt_rank"),
            state=keys.whole("mamba_d_state"),
            kernel=keys.whole("mamba_d_conv"),
        )
    return None


def _mamba2(keys: Keys, d_model: int) -> Mamba2:
    heads = keys.whole("mamba_n_heads", "mamba_num_heads")
    if keys.values.get("mamba_d_head") == "auto":
        d_head = keys.whole("mamba_expand") * d_model // heads
    else:
        d_head = keys.whole("mamba_d_head", "mamba_head_dim")
    return Mamba2(
        heads=heads,
        d_head=d_head,
        state=keys.whole("mamba_d_state", "ssm_state_size"),
        groups=keys.whole("mamba_n_groups", "n_groups"),
        kernel=keys.whole("mamba_d_conv", "conv_kernel"),
    )


def _dense_width(keys: Keys, structure: Structure, d_model: int) -> int:
    names = ("intermediate_size", "ffn_dim", "n_inner", "ffn_hidden_size")
    if structure.dense_width_key and keys.has(structure.dense_width_key):
        return keys.whole(structure.dense_width_key)
    if structure.dense_width_factor is not None and not any(map(keys.has, names)):
        return structure.dense_width_factor * d_model
    return keys.whole(*names)


def _experts(keys: Keys, structure: Structure) -> Experts | None:
    """The experts of one layer; None where the config has none, or one that every token uses."""
    names = ("n_routed_experts", "num_experts", "num_local_experts")
    count = keys.maybe(*names, least=0)
    if count is None:
        refuse_unread_experts(keys)
        return None
    used = keys.maybe(*_USED_EXPERTS, least=0)
    if used is not None and used > max(count, 1):
        name = next(name for name in names if keys.values.get(name) is not None)
        raise keys.problem(f"a token uses {used} experts, and there are {count} ({name!r})")
    if count <= 1:
        return None
    used = keys.whole(*_USED_EXPERTS)
    width = keys.whole("moe_intermediate_size", "intermediate_size")
    return Experts(count, used, width, _shared_width(keys, structure, width))


def _shared_width(keys: Keys, structure: Structure, width: int) -> int:
    """The width of all shared experts together."""
    if structure.shared_expert_unmentioned:
        return width
    stated = keys.maybe(
        "moe_shared_expert_intermediate_size",
        "shared_expert_intermediate_size",
        "shared_intermediate_size",
        least=0,
    )
    if stated is not None:
        return stated
    return width * (keys.maybe("n_shared_experts", "num_shared_experts", least=0) or 0)
