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
# What scripts read is a format beside those of documents.
_OBJECT = "json"


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


def _object(outcome: Outcome) -> str:
    from derive.as_json import json_text

    return json_text(outcome.data, "utf-8", indent=2) + "\n"


def checked_document(text: str) -> Path:
    """The path of a file that a document may be written to; Problem for any other."""
    endings = (*FORMATS, _OBJECT)
    names = ", ".join(f".{name}" for name in endings)
    return checked_file(text, endings, f"a derivation is written to a file in {names}", _EXAMPLE)


def written(path: Path, outcome: Outcome) -> Outcome:
    """The outcome, its document in the file, and a line that says so; Problem where it fails."""
    form = path.suffix.lower().removeprefix(".")
    text = _object(outcome) if form == _OBJECT else outcome.written_as(form)
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from None
    line = Line(f"  derivation written to {path}")
    data = {**outcome.data, "file": str(path)}
    return replace(outcome, document=(*outcome.document, line), data=data)
