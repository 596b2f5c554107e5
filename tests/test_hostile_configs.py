"""Configs with something wrong in them: a message that names the key, and never a number."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from formulas.models import models
from tests.deployments import answers
from tests.test_memory_observed import DATA, OF_TABLE, plain

FEWEST = 200
# The keys of each model that its memory hangs on.
WIDE = (
    "num_hidden_layers",
    "hidden_size",
    "num_attention_heads",
    "num_key_value_heads",
    "vocab_size",
)
KEYS: dict[str, tuple[str, ...]] = {
    "qwen2.5-72b": (*WIDE, "intermediate_size", "model_type"),
    "qwen3-32b": (*WIDE, "head_dim", "intermediate_size"),
    "qwen3-30b-a3b": (*WIDE, "head_dim", "num_experts", "num_experts_per_tok"),
    "qwen3-235b-a22b": ("moe_intermediate_size", "num_hidden_layers"),
    "gpt-oss-120b": ("num_local_experts", "sliding_window", "head_dim", "num_key_value_heads"),
    "qwen3-coder-480b-a35b": ("num_hidden_layers", "head_dim", "num_experts"),
    "deepseek-v3": (
        "num_hidden_layers", "hidden_size", "kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim",
        "v_head_dim", "n_routed_experts", "num_experts_per_tok", "moe_intermediate_size",
        "first_k_dense_replace", "n_shared_experts",
    ),
    "deepseek-v3.2": ("index_head_dim", "index_n_heads", "kv_lora_rank"),
    "qwen3.5-27b": (
        "layer_types", "linear_num_key_heads", "linear_num_value_heads", "linear_key_head_dim",
        "linear_value_head_dim", "linear_conv_kernel_dim", "num_key_value_heads", "head_dim",
    ),
    "gemma-4-31b": ("layer_types", "global_head_dim", "num_global_key_value_heads", "head_dim"),
}  # fmt: skip
# What may be 0: no dense layers first, no shared experts, no window.
MAY_BE_NONE = ("first_k_dense_replace", "n_shared_experts", "sliding_window")
VALUES: dict[str, Any] = {
    "negative": -4,
    "zero": 0,
    "huge": 10**12,
    "fraction": 2.5,
    "text": "12",
    "list": [12],
    "object": {"value": 12},
    "true": True,
}
PATTERNS: dict[str, str] = {
    "F": "full_attention",
    "S": "sliding_attention",
    "G": "linear_attention",
}
LAYERS = {"qwen3.5-27b": "GGGF" * 16, "gemma-4-31b": "SSSSSF" * 10}
DENSE = {"deepseek-v3": 3, "deepseek-v3.2": 3}


def quantized(**config: Any) -> dict[str, Any]:
    return {"quantization_config": config}


# Keys that contradict each other: the model, what is changed, and a word of the message.
CONTRADICTIONS: list[tuple[str, dict[str, Any], str]] = [
    ("qwen3-32b", {"num_key_value_heads": 7}, "key-value heads"),
    ("qwen3-32b", {"num_key_value_heads": 128}, "key-value heads"),
    ("qwen2.5-72b", {"num_attention_heads": 63, "head_dim": None}, "num_attention_heads"),
    ("qwen3-30b-a3b", {"num_experts_per_tok": 129}, "uses 129 experts"),
    ("qwen3-30b-a3b", {"mlp_only_layers": [0, 48]}, "mlp_only_layers"),
    ("qwen3-30b-a3b", {"mlp_only_layers": [-1]}, "mlp_only_layers"),
    ("deepseek-v3", {"first_k_dense_replace": 62}, "first_k_dense_replace"),
    ("deepseek-v3", {"kv_lora_rank": 512, "qk_rope_head_dim": None}, "qk_rope_head_dim"),
    ("qwen3.5-27b", {"layer_types": ["full_attention"] * 63}, "layer_types"),
    ("qwen3.5-27b", {"layer_types": ["telepathy"] * 64}, "layer_types"),
    ("gpt-oss-120b", {"layer_types": ["full_attention"] * 35}, "layer_types"),
    ("gpt-oss-120b", {"model_type": "gpt_oss_2"}, "gpt_oss_2"),
    ("qwen3-32b", {"model_type": "deepseek_v4"}, "deepseek_v4"),
    ("qwen3-32b", {"model_type": 3}, "model_type"),
    ("qwen3-32b", {"torch_dtype": "int3"}, "torch_dtype"),
    ("qwen3-32b", {"mamba_d_state": 128}, "mamba_d_state"),
    ("qwen3-32b", {"num_moe_experts": 64}, "num_moe_experts"),
    ("qwen3-32b", {"num_kv_shared_layers": 10}, "num_kv_shared_layers"),
    ("qwen3-32b", {"is_encoder_decoder": True}, "is_encoder_decoder"),
    ("qwen3-32b", {"quantization_config": "awq"}, "quantization_config"),
    ("qwen3-32b", quantized(quant_method="awq", bits="4"), "bits"),
    ("qwen3-32b", quantized(quant_method="awq", bits=-4), "bits"),
    ("qwen3-32b", quantized(quant_method="awq", bits=4, group_size=1.5), "group_size"),
    ("qwen3-32b", quantized(quant_method="fp8", weight_block_size=[-128]), "weight_block_size"),
    ("qwen3-32b", quantized(quant_method="fp8", ignore="lm_head"), "ignore"),
    ("qwen3-32b", {"tie_word_embeddings": "yes"}, "tie_word_embeddings"),
    ("qwen3-32b", {"max_position_embeddings": -1}, "max_position_embeddings"),
]  # fmt: skip


def base(name: str) -> dict[str, Any]:
    """The config.json of a shipped model."""
    row = plain(models()[name].row)
    keys = {key: value for key, value in row.items() if key not in OF_TABLE}
    if name in LAYERS:
        keys["layer_types"] = [PATTERNS[letter] for letter in LAYERS[name]]
    return keys | ({"first_k_dense_replace": DENSE[name]} if name in DENSE else {})


def mutations() -> list[tuple[str, dict[str, Any], str]]:
    """Each config that is wrong, with its name and what its message must hold."""
    found = []
    for name, keys in KEYS.items():
        good = base(name)
        for key in keys:
            gone = {other: value for other, value in good.items() if other != key}
            found.append((f"{name}: no {key}", gone, key))
            for kind, value in VALUES.items():
                harmless = kind == "zero" and key in MAY_BE_NONE
                if not harmless and not (key == "layer_types" and kind == "list"):
                    found.append((f"{name}: {key} {kind}", good | {key: value}, key))
    for name, changes, said in CONTRADICTIONS:
        found.append((f"{name}: {said}", base(name) | changes, said))
    return found


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str, list[dict[str, Any]]]]:
    folder = tmp_path_factory.mktemp("hostile")
    rows = mutations()
    questions = []
    for number, (_, keys, _) in enumerate(rows):
        path = folder / f"{number}.json"
        path.write_text(json.dumps(keys))
        questions += [
            (find, {"model": str(path)}) for find in ("weight_bytes", "kv_bytes_per_token")
        ]
    found = answers(questions)
    return [
        (name, said, found[2 * number : 2 * number + 2])
        for number, (name, _, said) in enumerate(rows)
    ]


def test_there_are_enough_of_them() -> None:
    assert len(mutations()) >= FEWEST


@pytest.mark.parametrize("name", list(KEYS))
def test_the_unchanged_config_is_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(base(name)))
    (answer,) = answers([("weight_bytes", {"model": str(path)})])
    (shipped,) = answers([("weight_bytes", {"model": name})])
    assert answer["status"] == shipped["status"] == "ok"
    assert answer["value"] == pytest.approx(shipped["value"], rel=1e-3)


def test_each_is_refused_by_the_name_of_its_key(
    asked: list[tuple[str, str, list[dict[str, Any]]]],
) -> None:
    wrong = [
        (name, answer.get("value"), answer.get("message"))
        for name, said, replies in asked
        for answer in replies
        if answer["status"] != "error" or said not in answer["message"] or answer.get("value")
    ]
    assert not wrong, wrong[:20]


def test_messages_are_short_and_say_no_more_than_the_file(
    asked: list[tuple[str, str, list[dict[str, Any]]]],
) -> None:
    for name, _, replies in asked:
        for answer in replies:
            assert len(answer["message"]) < 500, name
            assert "Traceback" not in answer["message"], name


def test_the_data_names_its_sources() -> None:
    assert all(case["source"] for case in DATA["cases"])
