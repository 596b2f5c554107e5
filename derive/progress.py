"""What a long search is at, told on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import monotonic

# Nobody needs to be told what takes no longer, nor more often.
_PATIENCE = 1.0


def progress() -> Callable[[str], None]:
    """Says on a terminal what is being done, once a second from the second second on."""
    last = monotonic()

    def say(text: str) -> None:
        nonlocal last
        if sys.stderr.isatty() and monotonic() - last > _PATIENCE:
            last = monotonic()
            print(f"  {text} ...", file=sys.stderr, flush=True)

    return say
