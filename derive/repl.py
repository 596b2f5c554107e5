"""`derive` alone: a prompt at which to think. It is there before anything heavy is imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING

from derive.repl_history import history_file
from derive.streams import width

if TYPE_CHECKING:
    from derive.repl_dialogue import Dialogue
    from formulas.errors import Problem

PROMPT = "derive> "


class Engine:
    """What answers lines. It is imported in a thread, once somebody has something to read."""

    def __init__(self, debug: bool) -> None:
        """Import nothing yet."""
        self._debug = debug
        self._thread = Thread(target=_import_everything, daemon=True)
        self.dialogue: Dialogue | None = None

    def warm(self) -> None:
        """Begin to import; once is enough."""
        if self._thread.ident is None:
            self._thread.start()

    def names(self) -> Iterator[str]:
        """The quantities and choices of which something is stated."""
        if self.dialogue is not None:
            from derive.repl_facts import stated_names

            yield from stated_names(self.dialogue.now)

    def say(self, line: str) -> Heard:
        """What the line comes to; Ctrl-C ends it and leaves everything as it was."""
        self.warm()
        self._thread.join()
        from derive.alarm import Alarm
        from derive.repl_dialogue import Dialogue
        from formulas.errors import Problem

        before = self.dialogue or Dialogue()
        try:
            with Alarm(None):
                self.dialogue, outcome = before.say(line)
        except Problem as problem:
            return Heard("error", problem=problem)
        except OSError as error:
            return Heard("error", problem=Problem("file", str(error.strerror or error)))
        except Exception as error:  # a mistake of ours must not end the session
            if self._debug:
                raise
            told = f"{type(error).__name__}: {str(error)[:300]}"
            advice = ("this is our mistake; derive --debug shows where it happened",)
            return Heard("bug", problem=Problem("bug", told, advice))
        from derive.repl_shown import answer_text

        return Heard(outcome.status, lambda colour: answer_text(outcome, width(), colour))


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of a line: a text, in colour or not, or a problem."""

    status: str
    text: Callable[[bool], str] = lambda colour: ""
    problem: Problem | None = None


def _import_everything() -> None:
    """The engine, and the catalogue with its symbols."""
    from derive.repl_dialogue import Dialogue
    from formulas.catalogue import catalogue

    catalogue()
    # A mistake of ours is told by the question that meets it.
    with suppress(Exception):
        Dialogue().say(
            "kv_bytes_per_token given kv_elements_per_token = 2, kv_bytes_per_element = 2"
        )


def capable() -> bool:
    """True where lines can be edited: a terminal on both sides that can move its cursor."""
    dumb = os.name == "posix" and os.environ.get("TERM", "dumb").lower() in ("dumb", "")
    return sys.stdin.isatty() and sys.stdout.isatty() and not dumb


def run(debug: bool = False) -> int:
    """A session until its end; the exit code, which for a pipe is that of its last answer."""
    engine = Engine(debug)
    if capable():
        from derive.repl_terminal import Terminal

        terminal = Terminal(history_file(), engine.names, engine.warm)
        return _talk(engine, terminal.lines(), terminal.colour)
    from derive.repl_plain import of_a_pipe, typed_plainly

    if sys.stdin.isatty():
        return _talk(engine, typed_plainly(history_file()), False)
    return _answer_pipe(engine, of_a_pipe())


def _talk(engine: Engine, typed: Iterator[str], colour: bool) -> int:
    """Answer what is typed until it ends; a question that is stopped ends alone."""
    for text in typed:
        try:
            if not _said(engine, text, colour):
                break
        except KeyboardInterrupt:
            print("stopped; nothing has changed", flush=True)
    return 0


def _said(engine: Engine, text: str, colour: bool) -> bool:
    """Answer each line of what was typed or pasted; False where it ends the session."""
    from derive.repl_lines import lines_in

    lines = lines_in(text)
    for place, line in enumerate(lines):
        if len(lines) > 1:
            print(f"{PROMPT}{line}", flush=True)
        heard = engine.say(line)
        if heard.problem is not None:
            from derive.repl_shown import problem_text

            above = len(PROMPT) if line in text.splitlines()[-1] else None
            print(problem_text(heard.problem, line, above, width(), colour), flush=True)
            if rest := len(lines) - place - 1:
                print(f"  {rest} more lines were not read", flush=True)
            return True
        if shown := heard.text(colour):
            # An answer of several lines stands apart from the next prompt.
            print(shown, end="\n\n" if "\n" in shown else "\n", flush=True)
        if engine.dialogue is not None and engine.dialogue.over:
            return False
    return True


def _answer_pipe(engine: Engine, lines: Iterable[str]) -> int:
    """Answer line after line without a prompt, up to the first that cannot be read."""
    from derive.repl_lines import numbered_lines
    from derive.usage import EXIT_BUG, EXIT_CODES

    status, between = "ok", ""
    for number, line in numbered_lines(lines):
        heard = engine.say(line)
        if heard.problem is not None:
            from derive.complain import complain

            heard.problem.help = (*heard.problem.help, f"line {number}")
            sys.stdout.flush()
            print(complain(heard.problem, line), file=sys.stderr, flush=True)
            return EXIT_BUG if heard.status == "bug" else EXIT_CODES["error"]
        if shown := heard.text(False):
            print(f"{between}{shown}", flush=True)
            between = "\n"
        status = heard.status
        if engine.dialogue is not None and engine.dialogue.over:
            break
    return EXIT_CODES[status]
