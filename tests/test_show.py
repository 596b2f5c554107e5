"""`derive show`: a page for every formula and every quantity, and what a wrong name is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from derive.as_latex import relation_latex
from derive.as_plain import relation_plain
from derive.as_text import as_text
from derive.document import Equation, Heading, Line, Table
from derive.show import show_data, show_document
from formulas.catalogue import catalogue
from formulas.errors import Problem
from formulas.quantities import ALIASES
from solvers.inversions import inversions

GOLDEN = Path(__file__).parent / "golden"
RELATIONS = tuple(catalogue().relations.values())


def text_of(name: str, solve_for: str | None = None) -> str:
    return as_text(show_document(name, solve_for), width=100)


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda r: r.key)
def test_every_relation_has_a_page(relation: Any) -> None:
    document = show_document(relation.key)
    headings = [block.text for block in document if isinstance(block, Heading)]
    assert headings[0].startswith(f"{relation.key}    {relation.section}")
    equations = [block for block in document if isinstance(block, Equation)]
    assert equations[0].plain == relation_plain(relation, letters=True)
    assert equations[0].latex == relation_latex(relation)
    assert Line("  " + relation_plain(relation, letters=False)) in document
    table = next(block for block in document if isinstance(block, Table))
    assert len(table.rows) == 1 + len(relation.inputs) + len(relation.cancels)
    branches = sum(len(row.branches) for row in inversions(relation))
    assert len(equations) >= 1 + branches
    # Nothing that only a programmer reads.
    words = ("None", "Piecewise", "True", "Eq(", "Symbol")
    assert not any(word in as_text(document) for word in words)
    json.dumps(show_data(relation.key), allow_nan=False)


@pytest.mark.parametrize("name", tuple(catalogue().quantities))
def test_every_quantity_has_a_page(name: str) -> None:
    text = text_of(name)
    assert f"{name}    quantity" in text
    assert catalogue().quantities[name].meaning.split()[0] in text
    data = json.loads(json.dumps(show_data(name), allow_nan=False))
    assert data["quantity"]["id"] == name
    ranks = [row["rank"] for row in data["quantity"]["given_by"]]
    assert ranks == sorted(ranks, reverse=True)


def test_the_ring_is_shown_as_on_the_sheet() -> None:
    assert text_of("ring_all_reduce") + "\n" == (GOLDEN / "show_ring_all_reduce.txt").read_text(
        "utf-8"
    )


def test_the_ring_has_its_quantities_with_units_and_every_inverse() -> None:
    (data,) = show_data("ring_all_reduce")["relations"]
    units = {row["name"]: row["unit"] for row in data["quantities"]}
    assert units == {
        "all_reduce_time": "s",
        "ring_gpus": "1",
        "link_latency": "s",
        "message_bytes": "byte",
        "link_bandwidth": "byte/s",
    }
    assert data["quantities"][1]["tag"] == "GPUs"
    assert (data["section"], data["chapter"], data["kind"]) == ("scaling", 21, "model")
    solved = {row["quantity"]: row for row in data["inversions"]}
    assert set(solved) == set(units) - {"all_reduce_time"}
    assert all(row["branches"] for row in solved.values())
    assert "full-duplex" in data["holds_when"]


def test_one_inverse_is_shown_alone() -> None:
    document = show_document("kv_bytes_per_token", "n_kv_heads")
    equations = [block.plain for block in document if isinstance(block, Equation)]
    assert equations[1:] == [
        "n_kv_heads = kv_bytes_per_token / (2 n_layers d_head kv_bytes_per_element)"
    ]
    assert not any(isinstance(block, Table) for block in document)
    (relation,) = show_data("kv_bytes_per_token", "kv_heads")["relations"]
    assert [row["quantity"] for row in relation["inversions"]] == ["n_kv_heads"]


def test_a_quantity_is_solved_through_the_relations_that_give_it() -> None:
    data = show_data("step_time", "weights")
    assert data["quantity"] is None
    assert [row["id"] for row in data["relations"]] == [
        "decode_step_kv",
        "decode_step_kv.sum",
        "decode_step_bound.step_time",
    ]


def test_ranges_and_conditions_are_read() -> None:
    text = text_of("chunked_prefill.prefill_iterations")
    assert "chunk_tokens · (prefill_iterations - 1) < prompt_tokens <= " in text
    text = text_of("roofline")
    assert "memory_bandwidth >= peak_flops / arithmetic_intensity    where" in text
    text = text_of("deployment.stage_send_time")
    assert "any link_bandwidth    where" in text
    assert "not pp: pp stands in a condition" in text


def test_bounds_point_in_their_direction() -> None:
    text = text_of("startup_probe_budget")
    assert "failure_threshold > (download_time + load_time + compile_time) / probe_period" in text
    assert "download_time < failure_threshold probe_period - load_time - compile_time" in text
    text = text_of("decode_step_bound")
    assert "memory_bandwidth >= weight_bytes / step_time" in text
    assert "weight_bytes <= memory_bandwidth / sequence_token_rate" in text
    assert "bound" in text.splitlines()[0]


def test_an_array_says_why_it_has_no_inverse() -> None:
    text = text_of("attention")
    assert "not Q, K, V, M, d_k: an array has no inverse; it is computed forwards" in text
    (data,) = show_data("attention")["relations"]
    assert data["quantities"][1]["unit"] == "[n_q, d_k]"


def test_an_entry_of_several_relations_shows_them_in_order() -> None:
    document = show_document("integer_quantization")
    headings = [block.text.split()[0] for block in document if isinstance(block, Heading)]
    expected = [row.key for row in catalogue().formulas["integer_quantization"]]
    assert headings == expected
    assert len(show_data("integer_quantization.quant_scale")["relations"]) >= 1


def test_a_name_that_is_both_shows_both() -> None:
    both = [identity for identity in catalogue().formulas if identity in catalogue().quantities]
    assert len(both) == 21
    for name in both:
        data = show_data(name)
        assert data["relations"]
        assert data["quantity"]["id"] == name


def test_aliases_and_plurals_are_read() -> None:
    for alias, name in ALIASES.items():
        if alias not in catalogue().formulas:
            assert show_data(alias) == show_data(name)
    assert show_data("utilization")["quantity"]["id"] == "gpu_memory_utilization"
    assert len(show_data("utilization")["relations"]) == 2
    assert show_data("context")["quantity"]["aliases"][:2] == ["context", "ctx"]


def test_a_quantity_says_its_default_and_why() -> None:
    assert show_data("mbu")["quantity"]["default"] == {
        "text": "0.80",
        "value": 0.8,
        "why": "Fitted on public measurements.",
    }
    assert "3.5 ms: Fitted" in text_of("step_overhead")
    assert show_data("batch")["quantity"]["default"]["text"] == "requests_in_flight / replicas"
    assert show_data("vram")["quantity"]["default"] is None


def test_definitions_are_shown_by_their_id() -> None:
    assert "itl = tpot" in text_of("deployment.itl")
    text = text_of("deployment.kv_elements_per_token.mla")
    assert "where kv_lora_rank is known" in text


@pytest.mark.parametrize(
    ("name", "message", "help_text"),
    [
        ("ring_al_reduce", "no formula and no variable 'ring_al_reduce'", "'ring_all_reduce'"),
        ("contxt", "no formula and no variable 'contxt'", "'context'"),
        ("deployment.tpt", "no formula and no variable 'deployment.tpt'", "'deployment.tpot'"),
        ("zzz", "no formula and no variable 'zzz'", "search: derive list zzz"),
    ],
)
def test_an_unknown_name_says_what_was_meant(name: str, message: str, help_text: str) -> None:
    for show in (show_document, show_data):
        with pytest.raises(Problem) as caught:
            show(name)
        assert caught.value.kind == "name"
        assert caught.value.message == message
        assert help_text in caught.value.help[0]


def test_solving_for_what_is_not_in_it_says_what_is() -> None:
    with pytest.raises(Problem, match="'tpot' does not stand in roofline") as caught:
        show_document("roofline", "tpot")
    assert "memory_bandwidth" in caught.value.help[0]
    with pytest.raises(Problem) as caught:
        show_document("roofline", "memory_bandwith")
    assert caught.value.kind == "name"
    assert "memory_bandwidth" in caught.value.help[0]
