"""The real command for every test, and golden files that `--update-golden` writes anew."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from derive.cli import main

ROOT = Path(__file__).parent.parent
GOLDEN = Path(__file__).parent / "golden"
PATIENCE = 60

# 100 examples of every property; ten times as many under --hypothesis-profile=thorough.
_QUIET = (HealthCheck.too_slow, HealthCheck.filter_too_much)
# Most examples are seeds of random deployments, which are no simpler for being smaller numbers.
_PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
settings.register_profile(
    "ci", max_examples=100, deadline=None, suppress_health_check=_QUIET, phases=_PHASES
)
settings.register_profile("thorough", settings.get_profile("ci"), max_examples=1000)
settings.load_profile("ci")


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str


Command = Callable[..., Ran]


@pytest.fixture(scope="session")
def derive() -> Command:
    """`derive ARGUMENTS` in a process of its own, with text or bytes as its input."""

    def run(*arguments: str, stdin: str | bytes = "", **environment: str) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "derive", *arguments],
            input=stdin if isinstance(stdin, bytes) else stdin.encode(),
            capture_output=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
            timeout=PATIENCE,
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def here(capfd: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """The command in this process: its exit code, what it printed and what it complained of."""

    def run(*arguments: str) -> tuple[int, str, str]:
        try:
            code = main(arguments)
        except SystemExit as left:
            code = int(left.code or 0)
        return code, *capfd.readouterr()

    return run


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with the golden file of that name, or write it there."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == text

    return compare
