"""Shipped models: their counts against the owners' figures, their facts, and their names."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from formulas.errors import Problem
from formulas.models import Model, expanded, find_model, models
from formulas.tables import load

ALL_MODELS = tuple(models().values())
CONFIGS = Path(__file__).parent / "configs"
# Half a digit of rounding, or this share of the published figure.
TOLERANCE = Fraction(15, 1000)


def by_name(model: Model) -> str:
    return model.name


def test_the_collection_is_whole() -> None:
    assert len(ALL_MODELS) == 67
    assert sum("total_params_exact" in model.row["published"] for model in ALL_MODELS) == 23


@pytest.mark.parametrize("model", ALL_MODELS, ids=by_name)
def test_every_row_says_where_and_when_it_is_from(model: Model) -> None:
    assert model.source
    assert model.source == model.row["source"]
    assert model.row["as_of"] == "2026-11"
    assert model.name == model.name.lower()


@pytest.mark.parametrize("model", ALL_MODELS, ids=by_name)
def test_the_count_is_the_published_one(model: Model) -> None:
    published = model.row["published"]
    counted = model.facts["n_params"]
    if "total_params_exact" in published:
        # The offset is the rows of the embedding for 64 image tokens more.
        offset = published.get("exact_offset", 0)
        assert offset in (0, 64 * model.facts["d_model"])
        assert counted == published["total_params_exact"] + offset
    figure = published["total_params_b"] * 10**9
    near = abs(counted / figure - 1) <= TOLERANCE
    rounded = abs(counted - figure) <= published["rounding_b"] * 10**9
    assert near or rounded or published.get("exception")


def test_exceptions_are_few_and_needed() -> None:
    named = {model.name for model in ALL_MODELS if "exception" in model.row["published"]}
    assert named == {
        "qwen2.5-vl-7b",
        "phi-4",
        "command-r-08-2024",
        "nemotron-3-nano-30b-a3b",
    }


# The owners' active counts, in billions, and what they leave out.
@pytest.mark.parametrize(
    ("name", "billions", "rounding", "without_embeddings"),
    [
        ("mixtral-8x7b", "12.9", "0.05", 0),
        ("mixtral-8x22b", "39", "0.5", 0),
        ("llama-4-scout", "17", "0.5", 0),
        ("llama-4-maverick", "17", "0.5", 0),
        ("qwen3-235b-a22b", "22", "0.5", 0),
        ("qwen3.5-397b-a17b", "17", "0.5", 0),
        ("jamba-v0.1", "12", "0.5", 0),
        ("gpt-oss-20b", "3.6", "0.05", 1),
        ("gpt-oss-120b", "5.1", "0.05", 1),
        ("deepseek-v2-lite", "2.4", "0.06", 1),
        ("deepseek-v3", "37", "0.5", 1),
        ("minimax-m1", "45.9", "0.05", 2),
        ("minimax-m2", "10", "0.5", 2),
    ],
)
def test_active_counts(name: str, billions: str, rounding: str, without_embeddings: int) -> None:
    facts = find_model(name).facts
    left_out = without_embeddings * facts["vocab_size"] * facts["d_model"]
    active = (facts["active_params"] - left_out) / 10**9
    assert abs(active - Fraction(billions)) <= Fraction(rounding)


def test_facts_of_llama_70b() -> None:
    facts = find_model("llama-3.1-70b").facts
    assert facts == {
        "n_layers": 80,
        "d_model": 8192,
        "n_heads": 64,
        "n_kv_heads": 8,
        "d_head": 128,
        "vocab_size": 128256,
        "max_position_embeddings": 131072,
        "n_params": 70_553_706_496,
        "active_params": 70_553_706_496,
        "expert_params": 0,
        "embedding_params": 2 * 128256 * 8192,
        "n_experts": 1,
        "experts_per_token": 1,
        "n_moe_layers": 0,
        "windowed_layers": 0,
    }
    assert all(type(value) is Fraction for value in facts.values())


def test_experts_of_mixtral() -> None:
    facts = find_model("mixtral-8x7b").facts
    assert facts["expert_params"] == 32 * 8 * 3 * 4096 * 14336
    assert facts["n_params"] - facts["active_params"] == 32 * 6 * 3 * 4096 * 14336
    assert (facts["n_experts"], facts["experts_per_token"], facts["n_moe_layers"]) == (8, 2, 32)


def test_facts_of_deepseek_v3() -> None:
    model = find_model("deepseek-ai/DeepSeek-V3")
    facts = model.facts
    assert model.weight_dtype == "fp8"
    assert (facts["n_kv_heads"], facts["n_heads"], facts["n_moe_layers"]) == (1, 128, 58)
    assert (facts["kv_lora_rank"], facts["qk_rope_head_dim"]) == (512, 64)
    assert (facts["qk_nope_head_dim"], facts["v_head_dim"], facts["d_head"]) == (128, 128, 192)
    assert facts["expert_params"] == 58 * 256 * 3 * 7168 * 2048
    assert facts["windowed_layers"] == 0


# Bytes of one token in 16 bits, by hand: 2 layers heads width 2, or layers (latent + rope) 2.
@pytest.mark.parametrize(
    ("name", "kv_bytes"),
    [
        ("llama-3.1-70b", 2 * 80 * 8 * 128 * 2),
        ("llama-2-7b", 2 * 32 * 32 * 128 * 2),
        ("falcon-7b", 2 * 32 * 1 * 64 * 2),
        ("qwen3-32b", 2 * 64 * 8 * 128 * 2),
        ("command-r-v01", 2 * 40 * 64 * 128 * 2),
        ("glm-4.5", 2 * 92 * 8 * 128 * 2),
        ("mistral-nemo-12b", 2 * 40 * 8 * 128 * 2),
        ("deepseek-v3", 61 * (512 + 64) * 2),
        ("kimi-k2", 61 * (512 + 64) * 2),
        ("deepseek-v2-lite", 27 * (512 + 64) * 2),
    ],
)
def test_cache_of_uniform_models(name: str, kv_bytes: int) -> None:
    facts = find_model(name).facts
    if "kv_lora_rank" in facts:
        elements = facts["n_layers"] * (facts["kv_lora_rank"] + facts["qk_rope_head_dim"])
    else:
        elements = 2 * facts["n_layers"] * facts["n_kv_heads"] * facts["d_head"]
    assert 2 * elements == kv_bytes
    assert facts["windowed_layers"] == 0


@pytest.mark.parametrize(
    ("name", "windowed"),
    [
        ("gemma-2-9b", 21),
        ("gemma-3-27b", 52),
        ("gpt-oss-120b", 18),
        ("llama-4-scout", 36),
        ("mistral-7b-v0.1", 32),
        ("mistral-7b-v0.3", 0),
        ("qwen3-next-80b-a3b", 36),
        ("jamba-v0.1", 28),
        ("bamba-9b", 29),
        # 54 Mamba layers and 54 without any mixer; 10 layers of attention.
        ("nemotron-h-56b", 108),
        ("minimax-m1", 70),
        # Keys of 192 and values of 128; wider heads in full layers; an indexer's own keys.
        ("mimo-v2-flash", 48),
        ("gemma-4-31b", 60),
        ("deepseek-v3.2", 61),
        ("glm-5", 78),
    ],
)
def test_layers_that_first_order_does_not_describe(name: str, windowed: int) -> None:
    model = find_model(name)
    assert model.facts["windowed_layers"] == windowed
    assert bool(model.notes) == bool(windowed)


@pytest.mark.parametrize("model", ALL_MODELS, ids=by_name)
def test_facts_hang_together(model: Model) -> None:
    facts = model.facts
    assert len(expanded(model.row["layers"])) == len(expanded(model.row["ffns"]))
    assert facts["n_layers"] == len(expanded(model.row["layers"]))
    assert facts["n_heads"] % facts["n_kv_heads"] == 0
    dense = facts["expert_params"] == 0
    assert dense == (facts["active_params"] == facts["n_params"]) == (facts["n_moe_layers"] == 0)
    assert facts["active_params"] <= facts["n_params"]
    assert facts["expert_params"] + facts["embedding_params"] < facts["n_params"]
    assert not model.assumed


def test_weight_formats() -> None:
    said = {model.name: model.weight_dtype for model in ALL_MODELS if model.weight_dtype}
    assert said == {
        "deepseek-v3": "fp8",
        "deepseek-r1": "fp8",
        "deepseek-v3.2": "fp8",
        "kimi-k2": "fp8",
        "minimax-m2": "fp8",
        "mimo-v2-flash": "fp8",
        "gpt-oss-20b": "mxfp4",
        "gpt-oss-120b": "mxfp4",
    }


@pytest.mark.parametrize("model", ALL_MODELS, ids=by_name)
def test_every_name_finds_its_model(model: Model) -> None:
    hub = model.row["hf_id"]
    names = (model.name, model.name.upper(), hub, hub.partition("/")[2])
    for text in (*names, *model.row.get("aliases", ())):
        assert find_model(text) is model


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("llama-3.1-70b-instruct", "llama-3.1-70b"),
        ("meta-llama/Llama-3.1-70B-Instruct", "llama-3.1-70b"),
        ("Meta-Llama-3.1-8B-Instruct", "llama-3.1-8b"),
        ("llama 3.3 70b", "llama-3.3-70b"),
        ("google/gemma-3-27b", "gemma-3-27b"),
        ("gemma-3-27b-it", "gemma-3-27b"),
        ("falcon", "falcon-7b"),
        ("kimi", "kimi-k2"),
        ("gpt-oss-1", "gpt-oss-120b"),
    ],
)
def test_shorter_and_other_spellings(text: str, name: str) -> None:
    assert find_model(text).name == name


def test_an_ambiguous_name_lists_what_it_may_mean() -> None:
    with pytest.raises(Problem) as caught:
        find_model("Mixtral")
    problem = caught.value
    assert (problem.kind, problem.message) == ("model", "'Mixtral' names 2 models")
    assert problem.candidates == ("mixtral-8x7b", "mixtral-8x22b")
    assert "mixtral-8x7b (46.7B)" in problem.help[0]


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("llama3.1-70b", "llama-3.1-70b"),
        # Another model, which a prefix must not turn into its little sister.
        ("deepseek-v2", "deepseek-v2-lite"),
        ("someone/llama-3.1-70b", "llama-3.1-70b"),
    ],
)
def test_an_unknown_name_gets_the_nearest(text: str, near: str) -> None:
    with pytest.raises(Problem) as caught:
        find_model(text)
    assert caught.value.kind == "model"
    assert caught.value.message == f"no model '{text}'"
    assert near in caught.value.candidates


@pytest.mark.parametrize("text", ["", "/", "a/b/c", "x" * 10_000, "x/" * 5_000, "a\0b", "\ud800"])
def test_a_name_that_is_none(text: str) -> None:
    with pytest.raises(Problem):
        find_model(text)


def test_a_path_is_read() -> None:
    by_path = find_model(str(CONFIGS / "dense-gqa-70b" / "config.json"))
    by_folder = find_model(str(CONFIGS / "dense-gqa-70b"))
    assert by_path.name == by_folder.name == "dense-gqa-70b"
    assert by_path.facts == by_folder.facts == find_model("llama-3.1-70b").facts
    assert by_path.source == (str(CONFIGS / "dense-gqa-70b" / "config.json"),)


def test_a_name_in_full_wins_over_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = (CONFIGS / "moe-8x7b" / "config.json").read_text()
    for folder in ("llama-3.1-70b", "mine"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "config.json").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert find_model("llama-3.1-70b") is models()["llama-3.1-70b"]
    assert find_model("mine").facts == find_model("./llama-3.1-70b").facts
    assert find_model("mine").facts == find_model("mixtral-8x7b").facts


def test_short_patterns() -> None:
    assert expanded("F3") == "FFF"
    assert expanded("(SF)2S") == "SFSFS"
    assert expanded("D3E2-") == "DDDEE-"


def test_rows_are_read_only() -> None:
    row: Any = find_model("llama-3.1-70b").row
    facts: Any = find_model("llama-3.1-70b").facts
    for mapping in (row, facts, load("models.toml")):
        with pytest.raises(TypeError):
            mapping["n_layers"] = 1
