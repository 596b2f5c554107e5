"""Files of measurements: CSV with a header, or the JSON that a serving benchmark writes.

A row is read as it stands; a cell that cannot be read makes that row unusable, with the reason, and
no other.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from formulas.errors import Problem

LARGEST_FILE = 50 * 10**6
MOST_ROWS = 200_000
_LONGEST_CELL = 200


@dataclass(frozen=True, slots=True)
class Measurement:
    """One row: what was served on what, and how fast; times in seconds, None where not given."""

    line: int
    model: str
    gpu: str
    engine: str
    version: str
    precision: str
    kv_dtype: str
    prompt: float
    output: float
    concurrency: float
    tp: int
    pp: int
    dp: int
    moe_tp: int
    moe_ep: int
    ttft: float | None
    tpot: float | None
    # The row as the file has it.
    cells: Mapping[str, str]
    # Why the row cannot be used, or nothing.
    problem: str = ""


def read_measurements(path: str, defaults: Mapping[str, str] | None = None) -> list[Measurement]:
    """The rows of a file; `defaults` fill the columns that the file lacks.

    Raises Problem where the file is no table of measurements at all.
    """
    text = _text_of(path)
    rows = _json_rows(text) if text.lstrip()[:1] in ("{", "[") else _csv_rows(text)
    if not rows:
        raise Problem("file", f"{path} has no rows", ("a header and one line a measurement",))
    found = [_measurement(line, row, defaults or {}) for line, row in rows]
    if all(row.problem.startswith("no column") for row in found):
        raise Problem("file", f"{path}: {found[0].problem}", (_COLUMNS,))
    return found


_COLUMNS = "columns are model, gpu, engine, precision, isl, osl, concurrency, tp, ttft_ms, tpot_ms"

# Other spellings of a column: those of benchmark reports, and with a unit of their own.
_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "model": ("model", "model_id", "model_name", "model_path"),
    "gpu": ("gpu", "gpu_name", "system", "hardware", "device", "accelerator"),
    "engine": ("engine", "backend", "framework"),
    "version": ("engine_version", "version", "backend_version"),
    "precision": ("precision", "quantization", "weight_dtype", "dtype"),
    "kv_dtype": ("kv_dtype", "kv_cache_dtype"),
    "prompt": ("isl", "input_len", "random_input_len", "prompt_tokens", "mean_isl", "input_tokens"),
    "output": (
        "osl", "output_len", "random_output_len", "output_tokens_per_request", "mean_osl",
    ),
    "concurrency": ("concurrency", "max_concurrency", "batch", "batch_size"),
    "tp": ("tp", "tensor_parallel_size", "tp_size"),
    "pp": ("pp", "pipeline_parallel_size", "pp_size"),
    "dp": ("dp", "attention_dp", "data_parallel_size", "dp_size"),
    "moe_tp": ("moe_tp", "moe_tp_size"),
    "moe_ep": ("moe_ep", "ep", "expert_parallel_size", "ep_size", "moe_ep_size"),
    "ttft": ("ttft_ms", "mean_ttft_ms", "ttft_s", "ttft"),
    "tpot": ("tpot_ms", "mean_tpot_ms", "tpot_s", "tpot"),
}  # fmt: skip
_NEEDED = ("model", "gpu", "prompt", "output", "concurrency")
_ENGINES = {
    "tensorrt-llm": "trtllm",
    "trt-llm": "trtllm",
    "tensorrt_llm": "trtllm",
    "trt": "trtllm",
}
_AMOUNT = re.compile(
    r"\s*([0-9][0-9_]*\.?[0-9]*(?:[eE][+-]?[0-9]{1,3})?|\.[0-9]+)\s*([a-zA-Z]*)\s*"
)
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "sec": 1.0, "seconds": 1.0}
_MULTIPLES = {"": 1.0, "k": 1e3, "K": 1e3, "tok": 1.0, "tokens": 1.0}


def _text_of(path: str) -> str:
    file = Path(path)
    if file.is_dir():
        raise Problem("file", f"{path} is a folder", ("name a CSV or a JSON file",))
    if file.stat().st_size > LARGEST_FILE:
        raise Problem("file", f"{path} is larger than {LARGEST_FILE // 10**6} MB")
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Problem("file", f"{path} is not text in UTF-8 ({error.reason})") from None


def _csv_rows(text: str) -> list[tuple[int, dict[str, Any]]]:
    header = text.partition("\n")[0]
    delimiter = max(",;\t", key=header.count)
    reader = csv.DictReader(StringIO(text.replace("\0", "")), delimiter=delimiter)
    rows: list[tuple[int, dict[str, Any]]] = []
    try:
        for row in reader:
            if len(rows) >= MOST_ROWS:
                raise Problem("file", f"more than {MOST_ROWS} rows")
            cells = {str(k or ""): v for k, v in row.items() if isinstance(v, str)}
            if any(value.strip() for value in cells.values()):
                rows.append((reader.line_num, cells))
    except csv.Error as error:
        raise Problem("file", f"line {reader.line_num} is no CSV: {error}") from None
    return rows


def _json_rows(text: str) -> list[tuple[int, dict[str, Any]]]:
    """One object, a list of them, or one a line."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = [_object(line) for line in text.splitlines() if line.strip()]
    rows = found if isinstance(found, list) else [found]
    if len(rows) > MOST_ROWS:
        raise Problem("file", f"more than {MOST_ROWS} rows")
    return [(n, _flat(row)) for n, row in enumerate(rows, 1) if isinstance(row, dict)]


