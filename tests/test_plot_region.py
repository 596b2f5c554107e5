"""Regions against the contract's own model: inside every limit holds, a step outside one breaks."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

from derive.conversation import Conversation
from derive.picture import Picture
from derive.plot_region import axes_of, picture_of, pieces
from derive.session import Session
from formulas.errors import Problem
from formulas.statements import Choose, Fact, Limit, Statement
from solvers.region import region
from solvers.slices import Axes
from tests.deployments import between, deployment, oracle_facts
from tests.oracle import Model

HERE = Session("model llama-3.1-8b, gpu l40s")
# Far enough outside for a grid of any parallel groups that are drawn.
STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)


class Drawn:
    """A random deployment with limits: its region, and the oracle's word on any point of it."""

    def __init__(self, seed: int, least: float = 1.02, most: float = 3) -> None:
        choose = random.Random(seed)
        while True:
            self.facts = deployment(choose)
            for name in ("batch", "prompt_tokens", "output_tokens"):
                del self.facts[name]
            if self.standing(1, 1) or self.standing(8 * self.ranks, 1):
                break
        self.facts["max_position_embeddings"] = choose.choice((4096, 32768, 131072))
        fastest = Fraction(self.model(self.ranks, 1)["tpot"])
        self.limits = {"tpot": fastest * between(choose, least, most)}
        if choose.random() < 0.5:
            self.limits["step_time"] = fastest * between(choose, least, most)
        high = choose.choice((Fraction(40), Fraction(700)))
        self.axes = Axes("batch", "context_tokens", tuple(self.statements()), Fraction(1), high)
        self.region = region(self.axes)

    @property
    def ranks(self) -> int:
        return int(self.facts.get("dp", 1) * self.facts["pp"])

    def statements(self) -> Iterator[Statement]:
        for name, value in self.facts.items():
            if name in ("weight_dtype", "kv_dtype"):
                yield Choose(name, value, f"{name} = {value}")
            else:
                yield Fact(name, Fraction(value), text=f"{name} = {value}")
        yield from (Limit(n, "<=", value, f"{n} limit") for n, value in self.limits.items())

    def model(self, batch: Any, context: Any) -> Model:
        point = {"batch": Fraction(batch), "context_tokens": Fraction(context)}
        return Model({**oracle_facts(self.facts), **point})

    def standing(self, batch: Any, context: Any) -> bool:
        return not self.model(batch, context).broken()

    def broken(self, batch: Any, context: Any) -> set[str]:
        model = self.model(batch, context)
        room = 1 + Fraction(1, 10**9)
        over = {name for name, limit in self.limits.items() if model[name] > limit * room}
        return model.broken() | over


SEEDS = range(40, 46)


@pytest.fixture(scope="module", params=SEEDS)
def drawn(request: pytest.FixtureRequest) -> Drawn:
    return Drawn(request.param)


def test_every_point_of_the_boundary_meets_every_limit(drawn: Drawn) -> None:
    for piece in pieces(drawn.axes, drawn.region):
        for x, y in piece.points:
            assert not drawn.broken(x, y), (piece, x, y)


def test_a_step_further_breaks_the_limit_that_is_named(drawn: Drawn) -> None:
    named = 0
    for piece in pieces(drawn.axes, drawn.region):
        for x, y in piece.points:
            if piece.side == "largest":
                assert set(piece.binding) <= drawn.broken(x, y + 1), (piece, x, y)
                named += 1
            elif piece.side == "smallest":
                assert piece.binding == ("domain",)
                assert y == 0
            elif piece.side == "first":
                assert piece.binding == ("domain",)
                assert x == 1
    assert named or not drawn.region.runs


def test_beyond_the_last_slice_there_is_nothing(drawn: Drawn) -> None:
    for piece in pieces(drawn.axes, drawn.region):
        if piece.side != "last":
            continue
        x, low = piece.points[0]
        further = [x + step for step in STEPS]
        if piece.binding == ("batch",):
            assert all(batch > drawn.axes.high or drawn.broken(batch, low) for batch in further)
        else:
            assert all(drawn.broken(batch, low) for batch in further)
            assert any(set(piece.binding) <= drawn.broken(x + step, low) for step in STEPS)


def test_between_the_ends_of_a_slice_everything_is_allowed_and_nothing_beyond(drawn: Drawn) -> None:
    choose = random.Random(1)
    for run in drawn.region.runs:
        for row in run:
            low, high = int(row.bottom.value), int(row.top.value)
            for context in {low, high, *(choose.randint(low, high) for _ in range(4))}:
                assert not drawn.broken(row.x, context), (row.x, context)
            for context in (high + 1, 2 * high + 1, 10 * high + 7):
                assert drawn.broken(row.x, context), (row.x, context)


@pytest.mark.parametrize("seed", [100, 101])
def test_an_empty_region_has_no_feasible_point(seed: int) -> None:
    found = Drawn(seed, 0.3, 0.5)
    assert found.region.refused is not None
    assert not found.region.runs
    assert all(found.broken(batch, 0) for batch in range(1, 41))


