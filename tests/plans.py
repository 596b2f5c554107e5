"""Random plans, and their best configuration by trying every one with the contract's own words."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

from formulas.hardware import find_gpu, gpu_facts, mig_profiles
from formulas.scenario import scenario
from formulas.statements import Axis, Choose, Fact, Limit, Statement, UseGpu
from solvers.search.logic import Both, Compares, Condition, Either, IsNamed, Not
from solvers.search.program import Test
from solvers.search.task import Goal, Task
from tests.deployments import deployment
from tests.oracle import BYTES, Model, NotKnown

EQUAL = Fraction(1, 10**9)
SEARCHED = ("tp", "pp", "dp", "ep", "batch", "weight_dtype", "kv_dtype", "link_bandwidth")
OF_A_GPU = ("vram_bytes", "memory_bandwidth", "peak_flops", "node_gpus", "link_bandwidth")
GPUS = tuple(find_gpu(n).name for n in ("h100-sxm", "a100-80gb-sxm", "l40s", "a30", "b200"))
STANDING_LIMITS = ("available_gpus",)


@dataclass(frozen=True)
class Instance:
    """A plan as numbers and names; `allowed` decides side conditions in plain Python."""

    facts: dict[str, Any]
    axes: dict[str, tuple[Any, ...]]
    goal: Goal
    limits: tuple[tuple[str, str, Fraction], ...] = ()
    condition: str = ""
    prices: dict[str, Fraction] = field(default_factory=dict)

    def task(self, **more: Any) -> Task:
        rows: list[Statement] = []
        for name, value in self.facts.items():
            if name in ("weight_dtype", "kv_dtype"):
                rows.append(Choose(name, value, f"{name} = {value}"))
            else:
                rows.append(Fact(name, Fraction(value), text=f"{name} = {value}"))
        rows += [Limit(n, sign, value, f"{n} {sign} limit") for n, sign, value in self.limits]
        if "gpu" in self.axes:
            rows.append(UseGpu(self.axes["gpu"][0], None, f"gpu {self.axes['gpu'][0]}"))
        over = tuple(
            Axis(n, v if isinstance(v[0], str) else tuple(map(Fraction, v)))
            for n, v in self.axes.items()
        )
        conditions = (CONDITIONS[self.condition][0],) if self.condition else ()
        own = {find_gpu(name).name: price for name, price in self.prices.items()}
        return Task(scenario(rows), (self.goal,), over, conditions, own, **more)

    def points(self) -> Iterator[dict[str, Any]]:
        for values in product(*self.axes.values()):
            yield dict(zip(self.axes, values, strict=True))

    def model(self, point: Mapping[str, Any]) -> Model | None:
        """The contract's model there; None where the GPU has no such profile."""
        facts = {n: v for n, v in self.facts.items() if n not in ("weight_dtype", "kv_dtype")}
        named = {**self.facts, **point}
        if "weight_dtype" in named:
            facts["bytes_per_weight"] = BYTES[named["weight_dtype"]]
        if "kv_dtype" in named:
            facts["kv_bytes_per_element"] = BYTES[named["kv_dtype"]]
        facts |= {n: v for n, v in point.items() if not isinstance(v, str)}
        if "gpu" in point:
            gpu = find_gpu(point["gpu"])
            profile = point.get("mig_profile", "none")
            if profile not in ("none", *mig_profiles(gpu)):
                return None
            row = gpu_facts(gpu, named.get("weight_dtype", "bf16"),
                            None if profile == "none" else profile)  # fmt: skip
            inside = facts.get("tp", 1) * facts.get("dp", 1) <= row["scale_up_domain_gpus"]
            row["link_bandwidth"] = row["scale_up_bandwidth" if inside else "pcie_bandwidth"] if (
                inside or "pcie_bandwidth" in row) else Fraction(0)  # fmt: skip
            facts |= {n: v for n, v in row.items() if n in (*OF_A_GPU, "mig_instances")}
            if self.prices:
                facts["price_per_gpu_hour"] = self.prices[point["gpu"]]
        return Model({n: Fraction(v) for n, v in facts.items()})

    def feasible(self) -> list[tuple[dict[str, Any], Model]]:
        found = []
        for point in self.points():
            model = self.model(point)
            if model is None or model.broken():
                continue
            if not all(met(model[n], sign, limit) for n, sign, limit in self.limits):
                continue
            if self.condition and not CONDITIONS[self.condition][1]({**self.facts, **point}, model):
                continue
            found.append((point, model))
        return found


def met(value: Any, sign: str, limit: Fraction) -> bool:
    """Whether a limit is met, as the design says: within 1e-9 is at the limit."""
    value = Fraction(value)
    near = abs(value - limit) <= EQUAL * max(abs(value), abs(limit))
    return near or (value < limit if sign == "<=" else value > limit)


def atom(name: str, sign: str, value: int) -> Compares:
    from formulas.formula import VOCABULARY
    from solvers.number import to_sympy

    return Compares(Test(name, sign, VOCABULARY[name].symbol, to_sympy(Fraction(value)), name))


