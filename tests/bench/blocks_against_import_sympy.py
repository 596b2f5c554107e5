"""Matching and blocks of a synthetic graph of 500 formulas, against `import sympy`.

Run by hand:  python tests/bench/blocks_against_import_sympy.py [REPEATS]
Circles of up to six formulas in a long chain, each with inputs from further up. It prints the time
of the structure, with and without importing networkx, of `import sympy` in a fresh process, and of
sympy.solve on one of the circles; and exits with 1 where the structure takes more than a fifth of
the import.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

FORMULAS = 500
LONGEST_CIRCLE = 6
LONGEST_RATIO = 0.2
ROOT = Path(__file__).resolve().parents[2]


def system(seed: int) -> dict[str, frozenset[str]]:
    """Equations by name with the unknowns in each: as many equations as unknowns."""
    choose = random.Random(seed)
    rows: dict[str, frozenset[str]] = {}
    done = 0
    while done < FORMULAS:
        size = min(choose.randint(1, LONGEST_CIRCLE), FORMULAS - done)
        mine = [f"x{done + k}" for k in range(size)]
        for k in range(size):
            before = [f"x{choose.randrange(done)}" for _ in range(3)] if done else []
            rows[f"e{done + k}"] = frozenset({mine[k], mine[(k + 1) % size], *before})
        done += size
    return rows


def in_fresh_process(code: str, repeats: int) -> float:
    """The least time of the code in a process of its own, less that of an empty one."""

    def run(text: str) -> float:
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", text], cwd=ROOT, check=True)
        return time.perf_counter() - started

    return min(run(code) for _ in range(repeats)) - min(run("pass") for _ in range(repeats))


def circle(size: int) -> float:
    """The time that sympy.solve takes for one circle of formulas alone."""
    import sympy

    symbols = sympy.symbols(f"x:{size}", positive=True)
    rows = [symbols[k] * symbols[(k + 1) % size] - (k + 2) for k in range(size - 1)]
    rows.append(symbols[-1] + symbols[0] - 5)
    started = time.perf_counter()
    sympy.solve(rows, symbols, dict=True)
    return time.perf_counter() - started


def main() -> int:
    """Print the comparison; 1 where the structure takes more than a fifth of the import."""
    from solvers.structure import structure_of

    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    rows = system(1)
    structure_of({"warm": frozenset(("x",))})
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        structure = structure_of(rows)
        times.append(time.perf_counter() - started)
    assert not structure.under
    assert not structure.over
    ours = min(times)
    imported = in_fresh_process("import sympy", repeats)
    networkx = in_fresh_process("import networkx", repeats)
    solved = circle(LONGEST_CIRCLE)
    print(f"formulas                   {len(rows)}, in {len(structure.blocks)} blocks")
    print(f"matching and blocks        {ours * 1e3:.1f} ms")
    print(f"import sympy               {imported * 1e3:.1f} ms, ratio {ours / imported:.4f}")
    print(f"import networkx            {networkx * 1e3:.1f} ms")
    print(f"sympy.solve of one circle  {solved * 1e3:.1f} ms, ratio {ours / solved:.4f}")
    return int(ours > LONGEST_RATIO * imported)


if __name__ == "__main__":
    sys.exit(main())
