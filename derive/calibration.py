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
# Of the GPUs and of the models, so many are left out in turn.
_MOST_LEFT_OUT = 6


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
    half = numpy.array(halves([s.configuration for s in rows.samples]))
    apart = left_out(rows, [half == fold for fold in range(folds)])
    seen, predicted = _seen(rows, apart)
    found = errors(seen, predicted, measured[:, numpy.isfinite(apart).any(axis=0)])
    spread = _spread(rows, apart)
    if folds > 1:
        others = left_out(rows, _groups(rows))
        spread |= {f"{name}_elsewhere": ends for name, ends in _spread(rows, others).items()}
    return Fitted(rows, constants, found, spread)


def left_out(rows: Rows, groups: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Predictions of each group from the rows outside it: 2 x samples, NaN in no group.

    A sample of several groups has that of the last one.
    """
    import numpy

    from solvers.calibrate import fit

    predicted = numpy.full(rows.measured.shape, numpy.nan)
    for group in groups:
        others = rows.fit_to & ~group
        if others.any() and group.any():
            found = fit(rows.table, rows.measured, others)
            predicted[:, group] = rows.table.predicted(found)[:, group]
    return predicted


def _groups(rows: Rows) -> list[NDArray[Any]]:
    """The samples of each GPU and of each model, those with most rows."""
    import numpy

    found: list[NDArray[Any]] = []
    for level in ("gpu", "model"):
        names = [s.labels[level] for s in rows.samples]
        common = [name for name, _ in Counter(names).most_common(_MOST_LEFT_OUT)]
        if len(set(names)) > 1:
            found += [numpy.array([n == name for n in names]) for name in common]
    return found


def _seen(rows: Rows, predicted: NDArray[Any]) -> tuple[list[Sample], NDArray[Any]]:
    """The samples that there is a prediction of, and their predictions."""
    import numpy

    known = numpy.isfinite(predicted).any(axis=0)
    return [s for s, k in zip(rows.samples, known, strict=True) if k], predicted[:, known]


def _spread(rows: Rows, predicted: NDArray[Any]) -> dict[str, tuple[float, float]]:
    import numpy

    samples, found = _seen(rows, predicted)
    return intervals(samples, found, rows.measured[:, numpy.isfinite(predicted).any(axis=0)])


def halves(configurations: Sequence[str]) -> list[int]:
    """0 or 1 for each configuration: every second one, in an order that no name decides."""
    order = sorted(set(configurations), key=lambda c: (zlib.crc32(c.encode()), c))
    place = {configuration: index % 2 for index, configuration in enumerate(order)}
    return [place[configuration] for configuration in configurations]
