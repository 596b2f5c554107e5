"""pdflatex compiles every document without a warning of any kind."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from derive.as_latex import relation_latex
from derive.as_tex import as_tex
from derive.inverse_lines import branch_line
from derive.paper import Block, Code, Display, Grid, Paper, Paragraph, Section, Title, Typed, cells
from derive.sheet_paper import sheet_paper
from formulas.catalogue import catalogue
from solvers.inversions import inversions
from tests.documents import needs, papers

TROUBLE = ("Warning", "Overfull", "Underfull", "undefined", "! ", "Missing character")
PATIENCE = 120


def compiled(text: str, folder: Path) -> list[str]:
    """The lines of the log that complain, after two runs."""
    program = needs("pdflatex")
    (folder / "paper.tex").write_text(text, encoding="utf-8")
    for _ in range(2):
        done = subprocess.run(
            [program, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
            cwd=folder,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    log = (folder / "paper.log").read_text(encoding="utf-8", errors="replace").splitlines()
    found = [line for line in log if any(word in line for word in TROUBLE)]
    if done.returncode or not (folder / "paper.pdf").exists():
        found.append(f"exit code {done.returncode}")
    return found


def every_formula() -> Paper:
    blocks: list[Block] = [Title("Every formula with every inversion")]
    for relation in catalogue().relations.values():
        blocks += [Section(relation.key, 2), Display(relation_latex(relation), relation.key)]
        for found in inversions(relation):
            for branch in found.branches:
                blocks.append(Display(branch_line(relation, found.quantity, branch).latex))
    return tuple(blocks)


def test_every_formula_with_every_inversion(tmp_path: Path) -> None:
    paper = every_formula()
    assert sum(isinstance(block, Display) for block in paper) > 900
    assert compiled(as_tex(paper), tmp_path) == []


def test_the_sheet(tmp_path: Path) -> None:
    assert compiled(as_tex(sheet_paper()), tmp_path) == []


def test_the_documents_of_the_golden_questions(tmp_path: Path) -> None:
    needs("pdflatex")
    found = papers()
    assert len(found) > 25
    for number, (question, paper) in enumerate(found.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert compiled(as_tex(paper), folder) == [], question


def test_what_a_person_types_compiles(tmp_path: Path) -> None:
    text = r"a\b{c}$d&e#f%g_h~i^j<k>|l`m*n[o]'" + '"-- <<,,>> ± µ é 模 €'
    paper = (
        Title(text),
        Section(text),
        Paragraph((text, Typed(text))),
        Grid(("a", text), (cells(text, Typed(text)),)),
        Code((text, "x" * 60 + " " + "derive ask " * 30)),
    )
    assert compiled(as_tex(paper), tmp_path) == []


def test_a_complaint_is_seen(tmp_path: Path) -> None:
    needs("pdflatex")
    wide = "+".join(["x"] * 120)
    text = as_tex((Title("wide"),)).replace(
        r"\end{document}", f"\\[{wide}\\]\n\\ref{{nowhere}}\n\\end{{document}}"
    )
    found = " ".join(compiled(text, tmp_path))
    assert "Overfull" in found
    assert "undefined" in found


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    # Log lines are not wrapped at 79 characters.
    monkeypatch.setenv("max_print_line", "1000")
