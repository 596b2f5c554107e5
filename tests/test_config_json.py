"""Reading config.json: the same facts as the table's, and each wrong key named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from formulas.errors import Problem
from formulas.models import Model, find_model, read_config

CONFIGS = Path(__file__).parent / "configs"


def config(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CONFIGS / name / "config.json").read_text())
    return found


@pytest.fixture
def read(tmp_path: Path) -> Any:
    """Writes a config.json with those keys, bytes or text, and reads it."""

    def write_and_read(content: dict[str, Any] | str | bytes) -> Model:
        text = json.dumps(content) if isinstance(content, dict) else content
        data = text.encode() if isinstance(text, str) else text
        (tmp_path / "config.json").write_bytes(data)
        return read_config(str(tmp_path / "config.json"))

    return write_and_read


# Published to the last parameter, but for DeepSeek-V3 and Falcon, which are counted by hand below.
DEEPSEEK_ATTENTION = (
    7168 * 1536 + 1536 + 1536 * 128 * 192
    + 7168 * 576 + 512 + 512 * 128 * 256 + 128 * 128 * 7168
)  # fmt: skip
DEEPSEEK_EXPERT = 3 * 7168 * 2048
DEEPSEEK_V3 = (
    2 * 129280 * 7168 + 7168 + 61 * (DEEPSEEK_ATTENTION + 2 * 7168)
    + 3 * 3 * 7168 * 18432 + 58 * (257 * DEEPSEEK_EXPERT + 256 * 7168 + 256)
)  # fmt: skip
FALCON_LAYER = 2 * 4544 + 2 * 4544 * 4544 + 2 * 4544 * 64 + 2 * 4544 * 4 * 4544
FALCON_7B = 65024 * 4544 + 2 * 4544 + 32 * FALCON_LAYER


@pytest.mark.parametrize(
    ("name", "n_params", "shipped"),
    [
        ("dense-gqa-70b", 70_553_706_496, "llama-3.1-70b"),
        ("dense-mha-7b", 6_738_415_616, "llama-2-7b"),
        ("dense-mqa-7b", FALCON_7B, "falcon-7b"),
        ("moe-8x7b", 46_702_792_704, "mixtral-8x7b"),
        ("moe-30b-a3b", 30_532_122_624, "qwen3-30b-a3b"),
        ("mla-671b", DEEPSEEK_V3, "deepseek-v3"),
    ],
)
def test_a_config_gives_the_facts_of_the_shipped_model(
    name: str, n_params: int, shipped: str
) -> None:
    model, row = read_config(str(CONFIGS / name)), find_model(shipped)
    assert model.facts["n_params"] == n_params
    expected = dict(row.facts)
    if name == "dense-mqa-7b":  # which does not say how long a context it can take
        del expected["max_position_embeddings"]
    assert model.facts == expected
    assert model.weight_dtype == row.weight_dtype
    assert model.notes == row.notes


def test_missing_groups_are_assumed_away_and_said() -> None:
    model = read_config(str(CONFIGS / "dense-mha-7b"))
    assert model.facts["n_kv_heads"] == model.facts["n_heads"] == 32
    assert len(model.assumed) == 1
    assert "num_key_value_heads" in model.assumed[0]
    assert not read_config(str(CONFIGS / "dense-gqa-70b")).assumed


@pytest.mark.parametrize(
    ("key", "help_line"),
    [
        ("num_hidden_layers", "state it:  n_layers = ..."),
        ("hidden_size", "state it:  d_model = ..."),
        ("num_attention_heads", "state it:  n_heads = ..."),
        ("vocab_size", "state it:  n_params = ..."),
        ("intermediate_size", "state it:  n_params = ..."),
    ],
)
def test_a_missing_key_is_named(read: Any, tmp_path: Path, key: str, help_line: str) -> None:
    keys = config("dense-gqa-70b")
    del keys[key]
    with pytest.raises(Problem) as caught:
        read(keys)
    problem = caught.value
    assert problem.kind == "model"
    assert problem.message == f"config.json has no '{key}'"
    assert [row.partition("      ")[0] for row in problem.help] == [help_line]
    shape = ("num_hidden_layers", "hidden_size", "num_attention_heads")
    assert ("num_key_value_heads means no grouped heads" in problem.help[0]) == (key in shape)
    assert problem.word == str(tmp_path / "config.json")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("eighty", 'is "eighty", not a whole number'),
        ("80", 'is "80", not a whole number'),
        (True, "is true, not a whole number"),
        (2.5, "is 2.5, not a whole number"),
        ([80], "is a list, not a whole number"),
        ({"a": 1}, "is an object, not a whole number"),
        (-80, "is -80, not positive"),
        (0, "is 0, not positive"),
        (10**12, "is 1000000000000, more than"),
        ("x" * 100_000, "not a whole number"),
    ],
)
@pytest.mark.parametrize(
    "key", ["num_hidden_layers", "hidden_size", "num_key_value_heads", "max_position_embeddings"]
)
def test_a_wrong_value_is_named(read: Any, key: str, value: Any, said: str) -> None:
    with pytest.raises(Problem) as caught:
        read(config("dense-gqa-70b") | {key: value})
    assert caught.value.kind == "config"
    assert caught.value.message.startswith(f"config.json: '{key}' ")
    assert said in caught.value.message
    assert len(caught.value.message) < 200


def test_a_whole_float_is_a_whole_number(read: Any) -> None:
    keys = config("dense-gqa-70b") | {"num_hidden_layers": 80.0}
    assert read(keys).facts == find_model("llama-3.1-70b").facts


def test_null_is_absent(read: Any) -> None:
    with pytest.raises(Problem, match="has no 'hidden_size'"):
        read(config("dense-gqa-70b") | {"hidden_size": None})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"num_attention_heads": 63}, "not a multiple of 'num_attention_heads' 63"),
        ({"num_key_value_heads": 7}, "64 attention heads are not a multiple of 7"),
        ({"tie_word_embeddings": "yes"}, "not true or false"),
        ({"model_type": 5}, "not a text"),
        ({"layer_types": ["full_attention"] * 3}, "has 3 items"),
        ({"layer_types": ["telepathy"] * 80}, "telepathy"),
        ({"layer_types": "full_attention"}, "not a list"),
        ({"layer_types": [1] * 80}, "holds 1, not a text"),
        ({"text_config": "x"}, "'text_config' is \"x\", not an object"),
        ({"quantization_config": []}, "not an object"),
        ({"num_local_experts": 8, "num_experts_per_tok": 9}, "uses 9 experts, and there are 8"),
        ({"num_local_experts": 8}, "has no 'num_experts_per_tok'"),
        ({"kv_lora_rank": 512}, "has no 'qk_rope_head_dim'"),
        ({"mamba_d_state": 16}, "recurrent layers"),
        ({"is_encoder_decoder": True}, "'is_encoder_decoder'"),
        ({"num_kv_shared_layers": 20}, "'num_kv_shared_layers'"),
        ({"model_type": "granitemoehybrid"}, "has no 'layer_types'"),
        ({"hybrid_override_pattern": "*E" * 40}, "has no 'n_routed_experts'"),
        ({"hybrid_override_pattern": "*Q" * 40}, 'holds "Q"'),
    ],
)
def test_keys_that_do_not_go_together(read: Any, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(Problem) as caught:
        read(config("dense-gqa-70b") | changes)
    assert caught.value.kind == ("model" if said.startswith("has no") else "config")
    assert said in caught.value.message


def test_the_text_model_of_a_multimodal_config(read: Any) -> None:
    inner = config("dense-gqa-70b")
    outer = {"model_type": "llava", "text_config": inner, "vision_config": {"hidden_size": 1}}
    assert read(outer).facts == find_model("llama-3.1-70b").facts


@pytest.mark.parametrize(
    ("model_type", "said"), [("novel", '"novel"'), ("", "has no 'model_type'")]
)
def test_an_unknown_family_is_refused_by_name(read: Any, model_type: str, said: str) -> None:
    with pytest.raises(Problem) as caught:
        read(config("dense-gqa-70b") | {"model_type": model_type})
    assert caught.value.kind == "config"
    assert said in caught.value.message
    assert caught.value.help


def test_biases_that_the_config_switches_on(read: Any) -> None:
    plain = find_model("llama-3.1-70b").facts["n_params"]
    attention = read(config("dense-gqa-70b") | {"attention_bias": True}).facts["n_params"]
    assert attention - plain == 80 * (8192 + 2 * 1024 + 8192)
    mlp = read(config("dense-gqa-70b") | {"mlp_bias": True}).facts["n_params"]
    assert mlp - plain == 80 * (2 * 28672 + 8192)


@pytest.mark.parametrize(
    ("changes", "windowed"),
    [
        ({}, 0),
        ({"sliding_window": 4096}, 80),
        ({"sliding_window": None}, 0),
        ({"sliding_window": 4096, "use_sliding_window": False}, 0),
        ({"sliding_window": 4096, "use_sliding_window": True, "max_window_layers": 60}, 20),
        ({"model_type": "qwen2", "sliding_window": 4096}, 0),
        ({"model_type": "gemma3_text", "sliding_window": 512}, 67),
        ({"sliding_window": 512, "sliding_window_pattern": 4}, 60),
        ({"sliding_window": 512, "sliding_window_pattern": 10**9}, 80),
        ({"layer_types": ["sliding_attention", "full_attention"] * 40}, 40),
        ({"model_type": "llama4_text", "attention_chunk_size": 8192}, 60),
        ({"model_type": "llama4_text"}, 0),
    ],
)
def test_windows(read: Any, changes: dict[str, Any], windowed: int) -> None:
    model = read(config("dense-gqa-70b") | changes)
    assert model.facts["windowed_layers"] == windowed
    assert bool(model.notes) == bool(windowed)


@pytest.mark.parametrize(
    ("changes", "moe_layers"),
    [
        ({}, 48),
        ({"decoder_sparse_step": 2}, 24),
        ({"mlp_only_layers": [0, 1, 47]}, 45),
        ({"first_k_dense_replace": 3}, 45),
        ({"moe_layer_freq": [0] * 8 + [1] * 40}, 40),
        ({"moe_layer_freq": 2}, 24),
        ({"num_experts": 0, "num_experts_per_tok": 0}, 0),
        ({"num_experts": 1, "num_experts_per_tok": 1}, 0),
    ],
)
def test_which_layers_have_experts(read: Any, changes: dict[str, Any], moe_layers: int) -> None:
    facts = read(config("moe-30b-a3b") | changes).facts
    assert facts["n_moe_layers"] == moe_layers
    assert facts["expert_params"] == moe_layers * 128 * 3 * 2048 * 768
    assert facts["n_experts"] == (128 if moe_layers else 1)


def test_gemma_leaves_out_what_its_class_defaults_to(read: Any) -> None:
    keys = {
        "model_type": "gemma3",
        "text_config": {
            "model_type": "gemma3_text",
            "hidden_size": 2560,
            "intermediate_size": 10240,
            "num_hidden_layers": 34,
            "sliding_window": 1024,
        },
    }
    model = read(keys)
    assert model.facts == find_model("gemma-3-4b").facts
    assert any("head_dim" in sentence for sentence in model.assumed)


@pytest.mark.parametrize(
    ("quantization", "dtype"),
    [
        ({"quant_method": "fp8"}, "fp8"),
        ({"quant_method": "gptq", "bits": 4}, "int4"),
        ({"quant_method": "awq", "bits": 8}, "int8"),
        ({"quant_method": "mxfp4"}, "mxfp4"),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "int4"),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "int8"),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4"),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float"}}},
            },
            "fp8",
        ),
        ({}, None),
        (None, None),
    ],
)
def test_weight_formats(read: Any, quantization: Any, dtype: str | None) -> None:
    model = read(config("dense-gqa-70b") | {"quantization_config": quantization})
    assert model.weight_dtype == dtype
    assert not model.notes


def test_an_unknown_format_is_noted_and_not_assumed(read: Any) -> None:
    model = read(config("dense-gqa-70b") | {"quantization_config": {"quant_method": "quip"}})
    assert model.weight_dtype is None
    assert "quip" in model.notes[0]
