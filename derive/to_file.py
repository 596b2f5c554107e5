"""A document written to a file, in the format that its name ends with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from derive.document import Line
from derive.files import checked_file, unwritable
from derive.outcome import Outcome
from derive.paper import Paper

_EXAMPLE = "example: to report.tex"


def _tex(paper: Paper) -> str:
    from derive.as_tex import as_tex

    return as_tex(paper)


def _markdown(paper: Paper) -> str:
    from derive.as_markdown import as_markdown

    return as_markdown(paper)


def _html(paper: Paper) -> str:
    from derive.as_html import as_html

    return as_html(paper)


FORMATS: dict[str, Callable[[Paper], str]] = {"tex": _tex, "md": _markdown, "html": _html}


def checked_document(text: str) -> Path:
    """The path of a file that a document may be written to; Problem for any other."""
    names = ", ".join(f".{name}" for name in FORMATS)
    return checked_file(text, FORMATS, f"a derivation is written to a file in {names}", _EXAMPLE)


def written(path: Path, outcome: Outcome) -> Outcome:
    """The outcome, its document in the file, and a line that says so; Problem where it fails."""
    text = FORMATS[path.suffix.lower().removeprefix(".")](outcome.paper())
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from None
    line = Line(f"  derivation written to {path}")
    data = {**outcome.data, "file": str(path)}
    return replace(outcome, document=(*outcome.document, line), data=data)
