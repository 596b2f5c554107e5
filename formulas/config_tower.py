"""The tower for images that a config.json describes beside its text model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from formulas.config_keys import MOST_LAYERS, Keys, shown


@dataclass(frozen=True, slots=True)
class Tower:
    """The facts of a tower, and a sentence where its parameters cannot be counted."""

    facts: Mapping[str, Fraction]
    notes: tuple[str, ...] = ()
    # Whether every GPU of TP holds it in full.
    copied: bool = False


@dataclass(frozen=True, slots=True)
class _Family:
    """How one family builds its tower: a gated MLP or not, and what merges its patches."""

    gated: bool
    # The patches of one token pass two matrices: as wide as the patches together, or as the text.
    merger_is_wide: bool
    copied: bool = False


_FAMILIES: Mapping[str, _Family] = MappingProxyType(
    {
        "qwen3_5": _Family(gated=False, merger_is_wide=True),
        "qwen3_5_moe": _Family(gated=False, merger_is_wide=True),
        "qwen3_vl": _Family(gated=False, merger_is_wide=True),
        "qwen2_5_vl": _Family(gated=True, merger_is_wide=True),
        "moonvit": _Family(gated=False, merger_is_wide=True, copied=True),
        "pixtral": _Family(gated=True, merger_is_wide=False),
        "siglip_vision_model": _Family(gated=False, merger_is_wide=False),
    }
)


def tower_of(keys: Keys, d_model: int) -> Tower:
    """The heads and parameters of the tower; no facts where there is none."""
    config = keys.section("vision_config")
    if not config.values:
        return Tower(MappingProxyType({}))
    heads = config.maybe("num_heads", "num_attention_heads")
    facts = {} if heads is None else {"vision_heads": Fraction(heads)}
    kind = config.text("model_type")
    family = _FAMILIES.get(kind)
    if family is None:
        said = f"{shown(kind)} is not known here" if kind else "it has no 'model_type'"
        note = f"the tower for images is not counted: {said}"
        return Tower(MappingProxyType(facts), (note,))
    facts["tower_params"] = Fraction(_parameters(config, family, d_model))
    return Tower(MappingProxyType(facts), copied=family.copied)


def _parameters(config: Keys, family: _Family, d_text: int) -> int:
    """The matrices of the blocks, the patch embedding and the merger."""
    width = config.whole("hidden_size")
    layers = config.whole("depth", "num_hidden_layers", most=MOST_LAYERS)
    inner = config.whole("intermediate_size")
    patch = config.whole("patch_size")
    frames = config.maybe("temporal_patch_size") or (2 if family.merger_is_wide else 1)
    block = 4 * width * width + (3 if family.gated else 2) * width * inner
    embedding = 3 * frames * patch * patch * width
    if family.merger_is_wide:
        merged = width * (config.maybe("spatial_merge_size") or 2) ** 2
        merger = merged * merged + merged * d_text
    else:
        merger = width * d_text + d_text * d_text
    return layers * block + embedding + merger
