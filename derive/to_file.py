"""A document written to a file, in the format that its name ends with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from derive.document import Line
from derive.outcome import Outcome
from derive.paper import Paper
from formulas.amounts import shortened
from formulas.errors import Problem

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
    path, shown = Path(text), shortened(text, 60)
    if path.suffix.lower().removeprefix(".") not in FORMATS:
        names = ", ".join(f".{name}" for name in FORMATS)
        message = f"a derivation is written to a file in {names}, not to '{shown}'"
        raise Problem("file", message, (_EXAMPLE,))
    try:
        if path.is_dir():
            raise Problem("file", f"'{shown}' is a directory", (_EXAMPLE,))
        if not path.parent.is_dir():
            raise Problem("file", f"there is no directory '{shortened(str(path.parent), 60)}'")
        if path.exists() and not path.is_file():
            raise Problem("file", f"'{shown}' is no ordinary file", (_EXAMPLE,))
    except (OSError, ValueError) as error:
        raise _unwritable(shown, error) from None
    return path


def written(path: Path, outcome: Outcome) -> Outcome:
    """The outcome, its document in the file, and a line that says so; Problem where it fails."""
    text = FORMATS[path.suffix.lower().removeprefix(".")](outcome.paper())
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except (OSError, ValueError) as error:
        raise _unwritable(shortened(str(path), 60), error) from None
    line = Line(f"  derivation written to {path}")
    data = {**outcome.data, "file": str(path)}
    return replace(outcome, document=(*outcome.document, line), data=data)


def _unwritable(shown: str, error: Exception) -> Problem:
    reason = getattr(error, "strerror", None) or str(error)
    return Problem("file", f"'{shown}' cannot be written: {reason}")
