"""How an answer or a mistake looks below the line that was typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from derive.complain import INDENT, complain, picture

if TYPE_CHECKING:
    from derive.outcome import Outcome
    from formulas.errors import Problem

_RED, _BOLD, _PLAIN = "\x1b[31m", "\x1b[1m", "\x1b[0m"

# What the command line's options are called at the prompt.
_IN_A_SESSION = (("--steps shows", "set steps yes shows"), ("--time gives", "set time N gives"))


def answer_text(outcome: Outcome, width: int, colour: bool = False) -> str:
    """The answer; with colour its first line stands out."""
    text = outcome.text(width=width)
    for option, word in _IN_A_SESSION:
        text = text.replace(option, word)
    if not colour or outcome.reply is None:
        return text
    first, mark, rest = text.partition("\n")
    return f"{_BOLD}{first}{_PLAIN}{mark}{rest}"


def problem_text(
    problem: Problem, line: str, margin: int | None, width: int, colour: bool = False
) -> str:
    """The mistake. Where the line stands above it, `margin` columns from the left, the carets are
    put right under it; else the line is shown again.
    """
    text = complain(problem, line)
    span = problem.span
    if margin is not None and span and problem.line == line:
        shape = picture(line, span)
        mark = f"{INDENT}{shape[0]}\n{INDENT}{shape[1]}\n"
        fits = shape[0] == line and margin + len(shape[1]) < width and margin + len(line) < width
        if fits and mark in f"{text}\n":
            text = " " * margin + f"{shape[1]}\n" + f"{text}\n".replace(mark, "", 1)[:-1]
    if not colour:
        return text
    word = f"error[{problem.kind}]"
    return text.replace(word, f"{_RED}{word}{_PLAIN}", 1)
