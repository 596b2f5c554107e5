"""Input and output of the command: whatever they are, no text breaks them."""

from __future__ import annotations

import codecs
import os
import shutil
import sys

LONGEST_PIPE = 20_000
LONGEST_FILE = 1_000_000
NARROWEST, WIDEST = 40, 100


def ready_streams() -> None:
    """Streams that take every text: closed ones lead nowhere, and narrow ones get plain signs."""
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    codecs.register_error("plainly", _plainly)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="plainly")


def _plainly(error: UnicodeError) -> tuple[str | bytes, int]:
    """What stands for a character that the terminal's encoding lacks."""
    if isinstance(error, UnicodeEncodeError) and error.object[error.start].isspace():
        return " ", error.start + 1
    return codecs.backslashreplace_errors(error)


def say_nothing_more() -> None:
    """Lead the output nowhere, so that the end of the process does not try to write again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def width() -> int:
    """The columns of the terminal, up to those that read well; all of them where there is none."""
    if not sys.stdout.isatty():
        return WIDEST
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size().columns))


def line_of_pipe() -> str:
    """The one line of text that comes from a pipe."""
    from formulas.errors import Problem

    found = sys.stdin.buffer.read(LONGEST_PIPE + 1)
    if len(found) > LONGEST_PIPE:
        raise Problem("syntax", f"a question of more than {LONGEST_PIPE} characters is not read")
    text = found.decode("utf-8-sig", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 1:
        advice = "one question a call; derive ask --jsonl answers many"
        raise Problem("syntax", f"{len(lines)} lines, where one question was expected", (advice,))
    return lines[0] if lines else ""


def lines_of(name: str) -> list[str]:
    """The lines of a text file, or of the pipe for `-`; Problem where they cannot be read."""
    from formulas.errors import Problem

    if name == "-":
        found = sys.stdin.buffer.read(LONGEST_FILE + 1)
    else:
        try:
            with open(name, "rb") as file:
                found = file.read(LONGEST_FILE + 1)
        except OSError as error:
            raise Problem("file", f"{name}: {error.strerror}") from None
    if len(found) > LONGEST_FILE:
        raise Problem("file", f"{name} has more than {LONGEST_FILE} bytes, and is not read")
    return found.decode("utf-8-sig", "replace").splitlines()
