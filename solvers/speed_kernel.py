"""The deployment model's latencies as numpy functions of a measurement and of the constants.

The chain gives each latency of one model as an expression in what a measurement varies and in the
constants; the expression is then lowered like any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from formulas.speed_quantities import CONSTANTS_OF_SPEED

if TYPE_CHECKING:
    from numpy.typing import NDArray

LATENCIES = ("tpot", "ttft")
# What differs from one measurement of a model to the next.
VARIED = (
    "tp", "pp", "dp", "ep", "batch", "prompt_tokens", "output_tokens", "memory_bandwidth",
    "peak_flops", "scale_up_domain_gpus", "scale_up_bandwidth", "pcie_bandwidth",
    "bytes_per_weight", "wide_params", "kv_bytes_per_element",
)  # fmt: skip
# The deployment model's own constants, and those that measurements add.
CONSTANTS = (
    "mbu", "mfu", "link_latency", "step_overhead", "prefix_hit_rate",
    *(q.name for q in CONSTANTS_OF_SPEED),
)  # fmt: skip


@dataclass(frozen=True)
class SpeedKernel:
    """Times of one model from arrays of VARIED and CONSTANTS by name, in seconds."""

    symbols: tuple[str, ...]
    run: Any

    def __call__(self, values: Mapping[str, NDArray[Any]]) -> tuple[NDArray[Any], ...]:
        """The times, each as long as the arrays."""
        import numpy

        given = [values[name] for name in self.symbols]
        size = numpy.shape(given[0])
        with numpy.errstate(all="ignore"):
            found = self.run(*given, functions={})
        return tuple(numpy.broadcast_to(numpy.asarray(row, float), size) for row in found)


def speed_kernel(facts: Mapping[str, Fraction], wanted: tuple[str, ...] = LATENCIES) -> SpeedKernel:
    """The times `wanted` of a model with these facts; Lacking where a fact is missing."""
    return _speed_kernel(frozenset((n, v) for n, v in facts.items() if n not in VARIED), wanted)


@lru_cache(maxsize=128)
def _speed_kernel(facts: frozenset[tuple[str, Fraction]], wanted: tuple[str, ...]) -> SpeedKernel:
    from formulas.catalogue import catalogue
    from formulas.scenario import Given, Scenario
    from solvers.assume import assumed
    from solvers.chain import Chain
    from solvers.kernel import lower

    names = catalogue()
    free = (*VARIED, *CONSTANTS)
    given = {n: Given(n, v, "model", n) for n, v in facts}
    # Stated over what relations give for it, so that it stays a symbol.
    given |= {n: Given(n, names.quantities[n].symbol, "measured", n, True) for n in free}
    known = Chain(
        names,
        Scenario(MappingProxyType(given)),
        unknowns=frozenset(free),
        allowed=frozenset(names.defaults),
        assume=assumed,
    )
    found = [known.value(name).value for name in wanted]
    symbols = tuple(
        n for n in free if any(names.quantities[n].symbol in e.free_symbols for e in found)
    )
    run = lower(found, [names.quantities[n].symbol for n in symbols], share=True)
    return SpeedKernel(symbols, run)
