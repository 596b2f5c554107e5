"""The search to a proven optimum against what people would do instead, as ratios of one run.

Run by hand:  python tests/bench/search_against_enumeration.py
Ours begins with the text of the question, which differs from run to run, and ends with the proof:
reading, building and searching are all in it. Theirs begins with code and numbers that are there:
numpy enumerates in chunks (by_hand.py), CP-SAT has its model built (product_model.py). Both have to
come to the same cost. The bars are for the warm process: 0.5 of the enumeration of 1e7 points, each
of them allowed by the heads, and 0.2 of CP-SAT at 1e6. Where half of the points are skipped by hand
and in the first question of a process, kernels not on disk, the ratio is told without a bar.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from derive.question import parse
from formulas.hardware import find_gpu, gpu_facts, is_weight_only
from formulas.models import find_model
from formulas.scenario import scenario
from formulas.statements import Axis
from solvers.search.plan import planned
from solvers.search.task import Goal, Plan, Task
from tests.bench.by_hand import BYTES, Card, Space, Work, costs, enumerated, line_of
from tests.bench.product_model import PRICE, product_model

MODEL = "llama-3.1-70b"
PRICES = {"h100-sxm": 2.5, "h200-sxm": 3.5, "a100-80gb-sxm": 1.5, "l40s": 1.0, "b200": 5.0}
RUNS = 7


def card(name: str, price: float) -> Card:
    """The rows of the table, as a person would copy them."""
    gpu = find_gpu(name)
    facts = {dtype: gpu_facts(gpu, dtype) for dtype in BYTES}
    row = {n: float(v) for n, v in facts["bf16"].items() if isinstance(v, Fraction)}
    flops = {dtype: float(own["peak_flops"]) for dtype, own in facts.items()}
    stored = frozenset(dtype for dtype in BYTES if is_weight_only(gpu, dtype))
    return Card(gpu.name, row["vram_bytes"], row["memory_bandwidth"], flops, stored,
                int(row["scale_up_domain_gpus"]), row.get("scale_up_bandwidth", 0.0),
                row["pcie_bandwidth"], price)  # fmt: skip


def work(prompt: int) -> Work:
    """The same question for those who compute by hand."""
    rows = find_model(MODEL, {}).facts
    facts = {n: float(v) for n, v in rows.items() if isinstance(v, Fraction)}
    whole = (int(facts[n]) for n in ("n_layers", "d_model", "n_heads", "n_kv_heads", "d_head"))
    sizes = facts["n_params"], facts["embedding_params"]
    return Work(*whole, *sizes, float(prompt), 1000.0, 4.0, 0.05, 2.0)


def asked(prompt: int, space: Space) -> Plan:
    """The plan, from the text of the question on."""
    limits = "tpot <= 50 ms, ttft <= 2 s"
    text = f"model {MODEL}, prompt = {prompt}, output = 1000, arrival_rate = 4, {limits}"
    over = (
        Axis("gpu", tuple(c.name for c in space.cards)),
        Axis("tp", tuple(map(Fraction, space.tp))),
        Axis("pp", tuple(map(Fraction, space.pp))),
        Axis("weight_dtype", tuple(space.weights)),
        Axis("kv_dtype", tuple(space.caches)),
        Axis("batch", range(1, space.batch + 1)),
    )
    prices = {c.name: Fraction(str(c.price)) for c in space.cards}
    known = scenario(parse(text).statements)
    return planned(Task(known, (Goal("cost_per_hour"),), over, (), prices))


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds, and what was found."""
    begin = time.perf_counter()
    found = run()
    return time.perf_counter() - begin, found


def same(w: Work, space: Space, plan: Plan, least: float) -> None:
    """Both found the same cost, and the point of the plan has it by hand as well."""
    row = plan.rows[0]
    assert plan.proved, "the search did not prove its answer"
    assert abs(row.values["cost_per_hour"] - least) <= 1e-9 * least, (row, least)
    at = row.point
    there = next(c for c in space.cards if c.name == at["gpu"])
    pp, batch = float(at["pp"]), float(at["batch"])
    line = line_of(w, there, int(at["tp"]), pp, at["weight_dtype"], at["kv_dtype"])
    cost = costs(w, line, pp, batch, batch <= pp or batch % pp == 0)
    assert abs(float(cost) - least) <= 1e-9 * least, (at, cost, least)


def against_enumeration(space: Space, prompts: Iterator[int], name: str, runs: int = RUNS) -> None:
    """The ratio of the medians over several questions."""
    own, theirs = [], []
    for _ in range(runs):
        prompt = next(prompts)
        w = work(prompt)
        spent, plan = timed(lambda p=prompt: asked(p, space))
        other, (least, _) = timed(lambda w=w: enumerated(w, space))
        same(w, space, plan, least)
        own.append(spent)
        theirs.append(other)
    ratio = median(own) / median(theirs)
    print(f"search / enumeration in chunks of {space.size} points, {name}: {ratio:.2f}"
          f"  ({median(own) * 1e3:.0f} ms / {median(theirs) * 1e3:.0f} ms)")  # fmt: skip


def against_cp_sat(space: Space, prompts: Iterator[int]) -> None:
    """The same against CP-SAT with two workers, whose coefficients are rounded to 1 ns and 1 kB."""
    from ortools.sat.python import cp_model

    own, theirs, builds = [], [], []
    for _ in range(3):
        prompt = next(prompts)
        w = work(prompt)
        spent, plan = timed(lambda p=prompt: asked(p, space))
        build, (model, _) = timed(lambda w=w: product_model(w, space))
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 2
        other, status = timed(lambda m=model, s=solver: s.solve(m))
        assert status == cp_model.OPTIMAL, solver.status_name(status)
        same(w, space, plan, enumerated(w, space)[0])
        cost = solver.objective_value / PRICE
        assert abs(cost - plan.rows[0].values["cost_per_hour"]) < 0.005, (cost, plan.rows[0])
        own.append(spent)
        theirs.append(other)
        builds.append(build)
    ratio = median(own) / median(theirs)
    print(f"search / CP-SAT's product model of {space.size} points, warm (bar 0.2): {ratio:.3f}"
          f"  ({median(own) * 1e3:.0f} ms / {median(theirs) * 1e3:.0f} ms"
          f" and {median(builds) * 1e3:.0f} ms to build the model)")  # fmt: skip


def main() -> None:
    prompts = count(2900)
    cards = [card(name, price) for name, price in PRICES.items()]
    formats = (tuple(BYTES), ("bf16", "fp8"))
    full = Space(cards, (1, 2, 4, 8), range(1, 9), *formats, 8192)
    gaps = Space(cards, range(1, 9), range(1, 9), *formats, 4096)
    against_enumeration(full, prompts, "first question", 1)
    against_enumeration(full, prompts, "warm (bar 0.5)")
    against_enumeration(gaps, prompts, "warm, half skipped")
    against_cp_sat(replace(full, batch=800), prompts)


if __name__ == "__main__":
    # Kernels are printed anew in the first question.
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DERIVE_CACHE"] = folder
        main()
