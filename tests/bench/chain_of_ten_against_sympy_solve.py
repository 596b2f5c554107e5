"""A walk backwards through a chain of ten formulas, against sympy.solve on the composed expression.

Run by hand:  python tests/bench/chain_of_ten_against_sympy_solve.py [REPEATS]
Each chain leads from an input to the requests in flight; everything beside it is a symbol. We
invert one formula after the other, sympy.solve gets the chain as one expression. A call that takes
longer than a minute counts as a minute. It prints both times, what came of them and their ratio,
and exits with 1 where a ratio is above a tenth.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import sympy

from formulas.catalogue import catalogue
from formulas.quantity import stand_in
from solvers.branches import Branch, Refused, Root
from solvers.isolate import isolate_within

SECONDS = 60
LONGEST_RATIO = 0.1
LATER = (
    "deployment.kv_bytes_per_token", "deployment.kv_bytes_per_token_per_gpu",
    "deployment.kv_bytes_read_per_gpu", "deployment.stage_memory_time", "deployment.step_time",
    "deployment.tpot", "e2e_latency", "deployment.time_in_system", "littles_law",
)  # fmt: skip
CHAINS = (
    ("d_head", ("deployment.kv_elements_per_token", *LATER)),
    ("n_layers", ("deployment.kv_elements_per_token", *LATER)),
    ("kv_lora_rank", ("deployment.kv_elements_per_token.mla", *LATER)),
)


Formula = tuple[str, Any]


class OverTimeError(Exception):
    """The call has used its time."""


def stop(*_: Any) -> None:
    """Raise in the call that runs."""
    raise OverTimeError


def walked(rows: Sequence[Formula], start: str, target: Any) -> list[Branch]:
    """Every branch of the input, one formula after the other."""
    quantities = catalogue().quantities
    goals: list[Branch] = [Root(target)]
    names = (start, *(gives for gives, _ in rows[:-1]))
    for before, (_, formula) in zip(reversed(names), reversed(rows), strict=True):
        symbol = quantities[before].symbol
        found: list[Branch] = []
        for goal in goals:
            branches = isolate_within(formula, goal, symbol)
            assert not isinstance(branches, Refused), (before, branches)
            found += branches
        goals = found
    return goals


def composed(rows: Sequence[Formula]) -> Any:
    """The chain as one expression."""
    quantities = catalogue().quantities
    _, expr = rows[0]
    for (before, _), (_, formula) in pairwise(rows):
        expr = formula.xreplace({quantities[before].symbol: expr})
    return expr


def on_one_arm(formula: Any, name: str) -> Any:
    """The formula on the arm of its max and min that holds the quantity."""
    symbol = catalogue().quantities[name].symbol
    arms = {
        node: next((arm for arm in node.args if symbol in arm.free_symbols), node)
        for node in formula.atoms(sympy.Max, sympy.Min)
    }
    return formula.xreplace(arms)


def measured(start: str, keys: Sequence[str], smooth: bool, repeats: int) -> float:
    """The ratio for one chain, printed; with `smooth` without max and min, for sympy.solve."""
    relations = [catalogue().relations[key] for key in keys]
    befores = (start, *(relation.gives for relation in relations))
    rows = [
        (r.gives, on_one_arm(r.value, before) if smooth else r.value)
        for before, r in zip(befores, relations, strict=False)
    ]
    target, symbol = stand_in(positive=True), catalogue().quantities[start].symbol
    walked(rows, start, target)
    ours = []
    for _ in range(repeats):
        started = time.perf_counter()
        branches = walked(rows, start, target)
        ours.append(time.perf_counter() - started)
    expr = composed(rows)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    started = time.perf_counter()
    try:
        told = f"{len(sympy.solve(sympy.Eq(expr, target), symbol))} solution(s)"
    except (OverTimeError, NotImplementedError, TypeError, ValueError) as trouble:
        told = type(trouble).__name__
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    theirs = time.perf_counter() - started
    ratio = min(ours) / theirs
    name = f"{start}, one arm" if smooth else start
    print(
        f"{name}: {len(rows)} formulas; walk {min(ours) * 1e3:.1f} ms "
        f"({len(branches)} branches), "
        f"sympy.solve {theirs * 1e3:.1f} ms ({told}), ratio {ratio:.4f}"
    )
    return ratio


def main() -> int:
    """Print the ratio of every chain; 1 where one is above a tenth."""
    signal.signal(signal.SIGALRM, stop)
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    ratios = [
        measured(start, keys, smooth, repeats) for start, keys in CHAINS for smooth in (False, True)
    ]
    print(f"worst ratio {max(ratios):.4f} of {LONGEST_RATIO}")
    return int(max(ratios) > LONGEST_RATIO)


if __name__ == "__main__":
    sys.exit(main())