def test_a_corner_is_found_to_the_next_whole_number(drawn: Drawn) -> None:
    """Where another limit begins to bind, there is no batch between that is allowed."""
    for run in drawn.region.runs:
        for one, other in pairwise(run):
            if one.top.binding != other.top.binding:
                between_ = range(int(one.x) + 1, int(other.x))
                allowed = [batch for batch in between_ if not drawn.broken(batch, 0)]
                assert len(allowed) <= max(0, int(one.x) // 500), (one.x, other.x, allowed)


def test_the_picture_shows_the_region(drawn: Drawn) -> None:
    if not drawn.region.runs:
        return
    picture = picture_of(drawn.axes, drawn.region)
    rows = [row for run in drawn.region.runs for row in run]
    assert [(span.x, span.low, span.high) for area in picture.areas for span in area] == [
        (row.x, low.value, high.value) for row in rows for low, high in row.intervals
    ]
    shown = {point for curve in picture.curves for piece in curve.pieces for point in piece}
    assert {(float(row.x), float(row.top.value)) for row in rows} <= shown
    assert all(curve.name for curve in picture.curves)


# -- what a line shows


def drawn_by(line: str) -> tuple[Picture, dict[str, Any]]:
    found = HERE.say(f"plot region {line}")
    assert found.picture is not None
    return found.picture, found.to_dict()


def test_limits_are_named_as_they_were_said() -> None:
    picture, data = drawn_by("batch, context given tpot <= 40 ms, context >= 1k")
    names = {curve.name for curve in picture.curves}
    assert "tpot <= 40 ms" in names
    assert "context_tokens >= 1000" in names
    assert "memory: memory_used_per_gpu <= memory_budget" not in names
    assert {tuple(row["binding"]) for row in data["rows"]} >= {("tpot",), ("context_tokens",)}
    assert picture.x.title == "batch [seq]"
    assert picture.y.title == "context_tokens [tok]"


def test_lists_end_the_axes() -> None:
    picture, data = drawn_by("batch, context given batch in 2..64, context in 1k..16k")
    spans = [span for area in picture.areas for span in area]
    assert {spans[0].x, spans[-1].x} == {2, 64}
    assert all(span.low == 1000 and span.high <= 16000 for span in spans)
    assert "batch <= 64" in {curve.name for curve in picture.curves}
    assert data["axes"] == ["batch", "context_tokens"]


def test_a_quantity_with_a_list_has_columns() -> None:
    found = Session("model llama-3.1-70b, gpu 8 x h100-sxm").say(
        "plot region tp, batch given context = 8k, tpot <= 30 ms"
    )
    assert found.picture is not None
    assert all(len(area) == 1 for area in found.picture.areas)
    rows = Session("model llama-3.1-70b, gpu 8 x h100-sxm").which(
        "tp", given="context = 8k, tpot <= 30 ms, batch = 1"
    )
    feasible = {row["tp"] for row in rows.rows if row["feasible"]}
    assert {area[0].x for area in found.picture.areas} == feasible
    assert set(found.picture.x.ticks) == feasible
    assert "tp 1, 2" in found.text()


def test_an_axis_of_fractions() -> None:
    picture, _ = drawn_by("mbu, context given batch = 16, tpot <= 40 ms, mbu >= 0.3")
    spans = [span for area in picture.areas for span in area]
    for span in spans[:: len(spans) // 4]:
        here = HERE.given(f"batch = 16, mbu = {span.x!r}")
        for more, inside in ((0, True), (1, False)):
            tpot = here.ask(f"tpot given context = {span.high + more:.0f}").value
            assert (tpot <= 0.04 * (1 + 1e-9)) == inside, (span, more, tpot)
    assert spans[-1].x == 1
    assert spans[0].low == spans[0].high == 0


def test_what_was_assumed_stands_below() -> None:
    picture, data = drawn_by("batch, context given tpot <= 40 ms")
    assert any(note.startswith("assumed: ") and "mbu 0.80," in note for note in picture.notes)
    assert data["assumed"]["mbu"] == 0.8


def test_statements_of_the_axes_are_set_aside() -> None:
    with_facts = drawn_by("batch, context given tpot <= 40 ms, batch = 3, context = 1k")[0]
    assert with_facts.areas == drawn_by("batch, context given tpot <= 40 ms")[0].areas


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("batch, context given tpot <= 1 ms", "infeasible"),
        ("batch, context given ttft <= 1 s, gpu_memory_utilization = 1%", "infeasible"),
    ],
)
def test_where_nothing_is_allowed_the_card_says_why(line: str, status: str) -> None:
    found = HERE.say(f"plot region {line}")
    assert (found.status, found.picture) == (status, None)
    assert "conflict" in found.text()


def test_what_is_missing_is_asked_for() -> None:
    found = Conversation().say("plot region batch, context given tpot <= 30 ms")[1]
    assert (found.status, found.picture) == ("missing", None)
    assert "model NAME" in found.text()


@pytest.mark.parametrize(
    ("line", "message", "advice"),
    [
        ("batch, context", "nothing limits batch", "state where it ends"),
        ("mbu, context given batch = 2", "nothing says where the axis of mbu begins", "LOW..HIGH"),
        ("price, context given batch = 2, price >= $1/h", "price_per_gpu_hour ends", "LOW..HIGH"),
        ("gpu, batch", "gpu is a choice", "which gpu"),
        ("batch, tp", "tp has a list of values", "plot region tp, batch"),
        ("tp, pp", "pp has a list of values", "which tp, pp"),
    ],
)
def test_axes_that_cannot_be_drawn(line: str, message: str, advice: str) -> None:
    with pytest.raises(Problem, match=message) as caught:
        HERE.say(f"plot region {line}")
    assert any(advice in row for row in caught.value.help)


def test_the_axes_of_statements() -> None:
    found = axes_of("batch", "context_tokens", (Limit("batch", ">=", Fraction(4)),
                                                Limit("batch", "<=", Fraction(9))))  # fmt: skip
    assert (found.low, found.high, found.values) == (4, 9, ())
