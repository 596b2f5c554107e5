"""The list of the reference numbers: as data, as text, and with a word that filters."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from derive.as_text import as_text
from derive.document import Document, Fields, Heading, Line, Table
from derive.numbers_list import numbers_data, numbers_document
from formulas.numbers import numbers
from solvers.recompute import check


def words_of(document: Document) -> str:
    """The text without its line breaks."""
    return " ".join(as_text(document).split())


def test_the_list_for_scripts() -> None:
    rows = json.loads(json.dumps(numbers_data(), allow_nan=False))
    assert [row["id"] for row in rows] == list(numbers())
    assert sum(row["verified"] for row in rows) == 40
    for row in rows:
        assert row["source"]
        assert row["as_of"]
        assert ("computed" in row) == row["verified"] == (row["tolerance"] is not None)
        assert set(row.get("computed", {})) <= set(row["values"])


def test_whole_figures_are_integers_in_the_list() -> None:
    rows = {row["id"]: row for row in numbers_data()}
    embedding = rows["llama31_8b_embedding_table"]
    assert embedding["computed"]["bf16_bytes"] == 1050673152
    assert isinstance(embedding["computed"]["bf16_bytes"], int)
    assert embedding["values"]["fraction_of_model"] == 0.065
    assert rows["draft_length"]["computed"] == {"range": [2, 6]}
    assert rows["prefix_caching_default"]["values"]["vllm"] is True
    assert "rubin_fp4" not in rows["ridge_by_precision"]["computed"]
    assert rows["chunked_prefill_stall"]["qualifier"]["512"] == "at most"
    assert rows["low_precision_rate"]["qualifier"].startswith("only where")
    assert rows["xid_cordon_and_drain"]["meaning"]["79"] == "fallen off the bus"
    assert rows["dense_parameter_split"]["beside"]["falcon-7b"] > 0.7


def test_the_list_for_people() -> None:
    document = numbers_document()
    assert document[0] == Heading("70 reference numbers, 40 of them recomputed")
    assert sum(isinstance(block, Table) for block in document) == 9
    assert not any(isinstance(block, Fields) for block in document)
    lines = [" ".join(line.split()) for line in as_text(document).splitlines()]
    for line in (
        "llama31_70b_weights_bf16 141 GB 141.1 GB ok",
        "bytes 128 KiB 128 KiB ok",
        "gqa_vs_mha_cache 4x to 16x 4x to 16x ok",
        "b200 fp4 about 1 100 FLOP/B 1 169 FLOP/B ok",
        "rubin fp4 about 1 800 FLOP/B quoted",
        "paged_kv_utilization at least 95% 95.24% ok",
        "code and extraction above 0.80",
        "512 at most 45 ms",
        "sign 1 bit 1 bit ok",
        "agent_model_calls 10 to 50 calls per task",
        "unsupported L4, L40S L4, L40S ok",
        "others 32, 64 tokens 32, 64 tokens ok",
        "rag 10 to 20 : 1",
        "reasoning 0.1 to 0.2 : 1",
    ):
        assert line in lines


def test_words_filter_and_show_the_sources() -> None:
    document = numbers_document("KV h100")
    assert document == (Line("no reference number matches 'KV h100'"),)
    document = numbers_document("mig PROFILES")
    assert document[0] == Heading("1 of 70 reference numbers, 1 of them recomputed")
    text = words_of(document)
    assert "cheat sheet Token by Token, chapter 35" in text
    assert "(2026-11)" in text
    assert "fallen off the bus" in words_of(numbers_document("xid drain"))
    assert "beside it: llama-2-7b 0.6424" in words_of(numbers_document("mlp"))


def test_a_difference_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {"ridge": Fraction(590)}
    monkeypatch.setattr(check, "recomputed", lambda name: wrong if "ridge_point" in name else {})
    text = as_text(numbers_document("ridge_point"))
    assert "differs by 100 %" in text
