"""A warm question against `import sympy`, at the median over the golden questions.

    python tests/bench/warm_question_against_import_sympy.py

A question is asked once to warm up and then five times, of which the best counts. The import is
that of a fresh process, less the start of a bare interpreter.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from derive.conversation import Conversation
from tests.transcripts import questions

REPEATS = 5
BAR = 0.1


def seconds_of(code: str) -> float:
    """The best wall time of a fresh interpreter that runs the code."""

    def once() -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - start

    return min(once() for _ in range(REPEATS))


def seconds_warm(conversation: Conversation, line: str) -> float:
    """The best time of the line, asked again and again."""

    def once() -> float:
        start = time.perf_counter()
        conversation.say(line)
        return time.perf_counter() - start

    once()
    return min(once() for _ in range(REPEATS))


def main() -> int:
    """Print the median, the slowest questions and the ratio; 1 where it is above the bar."""
    imported = seconds_of("import sympy") - seconds_of("pass")
    times = {line: seconds_warm(before, line) for before, line in questions()}
    median = statistics.median(times.values())
    for line in sorted(times, key=times.__getitem__, reverse=True)[:5]:
        print(f"{times[line] * 1000:8.1f} ms  {line}")
    print(f"import sympy {imported * 1000:.0f} ms; {len(times)} questions, median", end=" ")
    print(f"{median * 1000:.1f} ms; ratio {median / imported:.3f} (at most {BAR})")
    return 0 if median / imported <= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
