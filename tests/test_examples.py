"""Every example runs, its own checks hold, and its output is the one stored beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HOME = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((HOME / "examples").glob("*.py"))
SESSIONS = sorted((HOME / "examples").glob("*.derive"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_is_stored(example: Path, request: pytest.FixtureRequest) -> None:
    run = subprocess.run(
        [sys.executable, str(example)],
        cwd=HOME,
        env={**os.environ, "PYTHONPATH": str(HOME), "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    stored = example.with_suffix(".out")
    if request.config.getoption("--update-golden"):
        stored.write_text(run.stdout, encoding="utf-8")
    assert run.stdout == stored.read_text(encoding="utf-8")


@pytest.mark.parametrize("session", SESSIONS, ids=lambda path: path.stem)
def test_a_saved_session_is_answered_as_stored(
    session: Path, request: pytest.FixtureRequest
) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "derive", "run", f"examples/{session.name}"],
        cwd=HOME,
        env={**os.environ, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, b"")
    # Its last line is a check, which holds.
    assert b"derive> check " in run.stdout
    stored = session.with_suffix(".out")
    if request.config.getoption("--update-golden"):
        stored.write_bytes(run.stdout)
    assert run.stdout.decode() == stored.read_text(encoding="utf-8")


def test_there_are_examples() -> None:
    assert len(EXAMPLES) > 1
