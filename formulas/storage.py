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
