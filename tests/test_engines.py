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
    for engine in engines().values():
        taken = {"activation_peak", "non_torch_bytes", "cuda_graph_bytes"}
        assert set(engine.ranges) in (taken, set())
        assert all(0 <= low <= high for low, high in engine.ranges.values())
        assert engine.needs or engine.source


def test_a_share_of_what_is_free() -> None:
    """631 blocks of 64 tokens of 524,288 bytes, from a log that prints 21.89 GiB free."""
    session = Session(model="llama-2-7b", engine="tensorrt-llm", tp=1, batch=1)
    found = session.ask("kv_cache_bytes_per_gpu given free_memory_after_load = 21.89 GiB")
    assert found.value == pytest.approx(631 * 64 * 524288, rel=2e-3)
    assert "engine" not in found.to_dict().get("unused", [])


def test_an_engine_whose_share_nobody_states_says_so() -> None:
    lacking = Session(model="llama-3.1-8b", gpu="h100-sxm", engine="sglang")
    notes = lacking.ask("kv_cache_bytes_per_gpu").to_dict()["notes"]
    assert any("state mem_fraction_static" in note for note in notes)
    stated = lacking.ask("kv_cache_bytes_per_gpu given mem_fraction_static = 0.8")
    assert not any("mem_fraction_static" in note for note in stated.to_dict().get("notes", []))
    weights = 2 * 8_030_261_248
    assert stated.value == pytest.approx(0.8 * 81559 * 2**20 - weights, rel=1e-9)


def test_the_engine_chooses_its_part_of_a_profile() -> None:
    facts = "model llama-3.1-70b, gpu 8 x h100-sxm, batch = 8, context = 4k"
    one = Session(f"{facts}, profile = measured, engine = vllm").ask("tpot")
    other = Session(f"{facts}, profile = measured/vllm").ask("tpot")
    assert one.value == other.value
    assert one.to_dict().get("unused", []) == []


def test_the_budget_uses_what_the_engine_takes() -> None:
    session = Session(model="llama-3.1-8b", gpu="h100-sxm", tp=1, engine="vllm")
    reply = session.ask("kv_cache_bytes_per_gpu")
    found = reply.to_dict()
    ends = [found[key] for key in ("low", "high") if key in found] or [reply.value]
    budget = 0.9 * 81559 * 2**20 - 2 * 8_030_261_248
    for value in ends:
        assert budget - (9.37 + 4.09) * 2**30 <= value + 1 <= budget - (0.33 + 0.08) * 2**30 + 2
