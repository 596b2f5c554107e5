"""A fitted profile as a TOML file, written where later questions find it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from formulas.profiles import profile_folder
from solvers.calibrate import LEVELS, Constants

_HEADER = "# Constants of speed, fitted by `derive calibrate`: seconds, shares and factors.\n"
_MOVES = "\n# What moves them: factors, of the odds for a share.\n"
# A factor this close to 1 says nothing.
_NOTHING = 5e-3


def profile_text(
    about: Mapping[str, Any],
    errors: Mapping[str, Any],
    intervals: Mapping[str, tuple[float, float]],
    caches: Mapping[str, str],
    constants: Constants,
) -> str:
    """The file's text; the same constants give the same text."""
    parts = [_HEADER, _table("profile", about), _table("errors", errors)]
    parts += [_table("intervals", intervals), _table("narrow_cache", caches)]
    parts += [_table("constants", constants.base), _MOVES]
    for level in LEVELS:
        rows = {label: f for (kind, label), f in constants.factors.items() if kind == level}
        for label in sorted(rows):
            moved = {n: f for n, f in rows[label].items() if abs(f - 1) > _NOTHING}
            parts.append(_table(f"{level}.{json.dumps(label)}", moved))
    return "\n".join(parts)


def write_profile(name: str, text: str) -> Path:
    """The file that was written; a profile of that name is replaced as a whole or not at all."""
    folder = profile_folder()
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.toml"
    beside = folder / f".{name}.{os.getpid()}"
    beside.write_text(text, encoding="utf-8")
    beside.replace(file)
    return file


def _table(name: str, rows: Mapping[str, Any]) -> str:
    lines = [f"{key} = {_value(value)}" for key, value in rows.items() if value is not None]
    return "\n".join([f"[{name}]", *lines, ""])


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        text = f"{value:.5g}"
        return text if any(mark in text for mark in ".en") else f"{text}.0"
    if isinstance(value, tuple | list):
        return f"[{', '.join(_value(item) for item in value)}]"
    return str(value) if isinstance(value, int) else json.dumps(str(value), ensure_ascii=False)
