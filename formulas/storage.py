"""Number formats and the bytes that one stored element takes in each."""

from __future__ import annotations

from fractions import Fraction

# Block formats carry a scale: int4 one of 16 bits per 128 weights, nvfp4 one of 8 bits per 16,
# mxfp4 one of 8 bits per 32 (deployment model, "Choices").
BYTES_PER_ELEMENT: dict[str, Fraction] = {
    "bf16": Fraction(2),
    "fp16": Fraction(2),
    "fp8": Fraction(1),
    "int8": Fraction(1),
    "int4": Fraction(1, 2) + Fraction(16, 8 * 128),
    "nvfp4": Fraction(1, 2) + Fraction(8, 8 * 16),
    "fp4": Fraction(1, 2) + Fraction(8, 8 * 16),
    "mxfp4": Fraction(1, 2) + Fraction(8, 8 * 32),
}

# The quantity that a chosen format states.
BYTES_OF = {"weight_dtype": "bytes_per_weight", "kv_dtype": "kv_bytes_per_element"}
# What each format of a cache says of it. Plain formats are the bytes of an element; the others
# have a scale for each head's key or value of a token, or one for each group of a latent.
KV_FORMATS: dict[str, dict[str, Fraction]] = {
    **{name: {"kv_bytes_per_element": size} for name, size in BYTES_PER_ELEMENT.items()},
    "fp8_e4m3": {"kv_bytes_per_element": Fraction(1)},
    "fp8_e5m2": {"kv_bytes_per_element": Fraction(1)},
    # 32 values of 8 bits and a scale of 16.
    "q8_0": {"kv_bytes_per_element": Fraction(34, 32)},
    "int8_per_token_head": {"kv_code_bytes": Fraction(1), "kv_scale_bytes": Fraction(4)},
    # The latent in FP8 with a scale of 32 bits for each 128 elements, the rotated key in BF16.
    "fp8_ds_mla": {
        "kv_code_bytes": Fraction(1),
        "kv_scale_bytes": Fraction(4),
        "latent_scale_group": Fraction(128),
    },
}
# The formats that a choice takes, and what each says.
FORMATS: dict[str, dict[str, dict[str, Fraction]]] = {
    "weight_dtype": {name: {"bytes_per_weight": b} for name, b in BYTES_PER_ELEMENT.items()},
    "kv_dtype": KV_FORMATS,
}