def _object(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise Problem("file", f"neither CSV nor JSON: {line[:60]}") from None


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """A benchmark's report as a row: it gives totals where a table gives lengths."""
    cells = {k: v for k, v in row.items() if isinstance(v, str | int | float)}
    completed = row.get("completed")
    if isinstance(completed, int) and completed > 0:
        for name, total in (("isl", "total_input_tokens"), ("osl", "total_output_tokens")):
            if isinstance(row.get(total), int | float):
                cells.setdefault(name, row[total] / completed)
    return cells


def _measurement(line: int, row: Mapping[str, Any], defaults: Mapping[str, str]) -> Measurement:
    lower = {name.strip().lower(): value for name, value in row.items()}
    cells: dict[str, tuple[str, str]] = {}
    for field, names in _SPELLINGS.items():
        name = next((n for n in names if _cell(lower.get(n))), "")
        value = _cell(lower.get(name)) if name else defaults.get(field, "").strip()
        cells[field] = (name or names[0], value)
    problems: list[str] = []
    missing = [f for f in _NEEDED if not cells[f][1]]
    if missing:
        known = {n for f in missing for n in _SPELLINGS[f]} & set(lower)
        what = "no value of" if known else "no column"
        problems.append(f"{what} {' and '.join(_SPELLINGS[f][0] for f in missing)}")

    def number(field: str, read: Callable[[str, str], float]) -> float | None:
        name, text = cells[field]
        if not text:
            return None
        try:
            return read(name, text)
        except ValueError:
            problems.append(f"{name} = {text[:40]} is no {'time' if read is _time else 'number'}")
            return None

    prompt, output, concurrency = (
        number(field, _positive) or 0.0 for field in ("prompt", "output", "concurrency")
    )
    ways = {f: _whole(number(f, _not_negative)) for f in ("tp", "pp", "dp", "moe_tp", "moe_ep")}
    times = {f: number(f, _time) for f in ("ttft", "tpot")}
    engine = cells["engine"][1].lower()
    return Measurement(
        line,
        cells["model"][1],
        cells["gpu"][1],
        _ENGINES.get(engine, engine),
        cells["version"][1],
        cells["precision"][1].lower(),
        cells["kv_dtype"][1].lower(),
        prompt,
        output,
        concurrency,
        ways["tp"],
        ways["pp"],
        ways["dp"],
        ways["moe_tp"],
        ways["moe_ep"],
        times["ttft"],
        times["tpot"],
        {name: str(value)[:_LONGEST_CELL] for name, value in row.items()},
        problem="; ".join(problems),
    )


def _cell(value: Any) -> str:
    text = "" if value is None else str(value).strip()
    empty = text.lower() in ("", "nan", "none", "null", "na", "n/a", "-", "inf")
    return "" if empty else text[:_LONGEST_CELL]


def _number(text: str, factors: Mapping[str, float]) -> float:
    match = _AMOUNT.fullmatch(text)
    if match is None or match[2] not in factors:
        raise ValueError(text)
    value = float(match[1].replace("_", "")) * factors[match[2]]
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _not_negative(_name: str, text: str) -> float:
    value = _number(text, _MULTIPLES)
    if value > 1e9:
        raise ValueError(text)
    return value


def _positive(name: str, text: str) -> float:
    value = _not_negative(name, text)
    if value < 1:
        raise ValueError(text)
    return value


def _time(name: str, text: str) -> float:
    """Seconds; a column says its unit in its name, a cell with a unit says its own."""
    own = 1.0 if name.endswith("_s") else 1e-3
    value = _number(text, {**_SECONDS, "": own})
    if not 0 < value < 1e7:
        raise ValueError(text)
    return value


def _whole(value: float | None) -> int:
    """A number of ranks; none, 0 and an empty cell mean 1."""
    return max(1, round(value)) if value is not None else 1


def usable(rows: Iterable[Measurement]) -> list[Measurement]:
    """The rows without a problem of their own."""
    return [row for row in rows if not row.problem]
