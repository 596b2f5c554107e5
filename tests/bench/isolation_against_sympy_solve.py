"""Isolation over the whole catalogue, timed against sympy.solve on the same pairs in the same run.

Run by hand:  python tests/bench/isolation_against_sympy_solve.py [SECONDS_PER_PAIR]
It prints coverage and total time of both, and their ratio. A call of sympy.solve that takes longer
than the limit counts with the limit, in its favour, and as not solved.
"""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import sympy

from formulas.catalogue import catalogue
from formulas.formula import VOCABULARY, Relation
from solvers.branches import Refused
from solvers.isolate import isolate


class OverTimeError(Exception):
    """The call has used its time."""


def stop(*_: Any) -> None:
    """Raise in the call that runs."""
    raise OverTimeError


def pairs() -> list[tuple[Relation, str]]:
    """Every scalar relation with every variable in it."""
    rows = [r for r in catalogue().relations.values() if not r.is_array and r.gives != "probe_ok"]
    return [(r, name) for r in rows for name in r.inputs]


def by_us(relation: Relation, name: str) -> bool:
    """True where the ladder gives a branch."""
    target, unknown = VOCABULARY[relation.gives].symbol, VOCABULARY[name].symbol
    found = isolate(relation.expr, target, unknown)
    return not isinstance(found, Refused) and bool(found)


def by_sympy(relation: Relation, name: str, seconds: float) -> bool:
    """True where sympy.solve gives a solution without a NaN in it."""
    target, unknown = VOCABULARY[relation.gives].symbol, VOCABULARY[name].symbol
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        found = sympy.solve(sympy.Eq(relation.expr, target), unknown)
        return bool(found) and not any(f.has(sympy.nan) for f in found)
    except (OverTimeError, NotImplementedError, TypeError, ValueError, AttributeError):
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main() -> int:
    """Print the comparison; 1 where we cover less or take more than a tenth of the time."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    signal.signal(signal.SIGALRM, stop)
    rows = pairs()
    started = time.perf_counter()
    ours = {(r.key, n): by_us(r, n) for r, n in rows}
    our_time = time.perf_counter() - started
    started = time.perf_counter()
    theirs = {(r.key, n): by_sympy(r, n, seconds) for r, n in rows}
    their_time = time.perf_counter() - started
    only_theirs = [pair for pair, solved in theirs.items() if solved and not ours[pair]]
    print(f"pairs                 {len(rows)}")
    print(f"isolate               {sum(ours.values())} solved in {our_time:.2f} s")
    print(f"sympy.solve           {sum(theirs.values())} solved in {their_time:.2f} s")
    print(f"ratio of total times  {our_time / their_time:.4f}")
    for pair in only_theirs:
        print("only sympy.solve:    ", *pair)
    return int(sum(ours.values()) < sum(theirs.values()) or our_time > 0.1 * their_time)


if __name__ == "__main__":
    sys.exit(main())
