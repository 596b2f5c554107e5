"""The roofline of a GPU, and where the work of a question lies under it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from derive.picture import Curve, Mark, Picture, Point, scale_of
from derive.replace import replaced
from formulas.amounts import display
from formulas.catalogue import catalogue
from formulas.errors import Problem
from formulas.scenario import scenario
from formulas.statements import Fact, Statement
from solvers.answer import Answer, Exact
from solvers.solve import Request, solve

ROOFS = ("peak_flops", "memory_bandwidth")
# The intensities that the catalogue knows, and what each is the work of.
WORK = {
    "arithmetic_intensity": "the workload",
    "decode_matmul_intensity": "weights of a decode step",
    "decode_attention_intensity": "attention of a decode step",
}
_STEPS = 8
_FROM, _TO = Fraction(1, 1000), Fraction(30)


def picture(statements: tuple[Statement, ...]) -> Picture:
    """The roof over the intensity, the ridge, and a mark for each intensity that is known.

    Problem where a GPU is lacking, or a number of it is not exact.
    """
    roofs = {name: _needed(name, statements) for name in ROOFS}
    ridge = _needed("ridge_intensity", statements)
    known = {name: _asked(name, statements) for name in WORK}
    places = {name: found.value for name, found in known.items() if isinstance(found, Exact)}
    marks = [Mark(_named("ridge", ridge), _under(roofs, ridge))]
    marks += [
        Mark(_named(WORK[name], value, f" ({_side(value, ridge)})"), _under(roofs, value))
        for name, value in places.items()
    ]
    low = min([ridge, *places.values()]) * (_FROM if not places else Fraction(1, 10))
    high = max([ridge, *places.values()]) * (_TO if not places else Fraction(10))
    line = _roof(roofs, low, ridge, high)
    peak, bandwidth = (
        display(value, catalogue().quantities[name].unit) for name, value in roofs.items()
    )
    notes = [f"peak_flops {peak}, memory_bandwidth {bandwidth}, of one GPU"]
    notes += [] if places else ["no workload is stated: batch, or flops and bytes_moved"]
    notes += _reasons([found for found in known.values() if isinstance(found, Exact)])
    across, up = "arithmetic_intensity", "attainable_flops"
    return Picture(
        "roofline", "roofline", scale_of(across, (1.0,), True),
        scale_of(up, (float(roofs["peak_flops"]),), True),
        (Curve("attainable rate", (line,)),), tuple(marks), notes=tuple(notes),
    )  # fmt: skip


def _roof(
    roofs: Mapping[str, Fraction], low: Fraction, ridge: Fraction, high: Fraction
) -> tuple[Point, ...]:
    """The catalogue's own relation, lowered to numbers, at points that grow by equal factors."""
    from solvers.kernel import kernel

    (relation,) = catalogue().formulas["roofline"]
    rate = kernel(relation)
    ends = [(low, ridge), (ridge, high)]
    places = [
        float(start) * (float(end) / float(start)) ** (step / _STEPS)
        for start, end in ends
        for step in range(_STEPS + 1)
    ]
    numbers = {name: float(value) for name, value in roofs.items()}
    return tuple((x, float(rate(**numbers, arithmetic_intensity=x))) for x in places)


def _under(roofs: Mapping[str, Fraction], intensity: Any) -> Point:
    """The rate that the roofline allows there, as an answer."""
    stated = {**roofs, "arithmetic_intensity": intensity}
    facts = tuple(Fact(name, value) for name, value in stated.items())
    found = solve(Request("attainable_flops", scenario(facts)))
    if not isinstance(found, Exact):
        raise Problem("plot", f"the rate at {float(intensity):g} FLOP/B is not known")
    return float(intensity), float(found.value)


def _asked(name: str, statements: tuple[Statement, ...]) -> Answer:
    return solve(Request(name, scenario(replaced(statements, ()))))


def _needed(name: str, statements: tuple[Statement, ...]) -> Fraction:
    found = _asked(name, statements)
    if isinstance(found, Exact):
        value: Fraction = found.value
        return value
    message = f"a roofline needs one value of {name}"
    raise Problem("plot", message, ('example: derive plot roofline "gpu h100-sxm, batch = 32"',))


def _named(what: str, value: Any, more: str = "") -> str:
    return f"{what}: {display(value, catalogue().quantities['arithmetic_intensity'].unit)}{more}"


def _side(value: Any, ridge: Any) -> str:
    return "memory-bound" if value < ridge else "compute-bound"


def _reasons(found: list[Exact]) -> list[str]:
    from derive.under_table import assumed

    text = assumed([answer.evidence for answer in found])
    return [f"assumed: {text}"] if text else []
