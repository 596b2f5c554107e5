"""Constants of speed where nobody states them: neutral, so that the plain definitions hold."""

from __future__ import annotations

from formulas.formula import Relation, assumption
from formulas.speed_quantities import CONSTANTS_OF_SPEED

# What leaves a product as it is; every other constant is added, and is nothing.
_FACTORS = frozenset(
    (
        "link_share",
        "expert_read_factor",
        "expert_imbalance",
        "expert_mfu_share",
        "kv_read_factor",
        "decode_speedup",
    )
)


def _neutral(name: str) -> Relation:
    value = 1 if name in _FACTORS else 0

    def neutral() -> int:
        return value

    neutral.__name__ = name
    neutral.__doc__ = "Nothing was measured."
    return assumption(neutral)


NEUTRAL = tuple(_neutral(quantity.name) for quantity in CONSTANTS_OF_SPEED)
