"""The command line: a table of commands, exit codes, and no traceback for anybody."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from derive import __version__, arguments
from derive.streams import line_of_pipe, lines_of, ready_streams, say_nothing_more, width
from derive.usage import (
    EXIT_BUG,
    EXIT_CODES,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_USAGE,
    Parser,
    with_ask,
)

if TYPE_CHECKING:
    from derive.document import Document

Handler = Callable[[argparse.Namespace], int]


@dataclass(frozen=True, slots=True)
class Command:
    """One word of the command line: what it takes, what it says of itself, what it does."""

    name: str
    help: str
    arguments: Callable[[argparse.ArgumentParser], None]
    handler: Handler


def main(words: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code; whatever happens, people see a sentence."""
    ready_streams()
    options = _options(words)
    handler: Handler = _talk if options.command is None else options.handler
    try:
        code = handler(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of a pipe has gone; nothing can be said any more, at exit neither.
        say_nothing_more()
        return EXIT_OK
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return EXIT_INTERRUPTED
    except OSError as error:
        say_nothing_more()
        where = f"{error.filename}: " if error.filename else ""
        print(f"error[file]: {where}{error.strerror or error}", file=sys.stderr)
        return EXIT_USAGE
    except Exception as error:  # the last net: a traceback is a bug, and is called one
        return _failed(error, options)
    return code


def _failed(error: Exception, options: argparse.Namespace) -> int:
    from formulas.errors import Problem

    if isinstance(error, Problem):
        from derive.complain import complain

        if getattr(options, "json", False):
            from derive.as_json import problem_object

            _print_json(problem_object(error))
        print(complain(error, getattr(options, "line", "")), file=sys.stderr)
        return EXIT_USAGE
    if options.debug:
        raise error
    message = f"error[bug]: {type(error).__name__}: {str(error)[:300]}"
    if getattr(options, "json", False):
        from derive.as_json import error_object

        _print_json(error_object("bug", message))
    print(message, file=sys.stderr)
    print("  this is our mistake; --debug shows where it happened", file=sys.stderr)
    return EXIT_BUG


# -- arguments


def _options(given: Sequence[str] | None) -> argparse.Namespace:
    """The options, wherever they stand between the words of a question."""
    parser = _parser()
    options, rest = parser.parse_known_args(with_ask(given, COMMANDS))
    words = [word for word in rest if not word.startswith("-")]
    if words != rest or (rest and options.command != "ask"):
        parser.error(f"not understood: {' '.join(word for word in rest if word not in words)}")
    if rest:
        options.question += rest
    return options


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="derive",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="A symbolic calculator and constraint solver for LLM inference.",
        epilog='example:  derive ask "max context given model llama-3.1-70b, gpu 8 x h100-sxm, '
        'tp = 8, batch = 32, tpot <= 30 ms"\n'
        "          derive alone is a prompt at which lines follow each other",
    )
    parser.add_argument("--version", action="version", version=f"derive {__version__}")
    parser.add_argument(
        "--debug", action="store_true", help="show where a mistake of ours happened"
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS:
        sub = commands.add_parser(command.name, help=command.help, description=command.help)
        command.arguments(sub)
        sub.add_argument(
            "--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
        )
        sub.set_defaults(handler=command.handler)
    return parser


# -- handlers


def _talk(options: argparse.Namespace) -> int:
    from derive.repl import run

    return run(options.debug)


def _ask(options: argparse.Namespace) -> int:
    from derive.asking import ask_lines, ask_once

    if options.jsonl:
        _refuse_beside_jsonl(options)
        return ask_lines(sys.stdin.buffer, sys.stdout, options.time)
    options.line = text = _question(options)
    found = ask_once(text, options.time)
    if options.json:
        _print_json(found.data)
    elif options.form:
        sys.stdout.write(found.written_as(options.form))
    else:
        shown = found.text(options.steps, width())
        # A question that contradicts itself is a mistake; a check that finds one has answered.
        mistaken = found.status == "contradiction" and found.reply is not None
        print(shown, file=sys.stderr if mistaken else sys.stdout)
    return EXIT_CODES[found.status]


def _refuse_beside_jsonl(options: argparse.Namespace) -> None:
    """Nothing that a person states may be left out without a word."""
    from formulas.errors import Problem

    given = {
        "a question": options.question,
        "--set": options.set,
        "--model": options.model is not None,
        "--gpu": options.gpu is not None,
    }
    for name, stated in given.items():
        if stated:
            advice = 'each line of the pipe holds its own facts under "given"'
            raise Problem("usage", f"{name} cannot stand beside --jsonl", (advice,))


def _question(options: argparse.Namespace) -> str:
    """The question's line: the words, or the one line of a pipe, and the facts of the options."""
    from formulas.errors import Problem

    text = " ".join(options.question)
    if text in ("", "-"):
        if text == "" and sys.stdin.isatty():
            raise Problem("syntax", "nothing asked", ('derive ask "tpot given ..."',))
        text = line_of_pipe()
    facts = [fact for fact in options.set if fact.strip()]
    facts += [f"model {options.model}"] if options.model is not None else []
    facts += [f"gpu {options.gpu}"] if options.gpu is not None else []
    if facts and text.strip():
        # A comment ends with its line, and must not swallow the facts.
        end = "\n" if "#" in text else ""
        text = f"{text}{end} given {', '.join(facts)}"
    # Half of a pair can neither be printed nor be part of a name.
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def _run(options: argparse.Namespace) -> int:
    from derive.as_json import json_text
    from derive.script import as_object, replay, shown

    def show(line: str, found: Any) -> None:
        if options.json:
            print(json_text(as_object(line, found), sys.stdout.encoding), flush=True)
        else:
            print(shown(line, found, width()), flush=True)

    return EXIT_CODES[replay(lines_of(options.file), show, options.time, options.keep_going)]


def _list(options: argparse.Namespace) -> int:
    from derive import listing

    return _table(options, listing.list_data, listing.list_document)


def _models(options: argparse.Namespace) -> int:
    from derive import listing

    return _table(options, listing.models_data, listing.models_document)


def _gpus(options: argparse.Namespace) -> int:
    from derive import listing

    return _table(options, listing.gpus_data, listing.gpus_document)


def _numbers(options: argparse.Namespace) -> int:
    from derive.numbers_list import numbers_data, numbers_document

    return _table(options, lambda words: numbers_data(), numbers_document)


def _table(
    options: argparse.Namespace,
    data: Callable[[str], Any],
    document: Callable[[str], Document],
) -> int:
    words = " ".join(options.words)
    if options.json:
        _print_json(data(words))
    else:
        _print_document(document(words))
    return EXIT_OK


def _show(options: argparse.Namespace) -> int:
    from derive.show import show_data, show_document
    from formulas.errors import Problem

    rest = options.rest
    if rest and (rest[0] != "for" or len(rest) != 2):
        raise Problem("syntax", "show NAME, or show NAME for QUANTITY", (), " ".join(rest))
    solve_for = rest[1] if rest else None
    if options.json:
        _print_json(show_data(options.name, solve_for))
    else:
        _print_document(show_document(options.name, solve_for))
    return EXIT_OK


def _calibrate(options: argparse.Namespace) -> int:
    # Matrices this small are slower on several threads; numpy reads it when it is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from derive.calibrate import calibrate, report

    defaults = {name: value for name in arguments.FILLED if (value := getattr(options, name))}
    found = calibrate(options.file, options.name, options.test, options.predictions, defaults)
    if options.json:
        _print_json(found)
    else:
        _print_document(report(found))
    return EXIT_OK


def _print_document(document: Document) -> None:
    from derive.as_text import as_text

    print(as_text(document))


def _print_json(found: Any) -> None:
    from derive.as_json import json_text

    print(json_text(found, sys.stdout.encoding, indent=1 if isinstance(found, list) else None))


COMMANDS = (
    Command("ask", "answer one question, or a stream of them", arguments.ask_arguments, _ask),
    Command("run", "a file of lines, each after those before", arguments.run_arguments, _run),
    Command("plan", "the best configuration of a file", arguments.plan_arguments, arguments.plan),
    Command("launch", "a plan's choice as commands", arguments.launch_arguments, arguments.plan),
    Command("list", "formulas, definitions and quantities", arguments.words_arguments, _list),
    Command("show", "a formula or quantity, with inversions", arguments.show_arguments, _show),
    Command("numbers", "the reference numbers, recomputed", arguments.words_arguments, _numbers),
    Command("sheet", "the whole sheet as a document", arguments.sheet_arguments, arguments.sheet),
    Command("calibrate", "constants from measurements", arguments.calibrate_arguments, _calibrate),
    Command("models", "the models that are known by name", arguments.words_arguments, _models),
    Command("gpus", "the GPUs that are known by name", arguments.words_arguments, _gpus),
)
