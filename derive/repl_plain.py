"""The session without a terminal that can edit lines: a pipe, or a terminal that is dumb."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from derive.repl_history import HistoryFile
from derive.script import PROMPT


def typed_plainly(history: HistoryFile) -> Iterator[str]:
    """Lines typed at a prompt without any editing; Ctrl-C gives an empty one, Ctrl-D the end."""
    while True:
        try:
            line = input(PROMPT)
        except EOFError:
            print()
            return
        except KeyboardInterrupt:
            print()
            continue
        history.add(line)
        yield line


def of_a_pipe() -> Iterable[str]:
    """The lines of a pipe, as they come."""
    for number, line in enumerate(sys.stdin.buffer):
        yield line.decode("utf-8-sig" if number == 0 else "utf-8", "replace").rstrip("\r\n")
