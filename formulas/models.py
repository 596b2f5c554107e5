"""Models, from the shipped table or from a config.json -> facts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from formulas.architecture import Architecture, count_parameters, moe_layers
from formulas.config_json import CONFIG, is_path, read_keys
from formulas.config_keys import Keys
from formulas.config_shape import architecture_of
from formulas.config_tower import Tower, tower_of
from formulas.config_weights import weights_of
from formulas.model_cache import cache_facts
from formulas.storage import BYTES_PER_ELEMENT
from formulas.tables import Names, dashed, freeze, load

# What owners add to the name of one architecture for its tuned variants.
_VARIANT = re.compile(r"-(instruct|it|chat|base|hf)$")
# "F80", "(SF)12", "D3E58": letters, each with a count or without, or a group of them.
_RUN = re.compile(r"\(([A-Za-z-]+)\)(\d+)|([A-Za-z-])(\d*)")
_LONGEST_NAME = 60

_MIXER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "G": "gated delta net",
        "K": "Kimi delta attention",
        "M": "Mamba-2",
        "m": "Mamba",
        "L": "lightning attention",
    }
)


@dataclass(frozen=True, slots=True)
class Model:
    """One architecture: its facts, the format of its weights, and what to know of them."""

    name: str
    facts: Mapping[str, Fraction]
    # What the model's own config says where that is not bf16 or fp16.
    weight_dtype: str | None
    # What holds of the weights in that format and in no other.
    weight_facts: Mapping[str, Fraction]
    # What the reader assumed because nothing said it.
    assumed: tuple[str, ...]
    # Which layers the first-order cache formula does not describe, and why.
    notes: tuple[str, ...]
    source: tuple[str, ...]
    row: Mapping[str, Any]


@cache
def models() -> Mapping[str, Model]:
    """Every model of the table by canonical name."""
    return MappingProxyType({name: _shipped(name) for name in load("models.toml")["models"]})


def find_model(text: str, stated: Mapping[str, Fraction] | None = None) -> Model:
    """The model that `text` names, or the one that the config.json at the path `text` describes.

    What a person states stands in for keys that the file lacks.
    """
    names = _names()
    # A folder that happens to be called like a model does not hide the model.
    named = "/" not in text and names.exact(text) is not None
    if not named and is_path(text):
        return read_config(text, stated)
    return _shipped(names.resolve(text))


def read_config(path: str, stated: Mapping[str, Fraction] | None = None) -> Model:
    """The model that the config.json at `path`, or in the folder `path`, describes."""
    keys = read_keys(path).with_stated(stated or {})
    file = Path(path)
    named = file.stem if file.suffix and file.name != CONFIG else file.name
    if file.name == CONFIG:
        named = file.resolve().parent.name
    return _model(dashed(named)[:_LONGEST_NAME], keys, (path,))


@cache
def _shipped(name: str) -> Model:
    row = load("models.toml")["models"][name]
    keys = Keys(row, f"models.toml: {name}", name)
    return _model(name, keys, row["source"], expanded(row["layers"]), expanded(row["ffns"]))


def expanded(runs: str) -> str:
    """One letter for each layer, from the short form of data/models.toml."""
    return "".join(
        (group or letter) * int(times or count or 1)
        for group, times, letter, count in _RUN.findall(runs)
    )


def _model(
    name: str,
    keys: Keys,
    source: tuple[str, ...],
    mixers: str | None = None,
    ffns: str | None = None,
) -> Model:
    reading = architecture_of(keys, mixers, ffns)
    weights = weights_of(keys, reading.architecture)
    tower = tower_of(keys, reading.architecture.d_model)
    return Model(
        name=name,
        facts=MappingProxyType({**_facts(reading.architecture, reading.keys), **tower.facts}),
        weight_dtype=weights.dtype,
        weight_facts=_with_tower(weights.facts, tower),
        assumed=reading.assumed,
        notes=(*_notes(reading.architecture, reading.keys), *weights.notes, *tower.notes),
        source=tuple(source),
        row=freeze(dict(keys.values)),
    )


def _with_tower(facts: Mapping[str, Fraction], tower: Tower) -> Mapping[str, Fraction]:
    """A tower that TP copies is among the weights that it copies."""
    name = "replicated_weight_bytes"
    if not (tower.copied and name in facts):
        return facts
    copied = BYTES_PER_ELEMENT["bf16"] * tower.facts["tower_params"]
    return MappingProxyType({**facts, name: facts[name] + copied})


def _facts(a: Architecture, keys: Keys) -> dict[str, Fraction]:
    counts, heads = count_parameters(a), a.heads
    known: dict[str, int | None] = {
        "n_layers": len(a.mixers),
        "d_model": a.d_model,
        "n_heads": heads.query,
        "n_kv_heads": heads.kv,
        "d_head": heads.d_key,
        "vocab_size": a.vocab_size,
        "max_position_embeddings": keys.maybe("max_position_embeddings", "n_positions"),
        "n_params": counts.total,
        "active_params": counts.active,
        "expert_params": counts.expert,
        "embedding_params": counts.embedding,
        "n_experts": a.experts.count if a.experts else 1,
        "experts_per_token": a.experts.used if a.experts else 1,
        "n_moe_layers": moe_layers(a),
        "windowed_layers": len(a.mixers) - _uniform_layers(a),
    }
    if a.latent is not None:
        known |= {
            "kv_lora_rank": a.latent.kv_rank,
            "qk_rope_head_dim": a.latent.rope,
            "qk_nope_head_dim": a.latent.nope,
            "v_head_dim": a.latent.value,
        }
    facts = {name: Fraction(value) for name, value in known.items() if value is not None}
    return facts | cache_facts(a, keys)


def _uniform_layers(a: Architecture) -> int:
    """How many layers cache what the contract's kv_elements_per_token says, for every token."""
    if a.indexer is not None:
        return 0
    if a.latent is None and a.heads_in("F").cached != 2 * a.heads.kv * a.heads.d_key:
        return 0
    return a.mixers.count("F")


