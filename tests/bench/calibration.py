"""How well constants of speed predict what they were not fitted to, and the profile that ships.

    python tests/bench/calibration.py MEASURED.csv [--write] [--markdown FILE]

Fits on one half of the configurations and predicts the other, then leaves out each GPU, engine and
model. `--write` fits all rows and writes formulas/data/profile-measured.toml.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
HOME = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(HOME))

import numpy  # noqa: E402

from derive.calibrate import profile_of  # noqa: E402
from derive.calibration import Rows, fitted, halves, left_out, rows_of  # noqa: E402
from derive.errors_of_fit import errors  # noqa: E402
from derive.measurements import read_measurements  # noqa: E402

CORE = ("llama-3.1-70b", "qwen3-32b")
SHIPPED = HOME / "formulas" / "data" / "profile-measured.toml"
SOURCE = "silicon_sample.csv of aiconfigurator-core 0.12.0 (Apache-2.0)"


def percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def block(name: str, found: dict[str, Any]) -> list[str]:
    keys = ("tpot_mape_dense", "tpot_mape_moe", "tpot_mape_unknown_precision", "ttft_mape")
    return [name, str(found["rows"]), *(percent(found[key]) for key in keys)]


def by_halves(rows: Rows) -> list[str]:
    """Every configuration predicted from the half that it is not in."""
    half = numpy.array(halves([s.configuration for s in rows.samples]))
    predicted = left_out(rows, [half == 0, half == 1])
    found = errors(rows.samples, predicted, rows.measured)
    lines = [block("all", found)]
    for key in ("by_model", "by_gpu", "by_engine"):
        lines += [block(name, part) for name, part in found[key].items()]
    columns = ("rows of", "rows", "TPOT dense", "TPOT experts", "TPOT unknown format", "TTFT")
    worst = [
        (" ".join(str(cell[k]) for k in ("model", "gpu", "engine", "engine_version", "precision"))
         + f" tp {cell['tp']} dp {cell['dp']}", str(cell["rows"]), percent(cell["tpot_mape"]))
        for cell in found["worst"]
    ]  # fmt: skip
    return [*table(columns, lines), "", *table(("worst configurations", "rows", "TPOT"), worst)]


def by_group(rows: Rows) -> list[str]:
    """Each GPU, engine and model predicted from the others."""
    core = numpy.array([s.model in CORE and s.row.precision != "" for s in rows.samples])
    lines: list[list[str]] = []
    for level in ("gpu", "engine", "model"):
        names = numpy.array([s.labels[level] for s in rows.samples])
        for name in sorted(set(names.tolist())):
            here = names == name
            predicted = left_out(rows, [here])
            parts = []
            for part in (here & core, here & ~core):
                samples = [s for s, take in zip(rows.samples, part, strict=True) if take]
                parts.append(errors(samples, predicted[:, part], rows.measured[:, part]))
            dense, count = percent(parts[0]["tpot_mape_dense"]), str(parts[0]["rows"])
            lines.append([f"{level} {name}", count, dense, *block("", parts[1])[1:]])
    columns = (
        "left out", "rows of the two models", "TPOT of the two", "other rows", "TPOT dense",
        "TPOT experts", "TPOT unknown format", "TTFT",
    )  # fmt: skip
    return table(columns, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--markdown")
    options = parser.parse_args()
    start = time.perf_counter()
    rows = rows_of(read_measurements(options.file))
    lines = [
        f"{len(rows.all)} rows: {len(rows.samples)} inside the model, {int(rows.fit_to.sum())} "
        f"fitted (TTFT below 5 s, not suspect), {len(rows.suspect)} suspect.",
        "",
        "Fitted on one half of the configurations, tested on the other, both ways:",
        "",
        *by_halves(rows),
        "",
        "A whole GPU, engine or model left out (the two models: Llama-3.1-70B and Qwen3-32B of "
        "stated precision):",
        "",
        *by_group(rows),
        "",
        "Suspect rows:",
        "",
        *(f"- line {rows.samples[i].row.line}: {why}" for i, why in rows.suspect.items()),
    ]
    if options.write:
        SHIPPED.write_text(profile_of(fitted(rows), "measured", SOURCE), encoding="utf-8")
    text = "\n".join(lines)
    if options.markdown:
        Path(options.markdown).write_text(text + "\n", encoding="utf-8")
    print(text)
    print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
