"""A file of measurements fitted: which rows took part, and what the constants came to."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from derive.errors_of_fit import errors, intervals, is_queued
from derive.measurements import Measurement
from derive.samples import Sample, sample_of
from derive.suspects import suspects
from formulas.errors import Problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from solvers.calibrate import Constants, Table

_FEWEST = 3


@dataclass(frozen=True)
class Rows:
    """A file's rows: those that the model has a place for, and why it has none for the others."""

    all: Sequence[Measurement]
    samples: Sequence[Sample]
    # Of the samples, those that no machine can have made, by place, with the reason.
    suspect: Mapping[int, str]
    reasons: Mapping[int, str]
    table: Table

    @property
    def measured(self) -> NDArray[Any]:
        """TPOT and TTFT in seconds, NaN where not given: 2 x samples."""
        import numpy

        rows = [(s.row.tpot, s.row.ttft) for s in self.samples]
        found: NDArray[Any] = numpy.array(rows, float).reshape(-1, 2).T
        return found

    @property
    def fit_to(self) -> NDArray[Any]:
        """The samples that constants are fitted to."""
        import numpy

        calm = [not is_queued(s) and i not in self.suspect for i, s in enumerate(self.samples)]
        found: NDArray[Any] = numpy.array(calm, bool) & numpy.isfinite(self.measured).any(axis=0)
        return found


@dataclass(frozen=True)
class Fitted:
    """Constants, and how far off they were where rows were left out of the fit."""

    rows: Rows
    constants: Constants
    left_out: Mapping[str, Any]
    spread: Mapping[str, tuple[float, float]]


def rows_of(all_rows: Sequence[Measurement]) -> Rows:
    """The rows as samples of the model."""
    from solvers.calibrate import Table

    samples: list[Sample] = []
    reasons: dict[int, str] = {}
    for place, row in enumerate(all_rows):
        found = sample_of(row)
        if isinstance(found, str):
            reasons[place] = found
        else:
            samples.append(found)
    facts, varied, labels = (
        [getattr(s, part) for s in samples] for part in ("facts", "varied", "labels")
    )
    return Rows(all_rows, samples, suspects(samples), reasons, Table(facts, varied, labels))


def fitted(rows: Rows, folds: int = 2) -> Fitted:
    """The constants that fit the rows; each fold of configurations is left out once for the errors.

    With one fold, half of the configurations is left out once. Problem where too little was
    measured.
    """
    import numpy

    from solvers.calibrate import fit

    measured, chosen = rows.measured, rows.fit_to
    if int(chosen.sum()) < _FEWEST:
        why = Counter(rows.reasons.values()).most_common(3)
        advice = tuple(f"{count} rows: {reason}" for reason, count in why)
        message = f"{int(chosen.sum())} rows can be fitted, and at least {_FEWEST} are needed"
        raise Problem("file", message, advice)
    constants = fit(rows.table, measured, chosen)
    half = numpy.array(_halves([s.configuration for s in rows.samples]))
    predicted = numpy.full(measured.shape, numpy.nan)
    for fold in range(folds):
        part = chosen & (half != fold)
        if part.any() and (half == fold).any():
            others = fit(rows.table, measured, part)
            left = half == fold
            predicted[:, left] = rows.table.predicted(others)[:, left]
    seen = [i for i in range(len(rows.samples)) if numpy.isfinite(predicted[:, i]).any()]
    samples = [rows.samples[i] for i in seen]
    apart = errors(samples, predicted[:, seen], measured[:, seen])
    return Fitted(rows, constants, apart, intervals(samples, predicted[:, seen], measured[:, seen]))


def _halves(configurations: Sequence[str]) -> list[int]:
    """0 or 1 for each configuration: every second one, in an order that no name decides."""
    order = sorted(set(configurations), key=lambda c: (zlib.crc32(c.encode()), c))
    place = {configuration: index % 2 for index, configuration in enumerate(order)}
    return [place[configuration] for configuration in configurations]
