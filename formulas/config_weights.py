"""The weight format that a config.json says its checkpoint has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from formulas.config_keys import Keys, shown

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


@dataclass(frozen=True, slots=True)
class Weights:
    """The format where it is narrower than BF16, and a sentence on what else is to be known."""

    dtype: str | None
    notes: tuple[str, ...] = ()


def weights_of(keys: Keys) -> Weights:
    """The format of the checkpoint's weights; None where they have 16 bits, or are not known."""
    config = keys.section("quantization_config")
    if not config.values:
        if _stored(keys) == "float32":
            return Weights(None, ("the checkpoint is in float32; weights are taken as bf16",))
        return Weights("fp8" if _stored(keys).startswith("float8") else None)
    method = config.text("quant_method").lower()
    dtype = _dtype(config, method)
    if dtype is None:
        unknown = f"the quantization {shown(method)} is not known here; weights are taken as bf16"
        return Weights(None, (unknown,))
    kept = config.texts("modules_to_not_convert") or ()
    named = ", ".join(map(shown, kept[:4])) + (" and others" if len(kept) > 4 else "")
    return Weights(dtype, (f"not in {dtype} but in 16 bits: {named}",) if kept else ())


def _stored(keys: Keys) -> str:
    return keys.text("torch_dtype") or keys.text("dtype")


def _dtype(config: Keys, method: str) -> str | None:
    if method in _BY_NAME:
        return _BY_NAME[method]
    if method in _INTEGERS:
        return _BY_BITS.get(config.maybe("bits", "w_bit") or 0)
    if method == "bitsandbytes":
        return "int4" if config.flag("load_in_4bit", default=False) else "int8"
    if method == "modelopt":
        return _BY_ALGORITHM.get(config.text("quant_algo").upper())
    if method == "compressed-tensors":
        groups = config.section("config_groups")
        first = groups.section(next(iter(groups.values), ""))
        weights = first.section("weights")
        return _BY_TYPE.get((weights.text("type"), weights.maybe("num_bits") or 0))
    return None