CONDITIONS: dict[str, tuple[Condition, Any]] = {
    "tp >= 4 or fp8": (
        Condition("tp >= 4 or fp8",
                  Either((atom("tp", ">=", 4), IsNamed("weight_dtype", ("fp8",))))),
        lambda p, m: m["tp"] >= 4 or p.get("weight_dtype") == "fp8",
    ),
    "not (pp > 1 and batch >= 9)": (
        Condition("not (pp > 1 and batch >= 9)",
                  Not(Both((atom("pp", ">=", 2), atom("batch", ">=", 9))))),
        lambda p, m: not (m["pp"] >= 2 and m["batch"] >= 9),
    ),
    "batch <= 4 or replicas <= 2 and tp >= 2": (
        Condition("batch <= 4 or replicas <= 2 and tp >= 2",
                  Either((atom("batch", "<=", 4),
                          Both((atom("replicas", "<=", 2), atom("tp", ">=", 2)))))),
        lambda p, m: m["batch"] <= 4 or (m["replicas"] <= 2 and m["tp"] >= 2),
    ),
}  # fmt: skip
GOALS = (
    Goal("cost_per_hour"), Goal("cost_per_hour"), Goal("tpot"), Goal("n_gpus"),
    Goal("replica_request_rate", "max"), Goal("cost_per_million_tokens"), Goal("e2e_latency"),
    Goal("memory_used_per_gpu", "max"), Goal("batch", "max"),
)  # fmt: skip
LIMITED = (
    ("tpot", "<="), ("ttft", "<="), ("cost_per_hour", "<="), ("replica_request_rate", ">="),
    ("n_gpus", "<="), ("e2e_latency", "<="), ("batch", ">="), ("memory_used_per_gpu", ">="),
)  # fmt: skip


def instance(choose: random.Random) -> Instance:
    """A random plan: dense or not, with GPUs by name or not, limits often exactly on a value."""
    facts = deployment(choose, whole=choose.random() < 0.5)
    facts.pop("requests_in_flight", None)
    facts["price_per_gpu_hour"] = facts.get("price_per_gpu_hour", Fraction(5, 2))
    facts["arrival_rate"] = choose.choice((Fraction(1, 10), 1, 4, 30))
    axes: dict[str, tuple[Any, ...]] = {}
    prices: dict[str, Fraction] = {}
    if choose.random() < 0.5:
        gpus = tuple(choose.sample(GPUS, choose.choice((1, 2, 3))))
        axes["gpu"] = gpus
        for name in (*OF_A_GPU, "price_per_gpu_hour", "link_bandwidth", "runtime_overhead"):
            facts.pop(name, None)
        prices = {name: Fraction(choose.randint(5, 60), 10) for name in gpus}
        if choose.random() < 0.5:
            own = sorted({p for g in gpus for p in mig_profiles(find_gpu(g))})
            picked = choose.sample(own, min(len(own), 2))
            axes["mig_profile"] = ("none", *picked)
    is_moe = "expert_params" in facts
    axes["tp"] = tuple(sorted(choose.sample((1, 2, 3, 4, 6, 8, 12), choose.choice((1, 2, 3)))))
    axes["pp"] = tuple(sorted(choose.sample((1, 2, 3, 5), choose.choice((1, 2)))))
    if is_moe:
        axes["dp"] = tuple(sorted(choose.sample((1, 2, 4), 2)))
        axes["ep"] = tuple(sorted(choose.sample((1, 2, 4, 8, 16), 3)))
    if choose.random() < 0.6:
        axes["weight_dtype"] = tuple(choose.sample(("bf16", "fp8", "int4", "nvfp4"), 2))
    if choose.random() < 0.4:
        axes["kv_dtype"] = ("bf16", "fp8")
    batches = choose.choice(
        (tuple(range(1, choose.randint(4, 25))), (1, 2, 4, 8, 16, 64), (8, 12, 96), (7,))
    )
    axes["batch"] = batches
    for name in axes:
        facts.pop(name, None)
    order = list(axes)
    choose.shuffle(order)
    axes = {name: axes[name] for name in order}
    found = Instance(facts, axes, choose.choice(GOALS), (), "", prices)
    condition = choose.choice(("", "", *CONDITIONS))
    limits = tuple(_limits(choose, found))
    return Instance(facts, axes, found.goal, limits, condition, prices)


def _limits(choose: random.Random, found: Instance) -> Iterator[tuple[str, str, Fraction]]:
    """Limits near values that some configuration has, or exactly on them."""
    points = list(found.points())
    for name, sign in choose.sample(LIMITED, choose.choice((0, 1, 2, 3))):
        models = (found.model(choose.choice(points)) for _ in range(8))
        model = next((m for m in models if m is not None), None)
        if model is None:
            continue
        try:
            value = Fraction(model[name])
        except (NotKnown, ZeroDivisionError):
            continue
        if value:
            yield name, sign, value * choose.choice((1, 1, 1, Fraction(9, 10), Fraction(11, 10)))
