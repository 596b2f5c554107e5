"""A config.json as a stranger may have written it: read within limits, nothing in it executed."""

from __future__ import annotations

import json
import math
import re
import stat
from pathlib import Path
from typing import Any, NoReturn

from formulas.config_keys import Keys
from formulas.errors import Problem

LARGEST_FILE = 4 * 2**20
DEEPEST_NESTING = 64
MOST_DIGITS = 15
_LONGEST_FLOAT = 40
_LONGEST_PATH = 200
CONFIG = "config.json"
# Where a model for text and images keeps the keys of its text model.
_TEXT_MODELS = ("text_config", "llm_config", "language_config")

_KEPT_SECTIONS = ("quantization_config", "vision_config", "linear_attn_config")

# A backslash hides the character after it; everything else that matters opens or closes something.
_MARK = re.compile(r"\\.|[\"\[\]{}]", re.DOTALL)


def is_path(text: str) -> bool:
    """Whether `text` is a path: it ends in .json, exists, or is a folder with a config.json."""
    if text.lower().endswith(".json"):
        return True
    try:
        path = Path(text)
        return ("/" in text and path.exists()) or (path / CONFIG).is_file()
    except (OSError, ValueError):
        # Too long for a path, or with a null character in it.
        return False


def read_keys(path: str) -> Keys:
    """The keys of the config.json at `path` or in the folder `path`, a text model's own on top."""
    value = parse(_text_of(path), path)
    if not isinstance(value, dict):
        raise _problem(f"{CONFIG} holds {_kind(value)}, not an object", path)
    keys = Keys(value, CONFIG, path)
    inner: dict[str, Any] = {}
    for name in _TEXT_MODELS:
        inner |= keys.section(name).values
    # What the text model does not say itself is said for the whole; vision towers stay apart.
    outer = {
        name: item
        for name, item in value.items()
        if not name.endswith("_config") or name in _KEPT_SECTIONS
    }
    return Keys(outer | inner, CONFIG, path)


def parse(text: str, path: str) -> Any:
    """The JSON value of `text`; a Problem where it breaks a limit or is not JSON."""
    _check_nesting(text, path)

    def whole(digits: str) -> int:
        if len(digits.lstrip("-")) > MOST_DIGITS:
            count = len(digits.lstrip("-"))
            raise _problem(
                f"{CONFIG} holds a number of {count} digits, more than {MOST_DIGITS}", path
            )
        return int(digits)

    def decimal(digits: str) -> float:
        value = float(digits)
        if len(digits) > _LONGEST_FLOAT or not math.isfinite(value):
            raise _problem(f"{CONFIG} holds the number {digits[:_LONGEST_FLOAT]}", path)
        return value

    def constant(name: str) -> NoReturn:
        raise _problem(f"{CONFIG} holds {name}, which is not a number", path)

    try:
        return json.loads(text, parse_int=whole, parse_float=decimal, parse_constant=constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise _problem(f"{CONFIG} is not JSON: {error.msg}, {where}", path) from None


def _text_of(path: str) -> str:
    file = Path(path)
    shown = f"'{path[:_LONGEST_PATH]}'"
    try:
        if file.is_dir():
            file = file / CONFIG
            if not file.exists():
                raise _problem(f"the folder {shown} has no {CONFIG}", path, "file")
        found = file.stat()
        if not stat.S_ISREG(found.st_mode):
            raise _problem(f"{shown} is not a file", path, "file")
        if found.st_size > LARGEST_FILE:
            raise _problem(_too_large(found.st_size), path)
        with file.open("rb") as opened:
            # One byte more, in case the file grows while it is read.
            content = opened.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise _problem(f"no file {shown}", path, "file") from None
    except OSError as error:
        raise _problem(f"{shown} cannot be read: {error.strerror}", path, "file") from None
    except ValueError:
        raise _problem("the path holds a null character", path, "file") from None
    if len(content) > LARGEST_FILE:
        raise _problem(_too_large(len(content)), path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _problem(f"{CONFIG} is not text in UTF-8", path) from None


def _check_nesting(text: str, path: str) -> None:
    """A Problem where brackets nest deeper than the parser may follow."""
    depth, inside_string = 0, False
    for found in _MARK.finditer(text):
        mark = found.group()
        if mark == '"':
            inside_string = not inside_string
        elif not inside_string and mark in "[{":
            depth += 1
            if depth > DEEPEST_NESTING:
                raise _problem(f"{CONFIG} nests deeper than {DEEPEST_NESTING} levels", path)
        elif not inside_string and mark in "]}":
            depth -= 1


def _too_large(size: int) -> str:
    return f"{CONFIG} has {size} bytes, more than {LARGEST_FILE}"


def _kind(value: Any) -> str:
    names = {list: "an array", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _problem(message: str, path: str, kind: str = "config") -> Problem:
    return Problem(kind, message, (), path)
