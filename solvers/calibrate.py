"""Constants of speed from measurements: one value each, and what an engine, a GPU, a weight format,
a version or a model moves them by.

Few constants with a physical meaning, few labels for each: what is left out of the measurements is
then predicted from what the others have in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import exp, log
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from formulas.profiles import SHARES
from solvers.speed_kernel import CONSTANTS, LATENCIES, SpeedKernel, speed_kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Where the fit starts, and how far a constant may reasonably lie from there, on its free scale: the
# logarithm, or the logarithm of the odds for a share.
START: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "mbu": (0.8, 0.7),
        "mfu": (0.5, 0.7),
        "link_latency": (5e-7, 0.7),
        "step_overhead": (1e-3, 0.7),
        "prefix_hit_rate": (0.03, 1e-3),
        "layer_overhead": (15e-6, 0.7),
        "latent_overhead": (20e-6, 0.7),
        "expert_overhead": (20e-6, 0.7),
        "sequence_overhead": (20e-6, 0.7),
        "collective_overhead": (6e-6, 0.7),
        "exchange_overhead": (180e-6, 0.7),
        "link_share": (0.7, 0.7),
        "expert_read_factor": (1.2, 0.3),
        "expert_imbalance": (1.1, 0.2),
        "expert_mfu_share": (0.25, 0.7),
        "kv_read_factor": (1.0, 0.4),
        "decode_speedup": (1.0, 1e-3),
        "waiting_share": (0.08, 0.7),
        "first_token_steps": (1.0, 0.7),
        "first_token_overhead": (30e-3, 0.7),
    }
)
# What each kind of label may move, and how far.
LEVELS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "engine": {
            "mbu": 0.75, "mfu": 0.5, "layer_overhead": 0.3, "collective_overhead": 0.3,
            "step_overhead": 0.3, "sequence_overhead": 0.3, "kv_read_factor": 0.3,
            "expert_overhead": 0.3, "expert_read_factor": 0.15, "waiting_share": 0.8,
            "first_token_overhead": 0.5, "first_token_steps": 0.4, "exchange_overhead": 0.8,
        },
        "gpu": {
            "mbu": 0.5, "mfu": 0.4, "layer_overhead": 0.2, "collective_overhead": 0.2,
            "expert_read_factor": 0.1, "link_share": 0.6, "sequence_overhead": 0.2,
            "first_token_overhead": 0.2, "first_token_steps": 0.2,
        },
        "precision": {
            "mbu": 0.75, "mfu": 0.6, "layer_overhead": 0.2, "kv_read_factor": 0.2,
        },
        "version": {
            "layer_overhead": 0.15, "waiting_share": 0.6, "first_token_overhead": 0.4,
            "first_token_steps": 0.3,
        },
        "setting": {
            "decode_speedup": 0.14, "waiting_share": 0.3, "first_token_overhead": 0.2,
            "prefix_hit_rate": 1.5,
        },
        "model": {
            "mbu": 0.4, "layer_overhead": 0.15, "expert_overhead": 0.15, "mfu": 0.22,
            "expert_read_factor": 0.12, "kv_read_factor": 0.12,
        },
    }
)  # fmt: skip
# The first token is measured far less sharply than the mean of the following ones.
_WEIGHTS = (1.0, 0.3)


@dataclass(frozen=True)
class Constants:
    """The constants of speed, and the factors by which labels move them (a share's odds)."""

    base: Mapping[str, float]
    factors: Mapping[tuple[str, str], Mapping[str, float]] = field(default_factory=dict)

    def of(self, labels: Mapping[str, str]) -> dict[str, float]:
        """The constants under these labels; labels that were not measured move nothing."""
        free = {name: to_free(name, value) for name, value in self.base.items()}
        for level, label in labels.items():
            for name, factor in self.factors.get((level, label), {}).items():
                free[name] += log(factor)
        return {name: from_free(name, value) for name, value in free.items()}


def to_free(name: str, value: float) -> float:
    """A constant on the scale on which it is fitted."""
    return log(value / (1 - value)) if name in SHARES else log(value)


def from_free(name: str, value: float) -> float:
    """A constant from the scale on which it is fitted."""
    return 1 / (1 + exp(-value)) if name in SHARES else exp(value)


class Table:
    """Samples as arrays: one kernel for each architecture, and its rows."""

    def __init__(
        self,
        facts: Sequence[Mapping[str, Fraction]],
        varied: Sequence[Mapping[str, float]],
        labels: Sequence[Mapping[str, str]],
        wanted: tuple[str, ...] = LATENCIES,
    ) -> None:
        import numpy

        self.labels, self.wanted = labels, wanted
        self.size = len(facts)
        names = varied[0].keys() if varied else ()
        self.varied = {name: numpy.array([row[name] for row in varied]) for name in names}
        rows: dict[SpeedKernel, list[int]] = {}
        for index, row in enumerate(facts):
            rows.setdefault(speed_kernel(row, wanted), []).append(index)
        self.kernels = [(kernel, numpy.array(index)) for kernel, index in rows.items()]

    def latencies(self, constants: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        """Each of `wanted` in seconds, from an array of each constant: times x rows."""
        import numpy

        found = numpy.full((len(self.wanted), self.size), numpy.nan)
        for kernel, rows in self.kernels:
            known = {name: self.varied[name][rows] for name in self.varied}
            known |= {name: constants[name][rows] for name in CONSTANTS}
            found[:, rows] = kernel(known)
        return found

    def predicted(self, constants: Constants) -> NDArray[Any]:
        """Each of LATENCIES in seconds: latencies x rows."""
        import numpy

        rows = [constants.of(labels) for labels in self.labels]
        return self.latencies({n: numpy.array([row[n] for row in rows]) for n in CONSTANTS})


def fit(table: Table, measured: NDArray[Any], chosen: NDArray[Any] | None = None) -> Constants:
    """The constants that fit `measured` (latencies x rows, NaN where unknown) best.

    `chosen` are the rows to use; the others leave no trace in the result.
    """
    import numpy

    from solvers.fitting import Problem, fitted

    used = numpy.ones(table.size, bool) if chosen is None else chosen
    known = numpy.isfinite(measured) & (measured > 0) & used
    logs = numpy.where(known, numpy.log(numpy.where(known, measured, 1.0)), 0.0)
    columns = _columns(table, used)
    member = numpy.array([column[1] for column in columns], float)

    def residuals(free: NDArray[Any]) -> NDArray[Any]:
        values = {
            name: 1 / (1 + numpy.exp(-free[i])) if name in SHARES else numpy.exp(free[i])
            for i, name in enumerate(CONSTANTS)
        }
        with numpy.errstate(all="ignore"):
            return numpy.where(known, numpy.log(table.latencies(values)) - logs, 0.0)

    problem = Problem(
        residuals,
        numpy.array([to_free(name, START[name][0]) for name in CONSTANTS]),
        numpy.array([CONSTANTS.index(name) for (_, _, name), _, _ in columns]),
        member,
        numpy.array([spread for _, _, spread in columns]),
        known * numpy.array(_WEIGHTS)[:, None],
    )
    found = fitted(problem)
    return _named([key for key, _, _ in columns], found.tolist())


_Key = tuple[str, str, str]


def _columns(table: Table, used: NDArray[Any]) -> list[tuple[_Key, Any, float]]:
    """What is fitted: every constant, and every label that occurs where it is used."""
    import numpy

    every = numpy.ones(table.size)
    rows: list[tuple[_Key, Any, float]] = [
        (("", "", name), every, START[name][1]) for name in CONSTANTS
    ]
    for level, moved in LEVELS.items():
        here = numpy.array([labels.get(level, "") for labels in table.labels], dtype=object)
        for label in sorted(set(here[used].tolist()) - {""}):
            member = (here == label).astype(float)
            rows += [((level, label, name), member, spread) for name, spread in moved.items()]
    return rows


def _named(keys: Sequence[_Key], found: Sequence[float]) -> Constants:
    base: dict[str, float] = {}
    factors: dict[tuple[str, str], dict[str, float]] = {}
    for (level, label, name), value in zip(keys, found, strict=True):
        if not level:
            base[name] = from_free(name, to_free(name, START[name][0]) + value)
        else:
            factors.setdefault((level, label), {})[name] = exp(value)
    return Constants(base, factors)