def _notes(a: Architecture, keys: Keys) -> tuple[str, ...]:
    """One sentence for each kind of layer that the first-order cache formula does not describe."""
    n_layers = len(a.mixers)
    notes = []
    for mixer, layers in Counter(a.mixers).items():
        some = f"{layers} of {n_layers} layers"
        if mixer == "S":
            window = keys.maybe("sliding_window")
            notes.append(f"{some} cache the last {window or 'few'} tokens only (sliding window)")
        elif mixer == "C":
            chunk = keys.maybe("attention_chunk_size")
            notes.append(f"{some} attend within chunks of {chunk} tokens and cache no more")
        elif mixer in _MIXER_NAMES:
            notes.append(f"{some} keep a fixed state and no cache ({_MIXER_NAMES[mixer]})")
        elif mixer == "-":
            notes.append(f"{some} have a feed-forward only, and no cache")
    usual = 2 * a.heads.kv * a.heads.d_key
    for mixer in () if a.latent else ("F", "S"):
        cached = a.heads_in(mixer).cached
        if mixer in a.mixers and cached != usual:
            kind = "full-attention" if mixer == "F" else "windowed"
            notes.append(
                f"{a.mixers.count(mixer)} {kind} layers cache {cached} elements per token, "
                f"not 2 n_kv_heads d_head = {usual}"
            )
    if a.indexer is not None:
        picked = "a few" if a.indexer.picked is None else f"at most {a.indexer.picked}"
        notes.append(
            f"all {n_layers} layers also cache an indexer key of {a.indexer.width} elements per "
            f"token, and attention reads {picked} tokens"
        )
    return tuple(notes)


@cache
def _names() -> Names:
    data = load("models.toml")
    spellings: dict[str, str] = {}
    for name, row in data["models"].items():
        hub = dashed(row["hf_id"])
        owner = hub.partition("/")[0]
        for bare in (name, hub.partition("/")[2], *row.get("aliases", ())):
            for short in (bare, _VARIANT.sub("", bare)):
                spellings[short] = name
                spellings[f"{owner}/{short}"] = name
    # A canonical name is its own, whatever another model is also called.
    spellings |= {name: name for name in data["models"]}
    return Names(
        kind="model",
        one="model",
        many="models",
        spellings=MappingProxyType(spellings),
        others=frozenset(data["other_products"]),
        readings=_readings,
        describe=lambda name: f"{name} ({_billions(_shipped(name))})",
        listing="derive models lists them; a path to a config.json is read too",
    )


def _readings(text: str) -> tuple[str, ...]:
    word = dashed(text)
    return tuple(dict.fromkeys((word, _VARIANT.sub("", word))))


def _billions(model: Model) -> str:
    return f"{float(model.facts['n_params']) / 1e9:.4g}B"
