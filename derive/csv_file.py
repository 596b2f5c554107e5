"""A table as a CSV file, and nothing but a CSV file."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from formulas.amounts import shortened
from formulas.errors import Problem

_EXAMPLE = "example: to sweep.csv"


def checked_path(text: str) -> Path:
    """The path of a file that a table may be written to; Problem for any other."""
    path = Path(text)
    shown = shortened(text, 60)
    if path.suffix.lower() != ".csv":
        raise Problem("file", f"a table is written to a .csv file, not to '{shown}'", (_EXAMPLE,))
    try:
        if path.is_dir():
            raise Problem("file", f"'{shown}' is a directory", (_EXAMPLE,))
        if not path.parent.is_dir():
            raise Problem("file", f"there is no directory '{shortened(str(path.parent), 60)}'")
        if path.exists() and not path.is_file():
            raise Problem("file", f"'{shown}' is no ordinary file", (_EXAMPLE,))
    except (OSError, ValueError) as error:
        raise Problem("file", f"'{shown}' cannot be written: {_reason(error)}") from None
    return path


def write_csv(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    """Write the rows, the first of them the names of the columns; Problem where that fails."""
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    except (OSError, ValueError) as error:
        shown = shortened(str(path), 60)
        raise Problem("file", f"'{shown}' cannot be written: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
