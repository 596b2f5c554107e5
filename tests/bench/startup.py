"""The start of the command against that of a bare interpreter, in one run.

    python tests/bench/startup.py

`derive --version` ends, and the prompt is on the screen of a pseudo-terminal; the least of many
processes counts, each kind in turn, so that a busy machine slows all of them.
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
REPEATS = 25
VERSION_BAR, PROMPT_BAR = 6.0, 15.0


def seconds_of(*arguments: str) -> float:
    """The wall time of a Python process."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def seconds_to_prompt() -> float:
    """The wall time until a terminal shows the prompt."""
    environment = {**os.environ, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}
    environment["DERIVE_HISTORY"] = ""
    mine, theirs = pty.openpty()
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "derive"], stdin=theirs, stdout=theirs, stderr=theirs, cwd=ROOT,
        env=environment, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    while b"derive>" not in shown:
        shown += os.read(mine, 4096)
    found = time.perf_counter() - start
    process.kill()
    process.wait()
    os.close(mine)
    return found


def main() -> int:
    """Print the ratios; 1 where one is above its bar."""
    seconds_of("-m", "derive", "--version")
    rows = [
        (seconds_of("-c", "pass"), seconds_of("-m", "derive", "--version"), seconds_to_prompt())
        for _ in range(REPEATS)
    ]
    bare, version, prompt = (min(column) for column in zip(*rows, strict=True))
    print(f"python -c pass    {bare * 1000:6.1f} ms")
    print(f"derive --version  {version * 1000:6.1f} ms  {version / bare:4.1f} x  (at most 6)")
    print(f"the prompt        {prompt * 1000:6.1f} ms  {prompt / bare:4.1f} x  (at most 15)")
    return 0 if version / bare <= VERSION_BAR and prompt / bare <= PROMPT_BAR else 1


if __name__ == "__main__":
    sys.exit(main())
