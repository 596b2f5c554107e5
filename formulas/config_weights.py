"""How the checkpoint behind a config.json stores its weights, and which of them stay wide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

from formulas.architecture import Architecture, count_parameters
from formulas.config_keys import Keys, shown
from formulas.module_names import patterns_of
from formulas.module_weights import narrow_params, replicated_params
from formulas.storage import BYTES_PER_ELEMENT

# Methods whose name is the format.
_BY_NAME: Mapping[str, str] = MappingProxyType(
    {"fp8": "fp8", "fbgemm_fp8": "fp8", "mxfp4": "mxfp4", "nvfp4": "nvfp4"}
)
# Methods of integers, which state their bits.
_INTEGERS = frozenset({"gptq", "awq", "gptq_marlin", "awq_marlin", "auto-round"})
_BY_BITS: Mapping[int, str] = MappingProxyType({4: "int4", 8: "int8"})
_BY_ALGORITHM: Mapping[str, str] = MappingProxyType({"FP8": "fp8", "NVFP4": "nvfp4"})
_BY_TYPE: Mapping[tuple[str, int], str] = MappingProxyType(
    {("float", 8): "fp8", ("float", 4): "nvfp4", ("int", 8): "int8", ("int", 4): "int4"}
)
# The keys under which methods list the modules that they leave alone.
_KEPT = ("modules_to_not_convert", "ignore", "exclude_modules", "ignored_layers")
_LARGEST_GROUP = 1 << 16
# Engines' kernels for experts in MXFP4 take widths in multiples of this.
_MXFP4_MULTIPLE = 256


@dataclass(frozen=True, slots=True)
class Weights:
    """The format where it is narrower than BF16, what holds in that format, and what to know."""

    dtype: str | None
    notes: tuple[str, ...] = ()
    facts: Mapping[str, Fraction] = field(default_factory=lambda: MappingProxyType({}))


def weights_of(keys: Keys, a: Architecture | None = None) -> Weights:
    """The format of the checkpoint's weights; None where they have 16 bits, or are not known.

    With the architecture, `facts` say how many parameters stay wide and how the rest is blocked.
    """
    config = keys.section("quantization_config")
    if not config.values:
        if _stored(keys) == "float32":
            return Weights(None, ("the checkpoint is in float32; weights are taken as bf16",))
        return Weights("fp8" if _stored(keys).startswith("float8") else None)
    method = config.text("quant_method").lower()
    formats = _formats(config, method)
    if len(formats) != 1:
        said = "several formats" if formats else f"the quantization {shown(method)}"
        unknown = f"{said} that are not told apart here" if formats else f"{said} is not known here"
        return Weights(None, (f"{unknown}; weights are taken as bf16",))
    (dtype,) = formats
    kept = tuple(name for key in _KEPT for name in config.texts(key) or ())
    facts: dict[str, Fraction] = {}
    notes = []
    if kept:
        named = ", ".join(map(shown, kept[:4])) + (" and others" if len(kept) > 4 else "")
        notes.append(f"not in {dtype} but in 16 bits: {named}")
    patterns = patterns_of(kept)
    if a is not None:
        facts["wide_params"] = Fraction(
            count_parameters(a).total - narrow_params(a, patterns.matches)
        )
        facts |= _padded(a, dtype)
        facts |= _absorbed(a)
        facts |= _blocks(config, method, a)
        if patterns.unread:
            few = ", ".join(map(shown, patterns.unread[:3]))
            notes.append(f"patterns that are not read here, so that weights may be more: {few}")
    facts |= _with_scales(config, method, dtype)
    if a is not None and (a.latent is not None or a.experts is not None):
        narrow, wide = replicated_params(a, patterns.matches)
        size = facts.get("bytes_per_weight", BYTES_PER_ELEMENT[dtype])
        facts["replicated_weight_bytes"] = narrow * size + BYTES_PER_ELEMENT["bf16"] * wide
    return Weights(dtype, tuple(notes), MappingProxyType(facts))


def _stored(keys: Keys) -> str:
    return keys.text("torch_dtype") or keys.text("dtype")


def _formats(config: Keys, method: str) -> set[str]:
    """The formats of the quantized weights; none where they are not known."""
    found: set[str | None] = set()
    if method in _BY_NAME:
        found = {_BY_NAME[method]}
    elif method in _INTEGERS:
        found = {_BY_BITS.get(config.maybe("bits", "w_bit") or 0)}
    elif method == "bitsandbytes":
        found = {"int4" if config.flag("load_in_4bit", default=False) else "int8"}
    elif method == "modelopt":
        found = {_BY_ALGORITHM.get(config.text("quant_algo").upper())}
    elif method == "compressed-tensors":
        found = {
            _BY_TYPE.get((weights.text("type"), weights.maybe("num_bits") or 0))
            for weights in _groups(config)
        }
    return {name for name in found if name} if None not in found else set()


def _groups(config: Keys) -> list[Keys]:
    groups = config.section("config_groups")
    return [groups.section(name).section("weights") for name in groups.values]


def _group_size(config: Keys, method: str) -> int | None:
    """Weights that share a scale along a row; None where the config does not say."""
    if method == "compressed-tensors":
        sizes = {weights.maybe("group_size", least=-1) for weights in _groups(config)}
        size = sizes.pop() if len(sizes) == 1 else None
    else:
        size = config.maybe("group_size", "q_group_size", least=-1, most=_LARGEST_GROUP)
    return size if size is not None and size > 0 else None


def _with_scales(config: Keys, method: str, dtype: str) -> dict[str, Fraction]:
    """Bytes of an integer weight with its part of the scale and of the zero point of its group."""
    size = _group_size(config, method)
    if dtype != "int4" or size is None:
        return {}
    zero_point = 0 if method == "compressed-tensors" else Fraction(4, 8 * size)
    return {"bytes_per_weight": Fraction(1, 2) + Fraction(16, 8 * size) + zero_point}


def _blocks(config: Keys, method: str, a: Architecture) -> dict[str, Fraction]:
    """What TP must leave whole: the blocks or groups that share a scale."""
    sides = config.wholes("weight_block_size") or ()
    size = sides[0] if sides else _group_size(config, method)
    if not size:
        return {}
    facts = {"quant_block": size}
    if "D" in a.ffns or "B" in a.ffns:
        facts["dense_width"] = a.dense_width
    if a.experts is not None:
        facts["expert_width"] = a.experts.width
    return {name: Fraction(value) for name, value in facts.items()}


def _absorbed(a: Architecture) -> dict[str, Fraction]:
    """Engines multiply the projections from a latent into others, and keep both."""
    if a.latent is None:
        return {}
    one = a.latent.kv_rank * a.heads.query * (a.latent.nope + a.latent.value)
    return {"duplicated_params": Fraction(one * a.mixers.count("F"))}


def _padded(a: Architecture, dtype: str) -> dict[str, Fraction]:
    if dtype != "mxfp4" or a.experts is None or a.d_model % _MXFP4_MULTIPLE == 0:
        return {}
    wide = -(-a.d_model // _MXFP4_MULTIPLE) * _MXFP4_MULTIPLE
    return {"expert_padding": Fraction(wide, a.d_model)}
