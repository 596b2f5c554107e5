"""Reference numbers that follow from formulas and formats alone: paging, drafts, bits, cost."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from fractions import Fraction

from formulas.numbers import Figure, numbers
from formulas.storage import BYTES_PER_ELEMENT
from formulas.units import parse_unit
from solvers.recompute.figures import Figures, Recomputation, calculated

ONE = Fraction(1)
BITS_PER_BYTE = 1 / parse_unit("bit").scale


def _quoted(name: str, key: str) -> Fraction:
    value = numbers()[name].values[key]
    assert isinstance(value, Fraction)
    return value


def _all_quoted(name: str, key: str) -> tuple[Fraction, ...]:
    value = numbers()[name].values[key]
    assert isinstance(value, tuple)
    return value


def _slots(block_size: Fraction) -> list[Fraction]:
    """The slots of consecutive tokens, from the first one to the last of the second block."""
    return [
        calculated("paged_block_lookup.block_slot", token, block_size=block_size)
        for token in ({"token_position": Fraction(t)} for t in range(2 * int(block_size)))
    ]


def _block_size() -> Figures:
    """The slots of a block that the lookup ever uses: all but one may stay empty at the end."""
    name = "kv_block_size"
    others = tuple(max(_slots(size)) + 1 for size in _all_quoted(name, "others"))
    return {"tokens": max(_slots(_quoted(name, "tokens"))) + 1, "others": others}


def _paged_utilization() -> Figures:
    """The share of its blocks that a sequence fills, when it may end anywhere in the last one."""
    slots = _slots(_quoted("kv_block_size", "tokens"))
    empty = [max(slots) - last for last in slots]
    # The sheet's figure is that of sequences of 150 tokens or more.
    tokens = Fraction(150)
    return {"at_least": tokens / (tokens + sum(empty, Fraction(0)) / len(empty))}


def _draft_length() -> Figures:
    """The best length at the acceptance rates of chat and of code, a draft step costing a tenth."""
    name = "acceptance_rate_by_workload"
    rates = (_quoted(name, "creative_chat"), _quoted(name, "code_and_extraction"))
    return {"range": tuple(_best_draft(rate, cost=Fraction(1, 10)) for rate in rates)}


def _best_draft(acceptance_rate: Fraction, cost: Fraction) -> Fraction:
    def speedup(draft_tokens: Fraction) -> Fraction:
        drafted = {"draft_tokens": draft_tokens, "acceptance_rate": acceptance_rate}
        tokens = calculated("speculative_expected_tokens", drafted)
        return calculated(
            "speculative_speedup", drafted, expected_tokens=tokens, draft_cost_fraction=cost
        )

    # One pass yields at most 1 / (1 - rate) tokens, so no length beyond these can be the best.
    return max((Fraction(k) for k in range(1, 65)), key=speedup)


def _bf16_layout() -> Figures:
    """FP32's sign and exponent, and the fraction bits that are left of BF16's width."""
    sign, exponent = _sign_bits(), _exponent_bits()
    width = BYTES_PER_ELEMENT["bf16"] * BITS_PER_BYTE
    return {"sign": sign, "exponent": exponent, "mantissa": width - sign - exponent}


def _sign_bits() -> Fraction:
    """The bits that differ between a number of FP32 and its negative."""
    (one,), (minus_one,) = (struct.unpack(">I", struct.pack(">f", x)) for x in (1.0, -1.0))
    return Fraction((one ^ minus_one).bit_count())


def _exponent_bits() -> Fraction:
    """The exponent bits of FP32: with n of them its largest power of two is 2^(2^(n-1) - 1)."""
    (largest,) = struct.unpack(">f", bytes.fromhex("7f7fffff"))
    power = int(largest).bit_length() - 1
    return Fraction((power + 1).bit_length())


def _e4m3_layout() -> Figures:
    """The fields that the name states, the sign that is left, and the largest number.

    The top exponent is in use; only with all fraction bits set is it no number.
    """
    exponent, mantissa = (int(digit) for digit in "E4M3" if digit.isdigit())
    sign = BYTES_PER_ELEMENT["fp8"] * BITS_PER_BYTE - exponent - mantissa
    bias = 2 ** (exponent - 1) - 1
    fraction = Fraction(2**mantissa - 2, 2**mantissa)
    return {
        "sign": sign,
        "exponent": Fraction(exponent),
        "mantissa": Fraction(mantissa),
        "max": (1 + fraction) * 2 ** (2**exponent - 1 - bias),
    }


def _scale_granularity() -> Figures:
    """What a stored weight takes beyond its 4 bits; the shipped int4 has one FP16 scale for 128."""
    return {"bits_per_weight_at_128": BYTES_PER_ELEMENT["int4"] * BITS_PER_BYTE - 4}


def _daily_cycle() -> Figures:
    """The cost of a token at these utilisations over that of GPUs that are always full."""

    def cost(output_token_rate: Fraction) -> Fraction:
        one_gpu = {"n_gpus": ONE, "price_per_gpu_hour": ONE}
        return calculated("cost_per_million_tokens", one_gpu, output_token_rate=output_token_rate)

    shares = _all_quoted("daily_cycle_cost", "utilization")
    return {"cost_multiplier": tuple(sorted(cost(share) / cost(ONE) for share in shares))}


def _image_tokens() -> Figures:
    """Patches of 14 by 14 pixels; the last two schemes merge 2 by 2 of them into a token."""
    patch, merged = Fraction(14), 4
    return {
        "llava15_336px": (336 / patch) ** 2,
        "internvl_448_tile": (448 / patch) ** 2 / merged,
        "qwen25vl_pixels_per_token": patch**2 * merged,
    }


def _vectors() -> Figures:
    """One vector of 1,024 float32 numbers, over the same vector in each smaller form."""
    float32 = Fraction(4)

    def stored(dims: int = 1024, bytes_per_dim: Fraction = float32) -> Fraction:
        shape = {"vector_dims": Fraction(dims), "bytes_per_dim": bytes_per_dim}
        return calculated("vector_storage", shape, n_vectors=ONE)

    smaller: dict[str, Figure] = {
        "int8": stored() / stored(bytes_per_dim=BYTES_PER_ELEMENT["int8"]),
        "binary": stored() / stored(bytes_per_dim=Fraction(1, BITS_PER_BYTE)),
        "matryoshka_256_of_1024": stored() / stored(dims=256),
    }
    return smaller


OF_SERVING: Mapping[str, Recomputation] = {
    "kv_block_size": _block_size,
    "paged_kv_utilization": _paged_utilization,
    "draft_length": _draft_length,
    "bf16_layout": _bf16_layout,
    "fp8_e4m3_layout": _e4m3_layout,
    "int4_scale_granularity": _scale_granularity,
    "daily_cycle_cost": _daily_cycle,
    "image_token_schemes": _image_tokens,
    "vector_shrinking": _vectors,
}
