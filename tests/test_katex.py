"""Every piece of mathematics renders in KaTeX, strict, as notebooks and Markdown show it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from derive.as_markdown import as_markdown
from derive.sheet_paper import sheet_paper
from tests.documents import needs, papers, replies
from tests.test_documents_tex import every_formula

VERSION = "katex@0.16"
SCRIPT = Path(__file__).parent / "katex_check.js"
PATIENCE = 180
FENCED = re.compile(r"```math\n(.*?)\n```", re.DOTALL)
INLINE = re.compile(r"\$`(.*?)`\$")


@pytest.fixture(scope="session")
def katex(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, installed into a folder of this run; DERIVE_KATEX names one that is there."""
    needs("node")
    there = os.environ.get("DERIVE_KATEX")
    if there:
        return Path(there)
    npm = needs("npm")
    folder = tmp_path_factory.mktemp("katex")
    done = subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", "--no-save", "--prefix", str(folder), VERSION],
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    if done.returncode:
        reason = "npm cannot install katex"
        if os.environ.get("CI"):
            pytest.fail(f"{reason}: {done.stderr.decode(errors='replace')[-400:]}")
        pytest.skip(reason)
    return folder / "node_modules" / "katex"


def rendered(katex: Path, rows: list[tuple[str, bool]]) -> Any:
    done = subprocess.run(
        [needs("node"), str(SCRIPT), str(katex)],
        input=json.dumps(rows).encode(),
        capture_output=True,
        timeout=PATIENCE,
        check=True,
    )
    return json.loads(done.stdout)


def fragments(markdown: str) -> list[tuple[str, bool]]:
    found = [(latex, True) for latex in FENCED.findall(markdown)]
    return found + [(latex, False) for latex in INLINE.findall(FENCED.sub("", markdown))]


def test_every_formula_every_inversion_and_the_sheet(katex: Path) -> None:
    rows = [
        row for paper in (every_formula(), sheet_paper()) for row in fragments(as_markdown(paper))
    ]
    found = rendered(katex, rows)
    assert found["refused"] == []
    assert found["rendered"] > 1500


def test_the_derivations(katex: Path) -> None:
    rows = [row for paper in papers().values() for row in fragments(as_markdown(paper))]
    found = rendered(katex, rows)
    assert found["refused"] == []
    assert found["rendered"] > 1000


def test_what_notebooks_show(katex: Path) -> None:
    texts = [reply._repr_latex_() for reply in replies().values()]
    rows = [(text.strip("$\n"), True) for text in texts if text]
    assert rows
    assert rendered(katex, rows)["refused"] == []


def test_what_katex_does_not_know_is_seen(katex: Path) -> None:
    found = rendered(katex, [(r"\nosuch", True), ("é", False), (r"\frac{1}{2}", False)])
    assert [row[0] for row in found["refused"]] == [r"\nosuch", "é"]
