"""`derive list`, `derive models`, `derive gpus`: everything once, found by words, in base units."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from typing import Any

import pytest

from derive.as_text import as_text
from derive.document import Fields, Heading, Table
from derive.listing import (
    gpus_data,
    gpus_document,
    list_data,
    list_document,
    models_data,
    models_document,
)
from derive.search import needles
from formulas.catalogue import catalogue
from formulas.errors import Problem
from formulas.hardware import gpus
from formulas.models import models

IDS = [
    "attention",
    "decoder_layer",
    "flops_per_token",
    "softmax_temperature",
    "rope_frequency",
    "kv_bytes_per_token",
    "weight_bytes",
    "max_sequences",
    "decode_step_bound",
    "decode_step_kv",
    "arithmetic_intensity",
    "roofline",
    "ridge_point",
    "decode_matmul_intensity",
    "decode_attention_intensity",
    "prefill_flops",
    "utilization",
    "locked_batch_utilization",
    "paged_block_lookup",
    "prefix_block_hash",
    "chunked_prefill",
    "kv_offload",
    "speculative_acceptance",
    "speculative_expected_tokens",
    "speculative_speedup",
    "integer_quantization",
    "constrained_decoding",
    "lora_forward",
    "lora_size",
    "alpha_beta_transfer",
    "ring_all_reduce",
    "bus_bandwidth",
    "tp_all_reduces",
    "tp_decode_step",
    "pipeline_bubble",
    "moe_experts_touched",
    "kv_transfer",
    "tpot",
    "e2e_latency",
    "goodput",
    "littles_law",
    "replica_request_rate",
    "replicas",
    "cost_per_million_tokens",
    "weight_load_time",
    "startup_probe_budget",
    "prefix_hit_rate",
    "time_to_first_answer",
    "agent_task_latency",
    "video_tokens",
    "vector_storage",
]


def ids(rows: list[dict[str, Any]], kind: str = "") -> set[str]:
    return {row["id"] for row in rows if kind in ("", row.get("kind"))}


def test_the_list_is_the_fifty_one_formulas_in_the_sheets_order() -> None:
    assert len(IDS) == 51
    assert [row["id"] for row in list_data()] == IDS
    assert {row["kind"] for row in list_data()} == {"formula"}
    json.dumps(list_data(), allow_nan=False)


def test_a_formula_says_what_it_takes_and_gives() -> None:
    rows = {row["id"]: row for row in list_data()}
    ring = rows["ring_all_reduce"]
    assert (ring["section"], ring["chapter"], ring["relation"]) == ("scaling", 21, "=")
    assert ring["inputs"] == {
        "ring_gpus": "1",
        "link_latency": "s",
        "message_bytes": "byte",
        "link_bandwidth": "byte/s",
    }
    assert ring["outputs"] == {"all_reduce_time": "s"}
    assert ring["statement"].startswith("all_reduce_time = 2 (ring_gpus - 1) link_latency")
    assert ring["latex"].startswith(r"T_\text{ring} = ")
    assert rows["attention"]["inputs"]["Q"] == "[n_q, d_k]"
    assert rows["chunked_prefill"]["inputs"] == {
        "token_budget": "1",
        "decoding_sequences": "1",
        "prompt_tokens": "1",
    }
    assert list(rows["chunked_prefill"]["outputs"]) == ["chunk_tokens", "prefill_iterations"]
    assert "d_model" not in rows["decode_matmul_intensity"]["inputs"]
    assert rows["decode_step_bound"]["relation"] == ">="
    assert all(row["holds_when"] is not None for row in rows.values())


def test_the_list_for_people_has_a_line_for_each_relation_by_section() -> None:
    document = list_document()
    headings = [block.text for block in document if isinstance(block, Heading)]
    assert headings[0] == "The model"
    assert len(headings) == 9
    named = [label for block in document if isinstance(block, Fields) for label, _ in block.rows]
    assert [label for label in named if label] == IDS
    entries = catalogue().formulas.values()
    assert len(named) == sum(len(rows) for rows in entries)


@pytest.mark.parametrize("words", ["kv cache", ["kv", "cache"], "KV Cache", "cache kv"])
def test_words_find_formulas_definitions_and_quantities(words: str | list[str]) -> None:
    rows = list_data(words)
    assert {row["kind"] for row in rows} == {"formula", "definition", "quantity"}
    assert {"kv_bytes_per_token", "max_sequences", "kv_transfer"} <= ids(rows, "formula")
    assert "deployment.kv_bytes_per_gpu" in ids(rows, "definition")
    assert "kv_bytes_per_gpu" in ids(rows, "quantity")
    assert "roofline" not in ids(rows)


def test_aliases_units_and_run_together_names_are_found() -> None:
    assert "context_tokens" in ids(list_data("ctx"), "quantity")
    assert "price_per_gpu_hour" in ids(list_data("gpu_price"), "quantity")
    assert "memory_bandwidth" in ids(list_data("byte/s"), "quantity")
    assert "tpot" not in ids(list_data("byte/s"), "quantity")
    assert "ring_all_reduce" in ids(list_data("allreduce"), "formula")
    assert "cost_per_million_tokens" in ids(list_data("$/Mtok"), "quantity")


def test_a_short_word_is_not_found_inside_another() -> None:
    assert not needles("tp").all_in("output tokens")
    assert needles("tp").all_in("the tp group")
    assert needles("layers").all_in("one layer")


def test_every_quantity_is_found_by_its_name() -> None:
    for name in catalogue().quantities:
        assert name in ids(list_data(name), "quantity")


def test_nothing_is_an_empty_list_and_a_problem_for_people() -> None:
    assert list_data("contxt") == []
    assert models_data("lama-9") == []
    assert gpus_data("h1000") == []
    with pytest.raises(Problem) as caught:
        list_document("contxt")
    assert caught.value.kind == "name"
    assert caught.value.help == ("did you mean 'context'?",)
    with pytest.raises(Problem, match="no model has 'lama-9'"):
        models_document("lama-9")
    with pytest.raises(Problem, match="no GPU has 'h1000'"):
        gpus_document(["h1000"])


def test_every_model_is_listed_with_its_figures() -> None:
    rows = {row["id"]: row for row in models_data()}
    assert list(rows) == list(models())
    json.dumps(list(rows.values()), allow_nan=False)
    llama = rows["llama-3.1-70b"]
    assert llama["hf_id"] == "meta-llama/Llama-3.1-70B"
    assert (llama["n_layers"], llama["n_heads"], llama["n_kv_heads"]) == (80, 64, 8)
    assert llama["attention"] == "GQA"
    assert (llama["kv_bytes_per_token"], llama["kv_note"]) == (327_680, "")
    assert llama["max_position_embeddings"] == 131_072
    assert llama["weight_dtype"] == "bf16"
    assert llama["source"]
    assert llama["as_of"] == "2026-11"


def test_what_a_cached_token_costs_is_counted_from_the_row() -> None:
    for row in models_data():
        facts = models()[row["id"]].facts
        cached = row["kv_bytes_per_token"]
        if "indexer_layers" in facts:
            width = facts["kv_lora_rank"] + facts["qk_rope_head_dim"]
            # The indexer's key is in FP8 with a scale of 32 bits.
            assert cached == facts["n_layers"] * (2 * width + 128 + 4)
        elif facts["windowed_layers"]:
            assert cached is None
            assert "layers" in row["kv_note"]
        elif "kv_lora_rank" in facts:
            width = facts["kv_lora_rank"] + facts["qk_rope_head_dim"]
            assert cached == 2 * facts["n_layers"] * width
        else:
            assert cached == 4 * facts["n_layers"] * facts["n_kv_heads"] * facts["d_head"]


def test_attention_is_named_by_its_heads() -> None:
    kinds = {row["id"]: row["attention"] for row in models_data()}
    assert kinds["deepseek-v3"] == "MLA"
    assert kinds["falcon-7b"] == "MQA"
    assert kinds["llama-2-7b"] == "MHA"
    assert kinds["qwen3-32b"] == "GQA"


def test_models_are_found_by_words() -> None:
    assert ids(models_data("mla 671")) == set()
    assert {"deepseek-v3", "deepseek-r1"} <= ids(models_data("mla fp8"))
    assert "gemma-3-27b" in ids(models_data("sliding window"))
    text = as_text(models_document("llama-3.1-70b"))
    assert "327\u202f680 B/tok" in text
    assert "meta-llama/Llama-3.1-70B" in text


def test_every_gpu_is_listed_in_base_units() -> None:
    rows = {row["id"]: row for row in gpus_data()}
    assert list(rows) == list(gpus())
    json.dumps(list(rows.values()), allow_nan=False)
    h100 = rows["h100-sxm-80gb"]
    assert h100["vendor"] == "NVIDIA"
    assert h100["vram_bytes"] == 81_559 * 2**20
    assert h100["memory_bandwidth"] == 3_350_000_000_000
    assert h100["peak_flops"]["bf16"] == 989_400_000_000_000
    assert h100["peak_flops"]["fp8"] == 1_978_900_000_000_000
    assert "fp4" not in h100["peak_flops"]
    assert h100["scale_up_bandwidth"] == 450_000_000_000
    assert h100["scale_up_domain_gpus"] == 8
    assert rows["rubin"]["peak_flops"] == {}
    assert rows["t4"]["scale_up_bandwidth"] is None
    assert all(row["source"] and row["as_of"] for row in rows.values())


def test_mig_profiles_have_their_placements() -> None:
    (h100,) = gpus_data("h100-sxm-80gb")
    profiles = {row["name"]: row for row in h100["mig_profiles"]}
    small = profiles["1g.10gb"]
    assert small["instances"] == 7
    assert small["placement_starts"] == [0, 1, 2, 3, 4, 5, 6]
    assert (small["placement_size"], small["placement_units"]) == (1, 8)
    assert small["memory_bandwidth"] == float(Fraction(3_350_000_000_000, 8))
    assert ids(gpus_data("mig")) == {r["id"] for r in gpus_data() if r["mig_profiles"]}


def test_few_gpus_are_shown_with_profiles_and_sources() -> None:
    few, many = gpus_document("h100-sxm-80gb"), gpus_document()
    assert sum(isinstance(block, Table) for block in few) == 2
    assert sum(isinstance(block, Table) for block in many) == 1
    assert "3.35 TB/s" in as_text(few)
    assert "0 1 2 3 4 5 6" in as_text(few)


@pytest.mark.parametrize(
    "call", ["models_document()", "gpus_document()", "models_data()", "gpus_data()"]
)
def test_models_and_gpus_import_nothing_heavy(call: str) -> None:
    code = (
        f"import sys; from derive import listing; listing.{call}; "
        "print([m for m in ('numpy', 'networkx', 'z3') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
