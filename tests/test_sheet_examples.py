"""The worked examples of the sheet: the engine's result is that of plain arithmetic."""

from __future__ import annotations

import math
from typing import Any

import pytest

from derive.sheet_examples import answered, example_blocks, result_of, value_of_row
from formulas.catalogue import catalogue
from formulas.formula import VOCABULARY
from formulas.tables import load

# By hand, from the text of the sheet.
EXPECTED: dict[str, Any] = {
    "kv_bytes_per_token": 2 * 32 * 8 * 128 * 2,
    "weight_bytes": 14e9 * 2,
    "max_sequences": (72e9 - 28e9 - 4e9) / (163840 * 4096),
    "decode_step_bound.step_time": 16e9 / 3.35e12,
    "decode_step_kv": (16e9 + 32 * 4096 * 131072) / 3.35e12,
    "ridge_point": 989e12 / 3.35e12,
    "roofline": min(989e12, 3.35e12 * 32),
    "prefill_flops.prefill_time": 64e12 / (989e12 * 0.55),
    "chunked_prefill.prefill_iterations": 15,
    "speculative_expected_tokens": (1 - 0.8**5) / (1 - 0.8),
    "ring_all_reduce": 2 * 7 * 1.5e-6 + 2 * 7 / 8 * 524288 / 450e9,
    "pipeline_bubble": 3 / 15,
    "moe_experts_touched": 1 - (1 - 8 / 256) ** 64,
    "kv_transfer": 8192 * 327680 / 50e9,
    "tpot": (10.2 - 0.4) / 245,
    "littles_law": 40,
    "replica_request_rate": 1 / (300 * 0.025 / 32 + 0.12),
    "replicas": math.ceil(20 / (2.8 * 0.7)),
    "cost_per_million_tokens": 2 * 2.5 / (1500 * 3600 / 1e6),
    "locked_batch_utilization": (1600 / 4) / 1000,
    "speculative_acceptance.acceptance_rate": 0.4 + 0.3 + 0.2,
    "softmax_temperature": math.exp(2) / (math.exp(2) + math.e + 1),
    "constrained_decoding.token_probability": math.exp(2) / (math.exp(2) + 1),
    "decode_step_kv.sum": (16e9 + (4096 + 8192 + 2048) * 131072) / 3.35e12,
    "goodput": 2 / 2,
    "vector_storage": 100e6 * 1024 * 4,
    "time_to_first_answer": 160.5,
}


def inputs(key: str) -> dict[str, Any]:
    relation = catalogue().relations[key]
    found = {}
    for name, value in load("examples.toml")[key].items():
        own = f"{relation.id}.{name}"
        found[own if own in VOCABULARY else name] = value_of_row(value)
    return found


@pytest.mark.parametrize("key", EXPECTED)
def test_a_worked_example(key: str) -> None:
    found = result_of(answered(catalogue().relations[key], inputs(key)))
    assert math.isclose(float(found), EXPECTED[key], rel_tol=1e-9)


def test_every_relation_of_the_sheet_has_one() -> None:
    """But for the layer, whose attention and MLP are not told."""
    lacking = [
        relation.key
        for rows in catalogue().formulas.values()
        for relation in rows
        if not example_blocks(relation)
    ]
    assert lacking == ["decoder_layer.h", "decoder_layer.layer_output"]


def test_every_row_belongs_to_a_relation() -> None:
    for key in load("examples.toml"):
        relation = catalogue().relations[key]
        names = set(inputs(key))
        assert names == set(relation.inputs), key
