"""Every example runs, its own checks hold, and its output is the one stored beside it."""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HOME = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((HOME / "examples").glob("*.py"))
SESSIONS = sorted((HOME / "examples").glob("*.derive"))
NOTEBOOKS = sorted((HOME / "examples").glob("*.ipynb"))
PLANS = [HOME / "examples" / "llama-70b.toml"]
QUOTED = re.compile(r"<!-- (examples/\S+) -->\n```\w+\n(.*?)```", re.DOTALL)


def command_of(example: Path) -> list[str]:
    words = {
        ".py": [],
        ".derive": ["-m", "derive", "run", "--keep-going"],
        ".toml": ["-m", "derive", "plan"],
    }
    return [*words[example.suffix], str(example)]


@pytest.mark.parametrize("example", [*EXAMPLES, *SESSIONS, *PLANS], ids=lambda path: path.stem)
def test_an_example_prints_what_is_stored(example: Path, request: pytest.FixtureRequest) -> None:
    run = subprocess.run(
        [sys.executable, *command_of(example)],
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


def outputs_of(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """What a notebook shows below a cell: what it prints, and what its last line is worth."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        value = eval(ast.unparse(last.value), names) if isinstance(last, ast.Expr) else None
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        found.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
    if value is not None:
        data = value._repr_mimebundle_()
        found.append({"output_type": "display_data", "metadata": {}, "data": data})
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_is_stored(path: Path, request: pytest.FixtureRequest) -> None:
    book = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    shown = [
        outputs_of(cell["source"], names) for cell in book["cells"] if cell["cell_type"] == "code"
    ]
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    if request.config.getoption("--update-golden"):
        for cell, outputs in zip(code, shown, strict=True):
            cell["outputs"] = outputs
        path.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert shown == [cell["outputs"] for cell in code]
    assert any("text/latex" in output.get("data", {}) for outputs in shown for output in outputs)


def test_the_readme_quotes_what_is_stored() -> None:
    quoted = QUOTED.findall((HOME / "README.md").read_text(encoding="utf-8"))
    assert len(quoted) == 3
    for name, text in quoted:
        assert text in (HOME / name).read_text(encoding="utf-8"), name


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4
    assert SESSIONS
    assert NOTEBOOKS
