"""A table as a CSV file, and nothing but a CSV file."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from derive.files import checked_file, unwritable

_EXAMPLE = "example: to sweep.csv"


def checked_path(text: str) -> Path:
    """The path of a file that a table may be written to; Problem for any other."""
    return checked_file(text, ("csv",), "a table is written to a .csv file", _EXAMPLE)


def write_csv(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    """Write the rows, the first of them the names of the columns; Problem where that fails."""
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    except (OSError, ValueError) as error:
        raise unwritable(path, error) from None
