"""How far predictions are from measurements: means, by name, and the worst cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from derive.samples import Sample

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A first token later than this waited in a full queue, which no prefill explains.
QUEUE_SECONDS = 5.0
_WORST = 10
_OF_TEN = (0.1, 0.9)


def is_queued(sample: Sample) -> bool:
    """Whether the first token waited in a full queue."""
    return sample.row.ttft is not None and sample.row.ttft >= QUEUE_SECONDS


def errors(
    samples: Sequence[Sample], predicted: NDArray[Any], measured: NDArray[Any]
) -> dict[str, Any]:
    """Mean absolute errors relative to what was measured, without full queues, in all and by name.

    Rows of unknown precision and rows with a full queue are reported apart.
    """
    off = abs(predicted / measured - 1)
    calm = [i for i, sample in enumerate(samples) if not is_queued(sample)]
    queued = [i for i, sample in enumerate(samples) if is_queued(sample)]
    found = _block(samples, off, calm)
    keys: dict[str, Callable[[Sample], str]] = {
        "by_model": lambda s: s.row.model,
        "by_gpu": lambda s: s.row.gpu,
        "by_engine": lambda s: s.row.engine or "unknown",
        "by_precision": lambda s: s.row.precision or "unknown",
    }
    for name, key in keys.items():
        groups: dict[str, list[int]] = {}
        for i in calm:
            groups.setdefault(key(samples[i]), []).append(i)
        found[name] = {label: _block(samples, off, groups[label]) for label in sorted(groups)}
    unknown = [i for i in calm if not samples[i].row.precision]
    found["unknown_precision"] = _apart(off, unknown)
    found["queued"] = _apart(off, queued)
    found["worst"] = _worst(samples, off, calm)
    return found


def intervals(
    samples: Sequence[Sample], predicted: NDArray[Any], measured: NDArray[Any]
) -> dict[str, tuple[float, float]]:
    """Between which multiples of the prediction 8 of 10 measurements of known precision lie."""
    import numpy

    ratio = measured / predicted
    calm = numpy.array([bool(s.row.precision) and not is_queued(s) for s in samples], bool)
    dense = numpy.array([sample.is_dense for sample in samples], bool)
    groups = {"tpot_dense": (0, dense), "tpot_moe": (0, ~dense), "ttft": (1, dense | ~dense)}
    found: dict[str, tuple[float, float]] = {}
    for name, (latency, group) in groups.items():
        values = ratio[latency][calm & group & numpy.isfinite(ratio[latency])]
        if len(values) >= 5:
            low, high = (float(numpy.quantile(values, share)) for share in _OF_TEN)
            found[name] = (low, high)
    return found


def _mean(values: NDArray[Any]) -> float | None:
    import numpy

    known = values[numpy.isfinite(values)]
    return round(float(known.mean()), 5) if len(known) else None


def _block(samples: Sequence[Sample], off: NDArray[Any], rows: Sequence[int]) -> dict[str, Any]:
    """The errors of some rows; those of unknown precision only where they are named."""
    known = [i for i in rows if samples[i].row.precision]
    dense = [i for i in known if samples[i].is_dense]
    mixed = [i for i in known if not samples[i].is_dense]
    return {
        "rows": len(rows),
        "tpot_mape_dense": _mean(off[0][dense]),
        "tpot_mape_moe": _mean(off[0][mixed]),
        "ttft_mape": _mean(off[1][known]),
        "tpot_mape_unknown_precision": _mean(
            off[0][[i for i in rows if not samples[i].row.precision]]
        ),
    }


def _apart(off: NDArray[Any], rows: Sequence[int]) -> dict[str, Any]:
    return {"rows": len(rows), "tpot_mape": _mean(off[0][rows]), "ttft_mape": _mean(off[1][rows])}


def _worst(
    samples: Sequence[Sample], off: NDArray[Any], rows: Sequence[int]
) -> list[dict[str, Any]]:
    """The configurations that are predicted worst."""
    cells: dict[str, list[int]] = {}
    for i in rows:
        cells.setdefault(samples[i].configuration, []).append(i)
    found = [(_mean(off[0][cell]) or 0.0, cell) for cell in cells.values()]
    worst = sorted(found, key=lambda row: -row[0])[:_WORST]
    return [_cell(samples[cell[0]], error, len(cell)) for error, cell in worst]


def _cell(sample: Sample, error: float, rows: int) -> dict[str, Any]:
    row = sample.row
    named: Mapping[str, Any] = {
        "model": row.model,
        "gpu": row.gpu,
        "engine": row.engine,
        "engine_version": row.version,
        "precision": row.precision,
        "tp": row.tp,
        "dp": row.dp,
        "moe_ep": row.moe_ep,
    }
    return {**named, "rows": rows, "tpot_mape": error}
