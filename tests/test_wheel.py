"""The wheel, in a fresh environment outside the repository: every example prints what is stored."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HOME = Path(__file__).resolve().parent.parent
RUNS = sorted(p for p in (HOME / "examples").iterdir() if p.suffix in (".py", ".derive"))
PLANS = ("llama-70b.toml",)


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command with nothing of the repository on its path."""
    clean = {n: v for n, v in os.environ.items() if not n.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return subprocess.run(
        command,
        cwd=cwd,
        env={**clean, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the examples and an environment that has the wheel and what it needs."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(HOME / "examples", folder / "examples")
    steps = (
        (sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", "wheels", str(HOME)),
        (sys.executable, "-m", "venv", "env"),
        ("env/bin/python", "-m", "pip", "install", "-q", "WHEEL"),
    )
    for step in steps:
        built = [str(path) for path in folder.glob("wheels/*.whl")]
        done = run(
            *(part for word in step for part in (built if word == "WHEEL" else [word])), cwd=folder
        )
        if done.returncode != 0:
            reason = f"no package could be fetched: {done.stderr.strip().splitlines()[-1:]}"
            if os.environ.get("CI"):
                pytest.fail(reason)
            pytest.skip(reason)
    return folder


def test_it_is_the_wheel_that_answers(place: Path) -> None:
    asked = "import derive, formulas, solvers; print(derive.__file__)"
    found = run("env/bin/python", "-c", asked, cwd=place)
    assert Path(found.stdout.strip()).is_relative_to(place), found.stderr


@pytest.mark.parametrize("example", RUNS, ids=lambda path: path.name)
def test_an_example(place: Path, example: Path) -> None:
    words = () if example.suffix == ".py" else ("-m", "derive", "run", "--keep-going")
    found = run("env/bin/python", *words, f"examples/{example.name}", cwd=place)
    assert found.returncode == 0, found.stderr
    assert found.stdout == example.with_suffix(".out").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PLANS)
def test_a_plan(place: Path, name: str) -> None:
    found = run("env/bin/derive", "plan", f"examples/{name}", cwd=place)
    assert found.returncode == 0, found.stderr
    assert "proved over" in found.stdout
