"""Problems with their place in the line: set here, and shown here with carets."""

from __future__ import annotations

import unicodedata

from formulas.errors import Problem

WIDEST = 100
INDENT = "  "
_CUT = "..."

Span = tuple[int, int]


def fault(kind: str, message: str, span: Span, *lines: str) -> Problem:
    """A problem with one stretch of the line; `lines` say what to do instead."""
    return Problem(kind, message, tuple(lines), span=span)


def located(problem: Problem, line: str, span: Span | None = None) -> Problem:
    """The problem, which from now on knows its line and, as far as can be told, its place in it."""
    if problem.line:
        return problem
    problem.line = line
    problem.span = problem.span or span or _found(problem.word, line)
    if problem.span is not None and not problem.word:
        problem.word = line[slice(*problem.span)]
    return problem


def _found(word: str, line: str) -> Span | None:
    start = line.find(word) if word else -1
    return None if start < 0 else (start, start + len(word))


def complain(problem: Problem, line: str = "") -> str:
    """The whole message: the sentence, the line with carets under the fault, and what to do.

    A problem that knows its line shows that one; `line` is for those that come from further below.
    """
    shown = problem.line or line
    span = problem.span or _found(problem.word, shown)
    shape = picture(shown, span) if shown and span else ()
    # A name that somebody brought may hold anything, also what moves a terminal's cursor.
    text = (str(problem), *(INDENT + part for part in (*shape, *problem.help)))
    return "\n".join(_printable(row) for row in text)


def picture(line: str, span: Span) -> tuple[str, str]:
    """The line, or a window of it, and the carets below."""
    start, end = span[0], max(span[1], span[0] + 1)
    left, right = _window(len(line), start, end)
    before, after = _CUT if left else "", _CUT if right < len(line) else ""
    margin = len(before) + _columns(line[left:start].ljust(start - left))
    width = _columns(line[start : min(end, right)]) or 1
    return before + line[left:right] + after, " " * margin + "^" * width


def _window(length: int, start: int, end: int) -> Span:
    if length <= WIDEST:
        return 0, length
    room = WIDEST - 2 * len(_CUT)
    middle = min((start + end) // 2, start + room // 2)
    left = max(0, min(middle - room // 2, length - room))
    return left, min(length, left + room)


def _columns(text: str) -> int:
    """The width on a terminal, where some characters take two columns and some none."""
    return sum(
        0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in _printable(text)
    )


def _printable(text: str) -> str:
    return "".join(
        char if char.isprintable() else " " if char.isspace() else "\ufffd" for char in text
    )
