"""Measurements that no machine can have made: more bytes or FLOPs than rates allow.

The bound is the deployment model itself at efficiency 1, with nothing sent and nothing lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from derive.samples import Sample

if TYPE_CHECKING:
    from numpy.typing import NDArray

_WANTED = ("stage_memory_time", "stage_compute_time", "prefill_time")
_FACTORS = frozenset(
    ("mbu", "mfu", "link_share", "expert_read_factor", "expert_imbalance", "expert_mfu_share",
     "kv_read_factor", "decode_speedup")
)  # fmt: skip
# The cache's format is seldom stated; the narrowest that engines keep a cache in.
_NARROW_CACHE = 1.0
# Rounding of the printed times, and of counts of parameters.
_TOLERANCE = 0.99


def bounds(samples: Sequence[Sample]) -> NDArray[Any]:
    """What TPOT, TTFT and a whole request take at least, in seconds: 3 x samples.

    As many sequences decode together as the two measured times say, by Little's law; a request
    takes at least as long as the work on one request of each that is inside.
    """
    import numpy

    from solvers.calibrate import Table
    from solvers.speed_kernel import CONSTANTS

    varied = [
        {**s.varied, "batch": _decoding(s), "kv_bytes_per_element": _NARROW_CACHE,
         "scale_up_bandwidth": 1e30, "pcie_bandwidth": 1e30}
        for s in samples
    ]  # fmt: skip
    table = Table([s.facts for s in samples], varied, [s.labels for s in samples], _WANTED)
    ideal = {n: numpy.full(table.size, float(n in _FACTORS)) for n in CONSTANTS}
    memory, compute, prefill = table.latencies(ideal)
    inside = numpy.array([max(1.0, s.row.concurrency / s.varied["dp"]) for s in samples])
    decoding = numpy.array([max(1.0, s["batch"] / s["dp"]) for s in varied])
    following = numpy.array([s.row.output - 1 for s in samples])
    work = inside * (prefill + following * compute / decoding)
    return numpy.array([numpy.maximum(memory, compute), prefill, work])


def suspects(samples: Sequence[Sample]) -> dict[int, str]:
    """The samples that beat a bound, by their place, with the reason."""
    found: dict[int, str] = {}
    if not samples:
        return found
    for index, ((tpot, ttft, whole), sample) in enumerate(
        zip(bounds(samples).T.tolist(), samples, strict=True)
    ):
        row, reasons = sample.row, []
        if row.tpot is not None and row.tpot < tpot * _TOLERANCE:
            what = "reading and computing a step" + (
                " of the requests that decode at once" if row.concurrency > 1 else ""
            )
            reasons.append(f"tpot {_ms(row.tpot)} is less than {_ms(tpot)}, {what} at full rate")
        if row.ttft is not None and row.ttft < ttft * _TOLERANCE:
            reasons.append(
                f"ttft {_ms(row.ttft)} is less than {_ms(ttft)}, the prompt at full rate"
            )
        if row.tpot is not None and row.ttft is not None:
            taken = row.ttft + (row.output - 1) * row.tpot
            if taken < whole * _TOLERANCE:
                reasons.append(
                    f"a request takes {_ms(taken)}, less than {_ms(whole)}, the work on "
                    f"{row.concurrency:g} requests at full rate: cached prompts, or fewer inside"
                )
        if reasons:
            found[index] = "; ".join(reasons)
    return found


def _decoding(sample: Sample) -> float:
    """Sequences that decode at once: the share of its time that a request decodes."""
    row = sample.row
    if row.ttft is None or row.tpot is None:
        return 1.0
    decode = (row.output - 1) * row.tpot
    return max(1.0, row.concurrency * decode / (row.ttft + decode)) if decode else 1.0


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.4g} ms"
