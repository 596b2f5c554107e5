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
