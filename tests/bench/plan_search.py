"""What plans cost, as ratios within one run: kernels, grids, long lines and explanations.

Run it by hand:  python tests/bench/plan_search.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy

from derive.question import parse
from formulas.hardware import find_gpu
from formulas.scenario import scenario
from formulas.statements import Axis
from solvers.generated import numpy_kernel
from solvers.search.plan import planned
from solvers.search.program import program_of
from solvers.search.space import space_of
from solvers.search.task import TIES, TOLD, Goal, Task
from solvers.straight import straight

PRICES = {"h100-sxm": 2.5, "h200-sxm": 3.5, "a100-80gb-sxm": 1.5, "l40s": 1.0, "b200": 5.0}
LINE = "model llama-3.1-70b, prompt = 3000, output = 1000, arrival_rate = 4"
OUTPUTS = ("memory_used_per_gpu", "memory_budget", "tpot", "ttft", "replica_request_rate",
           "replicas", "n_gpus", "cost_per_hour")  # fmt: skip


def seconds(run: Callable[[], Any], times: int = 3) -> float:
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        run()
        found.append(time.perf_counter() - begin)
    return statistics.median(found)


def task(limits: str, batch: int) -> Task:
    own = {find_gpu(n).name: Fraction(str(p)) for n, p in PRICES.items()}
    eight = tuple(Fraction(i) for i in range(1, 9))
    over = [
        Axis("gpu", tuple(own)), Axis("tp", eight), Axis("pp", eight),
        Axis("weight_dtype", ("bf16", "fp8", "int4", "nvfp4")), Axis("kv_dtype", ("bf16", "fp8")),
        Axis("batch", range(1, batch + 1)),
    ]  # fmt: skip
    known = scenario(parse(f"{LINE}, {limits}").statements)
    return Task(known, (Goal("cost_per_hour"),), tuple(over), (), own)


def by_hand(v: dict[str, Any]) -> tuple[Any, ...]:
    """The same eight outputs as a person would write them in numpy."""
    share = numpy.ceil(v["n_layers"] / v["pp"]) / v["n_layers"]
    context = v["prompt_tokens"] + v["output_tokens"]
    mean = v["prompt_tokens"] + v["output_tokens"] / 2
    token = 2 * v["n_layers"] * v["n_kv_heads"] * v["d_head"] * v["kv_bytes_per_element"]
    token = token * share / numpy.minimum(v["tp"], v["n_kv_heads"])
    weights = v["bytes_per_weight"] * v["n_params"] * share / v["tp"]
    overhead = numpy.minimum(4e9, v["vram_bytes"] / 10)
    used = weights + v["batch"] * context * token + overhead
    budget = v["gpu_memory_utilization"] * v["vram_bytes"]
    micro = numpy.maximum(1, v["batch"] / v["pp"])
    attention = 4 * v["n_heads"] * v["d_head"]
    read = (weights + micro * mean * token) / (v["memory_bandwidth"] * v["mbu"])
    flops = 2 * v["n_params"] + v["n_layers"] * mean * attention
    compute = micro * flops * share / (v["tp"] * v["peak_flops"] * v["mfu"])
    link = numpy.where(
        v["tp"] <= v["scale_up_domain_gpus"], v["scale_up_bandwidth"], v["pcie_bandwidth"]
    )
    message = 2 * micro * v["d_model"]
    hops = 2 * (v["tp"] - 1)
    ring = hops * (v["link_latency"] + message / v["tp"] / link)
    send = numpy.where(v["pp"] > 1, v["link_latency"] + message / link, 0)
    step = v["pp"] * (numpy.maximum(read, compute) + send + v["step_overhead"])
    step = step + 2 * v["n_layers"] * ring
    prefill = 2 * v["n_params"] * v["prompt_tokens"]
    prefill = prefill + v["n_layers"] * attention * v["prompt_tokens"] ** 2 / 2
    sent = hops * (v["link_latency"] + 2 * v["prompt_tokens"] * v["d_model"] / v["tp"] / link)
    prefill = prefill / (v["tp"] * v["peak_flops"] * v["mfu"]) + 2 * v["n_layers"] * sent
    reading = v["pp"] * weights / (v["memory_bandwidth"] * v["mbu"])
    ttft = numpy.maximum(prefill, reading) + v["step_overhead"]
    tpot = step + micro * prefill / v["output_tokens"]
    rate = v["batch"] / (v["output_tokens"] * step + micro * prefill)
    replicas = numpy.ceil(v["arrival_rate"] / (rate * v["target_utilization"]))
    gpus = replicas * v["tp"] * v["pp"]
    return used, budget, tpot, ttft, rate, replicas, gpus, gpus * v["price_per_gpu_hour"]


class Grid:
    """A program of the task's space without weight-only formats, and its axes."""

    def __init__(self, batch: int) -> None:
        own = task("tpot <= 50 ms, ttft <= 2 s", batch)
        gpus = tuple(find_gpu(n).name for n in ("h100-sxm", "h200-sxm", "b200"))
        other = {"weight_dtype": ("bf16", "fp8"), "gpu": gpus}
        over = tuple(Axis(a.name, other.get(a.name, a.values)) for a in own.over)
        self.space = space_of(own.scenario, over, own.prices)
        kinds = list(range(len(self.space.kinds)))
        varied = self.space.varied(kinds)
        there = self.space.scenario_at(0, [0, 0], Fraction(1))
        self.program = program_of(there, varied, ("cost_per_hour",), (*TIES, *TOLD))
        self.line = straight(self.program.steps, OUTPUTS)
        self.kernel = numpy_kernel(self.line)
        self.facts = {n: float(v) for n, v in self.program.facts.items()}
        tp, pp = (numpy.array([float(v) for v in self.space.numbers[n]]) for n in ("tp", "pp"))
        self.axes = {"tp": tp[None, :, None, None], "pp": pp[None, None, :, None],
                     "batch": numpy.arange(1.0, batch + 1)[None, None, None, :]}  # fmt: skip
        for name in varied - set(self.axes):
            column = [float(kind.facts[name]) for kind in self.space.kinds]
            self.axes[name] = numpy.array(column)[:, None, None, None]
        self.size = len(kinds) * len(tp) * len(pp) * batch

    def inputs(self, values: dict[str, Any]) -> list[Any]:
        known = {**self.facts, **values}
        return [known[name] for name in self.line.inputs]

    def flat(self) -> dict[str, Any]:
        shape = numpy.broadcast_shapes(*(a.shape for a in self.axes.values()))
        return {n: numpy.broadcast_to(a, shape).reshape(-1).copy() for n, a in self.axes.items()}

    def chunks(self) -> Any:
        """The outputs of every kind and TP, so that a chunk stays in the cache."""
        for kind in range(len(self.space.kinds)):
            for tp in range(self.axes["tp"].size):
                own = {n: a[kind : kind + 1] if a.shape[0] > 1 else a for n, a in self.axes.items()}
                own["tp"] = self.axes["tp"][:, tp : tp + 1]
                yield self.kernel(*self.inputs(own))


