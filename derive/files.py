"""Files that something is written to: which may be, and what is said of those that cannot."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from formulas.amounts import shortened
from formulas.errors import Problem


def checked_file(text: str, endings: Iterable[str], wanted: str, example: str) -> Path:
    """The path of a file with one of the endings, in a folder that is there; else a Problem.

    `wanted` says what is written to which files.
    """
    path, shown = Path(text), shortened(text, 60)
    if path.suffix.lower().removeprefix(".") not in endings:
        raise Problem("file", f"{wanted}, not to '{shown}'", (example,))
    try:
        if path.is_dir():
            raise Problem("file", f"'{shown}' is a directory", (example,))
        if not path.parent.is_dir():
            raise Problem("file", f"there is no directory '{shortened(str(path.parent), 60)}'")
        if path.exists() and not path.is_file():
            raise Problem("file", f"'{shown}' is no ordinary file", (example,))
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from None
    return path


def unwritable(path: Path, error: Exception) -> Problem:
    """The Problem of a file that cannot be written, with the reason of the system."""
    reason = getattr(error, "strerror", None) or str(error)
    return Problem("file", f"'{shortened(str(path), 60)}' cannot be written: {reason}")
