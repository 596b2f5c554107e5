"""`derive calibrate`: constants fitted to measurements, their errors, a profile, predictions."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from derive.calibration import Fitted, Rows, fitted, rows_of
from derive.document import Block, Document, Fields, Heading, Table
from derive.errors_of_fit import errors
from derive.measurements import read_measurements
from derive.profile_file import profile_text, write_profile
from derive.samples import NARROW_CACHES
from formulas.errors import Problem
from formulas.profiles import profile_name

_LEVELS = {"model": "by_model", "GPU": "by_gpu", "engine": "by_engine"}
_NEW_COLUMNS = (
    "tpot_ms_predicted", "ttft_ms_predicted", "tpot_ms_low", "tpot_ms_high", "ttft_ms_low",
    "ttft_ms_high", "reason", "suspect",
)  # fmt: skip


def calibrate(
    path: str,
    name: str | None = None,
    test: str | None = None,
    predictions: str | None = None,
    defaults: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """What a file's measurements come to, as one object.

    With `test` the errors are those on a second file, and a profile is written only where `name`
    is given. Problem where a file cannot be used.
    """
    if predictions and not test:
        raise Problem("usage", "--predictions needs --test", ("the rows to predict: --test FILE",))
    chosen = profile_name(name if name is not None else _name_of(path)) if name or not test else ""
    rows = rows_of(read_measurements(path, defaults))
    made = fitted(rows, folds=1 if test else 2)
    found: dict[str, Any] = {"status": "ok", "file": path}
    if test:
        found |= _tested(made, test, predictions, defaults)
        found["fit"] = _counts(rows)
    else:
        found |= {**_counts(rows), "left_out": made.left_out}
        found["intervals"] = {key: list(ends) for key, ends in made.spread.items()}
    found["constants"] = {key: float(f"{v:.5g}") for key, v in made.constants.base.items()}
    if chosen:
        text = profile_of(made, chosen, Path(path).name)
        found |= {"profile": chosen, "path": str(write_profile(chosen, text))}
    return found


def profile_of(made: Fitted, name: str, source: str) -> str:
    """The text of the profile."""
    counts = _counts(made.rows)
    about = {"name": name, "fitted": date.today().isoformat(), "source": source}
    about |= {"rows": counts["fitted"], "rows_in_file": counts["rows"]}
    errors_left = {
        key: made.left_out.get(key)
        for key in ("tpot_mape_dense", "tpot_mape_moe", "ttft_mape", "tpot_mape_unknown_precision")
    }
    return profile_text(about, errors_left, made.spread, NARROW_CACHES, made.constants)


def _name_of(path: str) -> str:
    kept = "".join(c if c.isascii() and c.isalnum() else "-" for c in Path(path).stem.lower())
    name = kept.strip("-")[:60] or "profile"
    return f"my-{name}" if name == "measured" else name


def _counts(rows: Rows) -> dict[str, Any]:
    """How many rows there were, and what became of those that no constant was fitted to."""
    fit_to = int(rows.fit_to.sum())
    return {
        "rows": len(rows.all),
        "fitted": fit_to,
        "outside": dict(Counter(_short(reason) for reason in rows.reasons.values()).most_common()),
        "queued_rows": len(rows.samples) - fit_to - len(rows.suspect),
        "suspects": [
            {"line": rows.samples[i].row.line, "reason": reason}
            for i, reason in rows.suspect.items()
        ],
    }


def _short(reason: str) -> str:
    """A reason without the numbers of its row, so that rows can be counted by it."""
    return reason.partition(" (")[0]


def _tested(
    made: Fitted, path: str, predictions: str | None, defaults: Mapping[str, str] | None
) -> dict[str, Any]:
    rows = rows_of(read_measurements(path, defaults))
    predicted = made_predictions(made, rows)
    found = errors(rows.samples, predicted, rows.measured)
    known = int((predicted > 0).all(axis=0).sum())
    found |= {"test": path, "rows": len(rows.all), "predicted": known}
    counts = _counts(rows)
    found |= {"outside": counts["outside"], "suspects": counts["suspects"]}
    if predictions:
        _write(predictions, rows, predicted, made.spread)
        found["predictions"] = predictions
    return found


def made_predictions(made: Fitted, rows: Rows) -> Any:
    """TPOT and TTFT in seconds of the rows: 2 x samples."""
    return rows.table.predicted(made.constants)


def _write(
    path: str, rows: Rows, predicted: Any, spread: Mapping[str, tuple[float, float]]
) -> None:
    """One line for each row of the file, in its order."""
    lines = _lines(rows, predicted, spread)
    names = list(dict.fromkeys(n for row in rows.all for n in row.cells if n not in _NEW_COLUMNS))
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*names, *_NEW_COLUMNS])
        for row, line in zip(rows.all, lines, strict=True):
            cells = [row.cells.get(name, "") for name in names]
            writer.writerow([*cells, *(line.get(name, "") for name in _NEW_COLUMNS)])


def _lines(
    rows: Rows, predicted: Any, spread: Mapping[str, tuple[float, float]]
) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    place = 0
    for index in range(len(rows.all)):
        if index in rows.reasons:
            found.append({"reason": rows.reasons[index]})
            continue
        sample = rows.samples[place]
        line = {"suspect": rows.suspect.get(place, "")}
        kind = "tpot_dense" if sample.is_dense else "tpot_moe"
        for latency, name, key in ((0, "tpot_ms", kind), (1, "ttft_ms", "ttft")):
            value = float(predicted[latency][place]) * 1000
            if not value > 0:
                line["reason"] = "the model has no number here"
                continue
            line[f"{name}_predicted"] = f"{value:.5g}"
            for end, factor in zip(("low", "high"), spread.get(key, ()), strict=False):
                line[f"{name}_{end}"] = f"{value * factor:.5g}"
        found.append(line)
        place += 1
    return found


def report(found: Mapping[str, Any]) -> Document:
    """The object for people."""
    tested = "test" in found
    about = found["fit"] if tested else found
    errors_of = found if tested else found["left_out"]
    blocks: list[Block] = [Heading(f"calibrated on {found['file']}")]
    fields = [("rows", f"{about['rows']}, of which {about['fitted']} were fitted")]
    fields += [("outside", f"{n} rows: {why}") for why, n in found["outside"].items()]
    fields += [("suspect", f"line {s['line']}: {s['reason']}") for s in found["suspects"]]
    if tested:
        fields.append(("test", f"{found['rows']} rows, {found['predicted']} predicted"))
    if "profile" in found:
        fields.append(("profile", f"{found['profile']}, in {found['path']}"))
        fields.append(("next", f'derive ask "tpot given profile = {found["profile"]}, ..."'))
    blocks.append(Fields(tuple(fields)))
    rows = [("all", *_row(errors_of))]
    for level, key in _LEVELS.items():
        rows += [(f"{level} {name}", *_row(block)) for name, block in errors_of[key].items()]
    title = "error on the test rows" if tested else "error on rows left out"
    columns = (title, "rows", "tpot dense", "tpot experts", "tpot unknown format", "ttft")
    blocks.append(Table(columns, tuple(rows), columns[1:]))
    worst = tuple(
        (" ".join(str(cell[k]) for k in ("model", "gpu", "engine", "engine_version", "precision"))
         + f" tp {cell['tp']} dp {cell['dp']}", str(cell["rows"]), _percent(cell["tpot_mape"]))
        for cell in errors_of["worst"]
    )  # fmt: skip
    blocks.append(Table(("worst configurations", "rows", "tpot"), worst, ("rows", "tpot")))
    return tuple(blocks)


def _row(block: Mapping[str, Any]) -> tuple[str, str, str, str, str]:
    keys = ("tpot_mape_dense", "tpot_mape_moe", "tpot_mape_unknown_precision", "ttft_mape")
    dense, experts, unknown, ttft = (_percent(block.get(key)) for key in keys)
    return str(block.get("rows", "")), dense, experts, unknown, ttft


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"
