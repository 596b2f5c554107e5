"""What engines printed and people measured, against the product's own figures."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import pytest

from tests.deployments import answers, ask

DATA = json.loads((Path(__file__).parent / "data_observed.json").read_text(encoding="utf-8"))
BYTES = {"GiB": 2**30, "byte": 1}
# Logs print two decimals, and which rank's figure it is differs by a per cent.
PRINTED = 0.02


def facts_of(row: dict[str, Any]) -> dict[str, Any]:
    facts = {**row["facts"], "tp": row["tp"], "kv_dtype": row["kv_dtype"]}
    # The latent is one head, which every GPU keeps in full.
    return facts if "n_kv_heads" in facts else {**facts, "n_kv_heads": 1}


def memory_of(row: dict[str, Any]) -> float:
    return float(sum(size * BYTES[unit] for size, unit in row["cache_memory"]))


@pytest.mark.parametrize("row", DATA["startup"], ids=lambda row: row["id"])
def test_cache_bytes_of_a_token(row: dict[str, Any]) -> None:
    """Memory over tokens, both as logged, is what a token costs on each GPU."""
    answer = ask("kv_bytes_per_token_per_gpu", facts_of(row))
    assert answer["status"] == "ok", answer
    assert answer["value"] == pytest.approx(memory_of(row) / row["cache_tokens"], rel=PRINTED)


@pytest.mark.parametrize("row", DATA["startup"], ids=lambda row: row["id"])
def test_tokens_that_fit(row: dict[str, Any]) -> None:
    """The other way round: one sequence as long as the logged memory allows."""
    memory = round(memory_of(row))
    answer = ask("context_tokens", {**facts_of(row), "batch": 1, "kv_bytes_per_gpu": memory})
    assert answer["status"] == "ok", answer
    assert answer["value"] == pytest.approx(row["cache_tokens"], rel=PRINTED)


def test_there_are_rows_of_every_kind() -> None:
    rows = DATA["startup"]
    assert len(rows) >= 25
    assert sum("kv_lora_rank" in row["facts"] for row in rows) >= 4
    assert len({row["tp"] for row in rows}) >= 4
    assert len(DATA["serving"]) == 30


def test_tpot_of_dense_models_with_the_defaults() -> None:
    """A first-order model: half of the rows within a quarter, as the contract says it is."""
    rows = DATA["serving"]
    stated = ("model", "gpu", "weight_dtype", "tp", "prompt_tokens", "output_tokens", "batch")
    found = answers([("tpot", {name: row[name] for name in stated}) for row in rows])
    assert [answer["status"] for answer in found] == ["ok"] * len(rows)
    errors = [
        abs(answer["value"] * 1e3 / row["tpot_ms"] - 1)
        for answer, row in zip(found, rows, strict=True)
    ]
    assert statistics.median(errors) < 0.25
    # And no row is another order of magnitude: units, or a TP that was not applied.
    assert max(errors) < 2
