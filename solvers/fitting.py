"""Robust, regularised least squares: constants that a few labels move, fitted to ratios.

What is fitted are numbers on a free scale, one for each constant and one for each label that moves
it; a prior pulls every one of them to 0, so that a label with few measurements moves little. Large
residuals count by their size and not by its square, which is what a mean absolute error asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Residuals below this are squared, in logarithms of ratios.
SOFT = 0.03
# The scale of a residual against that of a prior.
NOISE = 0.15
_STEPS = 60
_LONGEST_STEP = 0.7
_SLOPE_STEP = 1e-4
_ENOUGH = 2e-4


@dataclass(frozen=True)
class Problem:
    """`residuals` maps constants (constants x rows) to residuals (latencies x rows).

    Column j adds x[j] to constant `constant[j]` in the rows where `member[j]` is 1.
    """

    residuals: Callable[[NDArray[Any]], NDArray[Any]]
    start: NDArray[Any]
    constant: NDArray[Any]
    member: NDArray[Any]
    spread: NDArray[Any]
    weight: NDArray[Any]


def fitted(problem: Problem) -> NDArray[Any]:
    """What to add for each column; 0 where nothing was measured about it."""
    import numpy

    x = numpy.zeros(len(problem.constant))
    values = constants(problem, x)
    residuals = _clean(problem.residuals(values))
    cost, damping = _cost(problem, residuals, x), 1e-3
    for _ in range(_STEPS):
        slopes = _slopes(problem, values, residuals)
        weight = problem.weight / NOISE / numpy.sqrt(residuals**2 + SOFT**2)
        curvature = numpy.diag(1 / problem.spread**2)
        gradient = x / problem.spread**2
        for latency, row in enumerate(slopes):
            jacobian = problem.member * row[problem.constant]
            curvature += (jacobian * weight[latency]) @ jacobian.T
            gradient += jacobian @ (weight[latency] * residuals[latency])
        better = None
        for _ in range(8):
            damped = curvature + damping * numpy.diag(numpy.diag(curvature))
            step = numpy.linalg.solve(damped, -gradient)
            trial = x + numpy.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
            at = constants(problem, trial)
            found = _clean(problem.residuals(at))
            now = _cost(problem, found, trial)
            if now < cost:
                better = (trial, at, found, now)
                break
            damping *= 5
        if better is None:
            break
        gained = cost - better[3]
        x, values, residuals, cost = better
        damping = max(damping / 5, 1e-7)
        if gained < _ENOUGH * cost:
            break
    return x


def constants(problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
    """The constants of every row on their free scale."""
    import numpy

    rows = problem.start[:, None] + numpy.zeros((1, problem.member.shape[1]))
    numpy.add.at(rows, problem.constant, x[:, None] * problem.member)
    return rows


def _cost(problem: Problem, residuals: NDArray[Any], x: NDArray[Any]) -> float:
    import numpy

    sizes = numpy.sqrt(residuals**2 + SOFT**2) - SOFT
    prior = numpy.sum((x / problem.spread) ** 2) / 2
    return float(numpy.sum(problem.weight * sizes) / NOISE + prior)


def _slopes(problem: Problem, values: NDArray[Any], residuals: NDArray[Any]) -> NDArray[Any]:
    """How residuals move with each constant: latencies x constants x rows."""
    import numpy

    found = numpy.empty((residuals.shape[0], *values.shape))
    for index in range(values.shape[0]):
        moved = values.copy()
        moved[index] += _SLOPE_STEP
        found[:, index] = (_clean(problem.residuals(moved)) - residuals) / _SLOPE_STEP
    return found


def _clean(residuals: NDArray[Any]) -> NDArray[Any]:
    """A row that the model has no number for pulls at nothing."""
    import numpy

    return numpy.where(numpy.isfinite(residuals), residuals, 0.0)
