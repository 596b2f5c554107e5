"""Damaged lines, a small dose of `tests/fuzz/mutate_lines.py` on every run."""

from __future__ import annotations

from pathlib import Path

import pytest

from derive.conversation import Conversation
from derive.question import canonical, parse
from tests.fuzz.mutate_lines import KNOWN, SEEDS, mutate, try_line

# A line that takes 2 s fails the script; here another test keeps the other half of the core busy.
PATIENCE = 3.0


def test_damaged_lines_are_read_or_refused() -> None:
    outcomes, failures, _ = mutate(2000, 60, seed=1, read_only=True)
    assert failures == []
    assert outcomes.total() == 2000


def test_damaged_lines_are_answered_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcomes, failures, _ = mutate(2000, 60, seed=2, slow=PATIENCE)
    assert failures == []
    assert outcomes.total() >= 200
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("line", SEEDS)
def test_the_undamaged_lines_are_answered(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert canonical(parse(line))
    for before in (Conversation(), Conversation().say(KNOWN)[0]):
        outcome, failure = try_line(line, before, PATIENCE)
        assert failure is None, (outcome, failure)


# What longer runs of the script found.
FOUND = (
    "tpot <= 30 ms, n_layers given kv_bytes_per_token = 128 KiB, n_kv_heads = 8, d_head = 128",
    "sens mbu by memory_bandwidth, vram_bytes, batch",
    "sens context by memory_bandwidth, vram_bytes, model",
    "sweep tpot, model over batch in 1..256 log2, tp in {4, 8}",
    "sweep tpot, output_token_rate over batch in 1..256 log2, tpot in {4, 8}",
    "cost_per_hour <= $50/h, rate = 600 req/min given tpot = 30 ms, context = ?",
)


@pytest.mark.parametrize("line", FOUND)
def test_lines_that_failed_once(line: str) -> None:
    for before in (Conversation(), Conversation().say(KNOWN)[0]):
        outcome, failure = try_line(line, before, PATIENCE)
        assert failure is None, (outcome, failure)