def main() -> None:
    numpy.seterr(all="ignore")
    million, ten = Grid(2600), Grid(26000)
    flat = million.flat()
    whole = {**million.facts, **flat}
    hand = seconds(lambda: by_hand(whole))
    own = seconds(lambda: million.kernel(*million.inputs(flat)))
    for mine, theirs in zip(million.kernel(*million.inputs(flat)), by_hand(whole), strict=False):
        assert numpy.allclose(mine, theirs), "the two do not compute the same"
    print(f"kernel / hand-written numpy, {million.size} points flat: {own / hand:.2f}")
    chunked = seconds(lambda: [None for _ in million.chunks()])
    print(f"grid in chunks / flat mesh, {million.size} points: {chunked / own:.2f}")
    wide = [ten.inputs(ten.flat())]
    slow = seconds(lambda: ten.kernel(*wide[0]), 1)
    wide.clear()
    quick = seconds(lambda: [None for _ in ten.chunks()])
    print(f"grid in chunks / flat mesh, {ten.size} points: {quick / slow:.2f}")

    limits = "tpot <= 50 ms, ttft <= 2 s"
    planned(task(limits, 1024))
    short, long = (seconds(lambda n=n: planned(task(limits, n))) for n in (1024, 65536))
    print(f"batch to 65536 / batch to 1024: {long / short:.2f}")
    impossible = "tpot <= 10 ms, ttft <= 60 ms, cost_per_hour <= $9/h"
    explained = seconds(lambda: planned(task(impossible, 1024)))
    print(f"an infeasible plan with its reasons / a feasible one: {explained / short:.2f}")

    def run(*words: str) -> None:
        subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)

    plan = seconds(lambda: run("-m", "derive", "plan", "examples/llama-70b.toml"), 5)
    imports = seconds(lambda: run("-c", "import sympy, z3, numpy"), 5)
    print(f"derive plan examples/llama-70b.toml / import sympy, z3, numpy: {plan / imports:.2f}")


if __name__ == "__main__":
    main()
