"""Ranges of what engines take: from the table, for what nobody states, and never a constant."""

from __future__ import annotations

from fractions import Fraction

import pytest

from derive.session import Session
from formulas.engines import engines, find_engine
from formulas.errors import Problem
from formulas.scenario import scenario

GIB = Fraction(2**30)


def test_an_engine_says_within_which_limits() -> None:
    ranges = scenario(Session(engine="vllm-0.21").statements).ranges
    assert ranges["cuda_graph_bytes"] == (GIB / 5, Fraction("2.6") * GIB)
    (note,) = scenario(Session(engine="vllm-0.21").statements).notes
    assert "github:vllm-project/vllm" in note
    assert ranges["activation_peak"][0] < ranges["activation_peak"][1]


def test_what_is_stated_is_not_widened() -> None:
    rows = Session(engine="vllm-0.21", activation_peak="2 GiB").statements
    known = scenario(rows)
    assert "activation_peak" not in known.ranges
    assert known.given["activation_peak"].value == 2 * GIB


def test_before_graphs_were_counted_they_are_outside_the_budget() -> None:
    assert "cuda_graph_bytes" not in scenario(Session(engine="vllm").statements).ranges


@pytest.mark.parametrize("text", ["vllm-0.22", "sgl", ""])
def test_an_engine_that_is_none(text: str) -> None:
    with pytest.raises(Problem, match="no engine"):
        find_engine(text)


def test_every_range_is_one() -> None:
    for ranges in engines().values():
        assert {"activation_peak", "non_torch_bytes", "cuda_graph_bytes"} == set(ranges)
        assert all(0 <= low <= high for low, high in ranges.values())


def test_the_budget_uses_what_the_engine_takes() -> None:
    session = Session(model="llama-3.1-8b", gpu="h100-sxm", tp=1, engine="vllm")
    reply = session.ask("kv_cache_bytes_per_gpu")
    found = reply.to_dict()
    ends = [found[key] for key in ("low", "high") if key in found] or [reply.value]
    budget = 0.9 * 81559 * 2**20 - 2 * 8_030_261_248
    for value in ends:
        assert budget - (9.37 + 4.09) * 2**30 <= value + 1 <= budget - (0.33 + 0.08) * 2**30 + 2
