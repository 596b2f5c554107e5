"""TOML files that people write: read whole, or refused with the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from formulas.errors import Problem

LONGEST_FILE = 1_000_000


def load_toml(path: str, number: Callable[[str], Any]) -> dict[str, Any]:
    """The tables of the file; `number` makes what is written with a point a value.

    Problem where the file cannot be read, is too long, or is no TOML.
    """
    import tomllib

    try:
        with open(path, "rb") as file:
            found = file.read(LONGEST_FILE + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Problem("file", f"{path}: {reason}", (), path) from None
    if len(found) > LONGEST_FILE:
        message = f"{path} has more than {LONGEST_FILE} bytes, and is not read"
        raise Problem("file", message, (), path)
    try:
        return tomllib.loads(found.decode("utf-8-sig"), parse_float=number)
    except (ValueError, RecursionError, ArithmeticError) as error:
        message = f"{path} is no TOML file: {str(error)[:200] or 'tables inside tables'}"
        raise Problem("file", message, (), path) from None
