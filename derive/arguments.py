"""The arguments of each command of the command line."""

from __future__ import annotations

import argparse

from derive.commands import VERBS
from derive.usage import seconds

TIME = "limit for one question (60)"


def ask_arguments(parser: argparse.ArgumentParser) -> None:
    """Of `derive ask`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _verbs()
    parser.add_argument(
        "question", nargs="*", help="what is asked; - or nothing reads it from a pipe"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON object")
    form.add_argument(
        "--jsonl", action="store_true", help="a JSON question a line in, an answer a line out"
    )
    for name, form_name in (("tex", "LaTeX"), ("md", "Markdown"), ("html", "HTML")):
        text = f"the derivation as {form_name}"
        form.add_argument(f"--{name}", dest="form", action="store_const", const=name, help=text)
    parser.add_argument("--steps", action="store_true", help="show every step")
    parser.add_argument("--model", help="as  model NAME  in the question")
    parser.add_argument("--gpu", help="as  gpu N x NAME  in the question")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="FACT",
        help="a fact, such as mbu=80%% (repeatable)",
    )
    parser.add_argument("--time", type=seconds, default=60.0, metavar="SECONDS", help=TIME)


def _verbs() -> str:
    """What a question may begin with, besides the name of a quantity."""
    rows = [("max NAME, min NAME", "the largest or smallest under what is given")]
    rows += [(verb.syntax, verb.help) for verb in VERBS.values()]
    width = max(len(syntax) for syntax, _ in rows)
    lines = (f"  {syntax:<{width}}  {help_}" for syntax, help_ in rows)
    return "what is asked is a quantity, a calculation, or begins with a verb:\n" + "\n".join(lines)


def run_arguments(parser: argparse.ArgumentParser) -> None:
    """Of `derive run`."""
    parser.add_argument("file", help="lines as they are typed; - reads them from a pipe")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--keep-going", action="store_true", help="go on after an unreadable line")
    parser.add_argument("--time", type=seconds, default=60.0, metavar="SECONDS", help=TIME)


def how_many(text: str) -> int | str:
    """A number, or the word all."""
    return text if text == "all" else int(text)


def plan_arguments(parser: argparse.ArgumentParser) -> None:
    """Of `derive plan`."""
    parser.add_argument("file", help="what is sought, given and searched, or a fleet, in TOML")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument(
        "--top", type=how_many, metavar="N", help="so many of the best, or all that are equal"
    )
    parser.add_argument(
        "--solver", dest="engine", choices=("z3", "highs"), default="", help="what solves a fleet"
    )
    parser.add_argument("--time", type=seconds, default=60.0, metavar="SECONDS", help=TIME)


def plan(options: argparse.Namespace) -> int:
    """Plan or launch; the exit code."""
    from derive.plan_command import run
    from derive.usage import EXIT_CODES

    return EXIT_CODES[run(options)]


def launch_arguments(parser: argparse.ArgumentParser) -> None:
    """Of `derive launch`."""
    parser.add_argument("file", help="a plan in TOML")
    parser.add_argument("--engine", metavar="FORM", help="vllm, sglang or kubernetes; all of them")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--time", type=seconds, default=60.0, metavar="SECONDS", help=TIME)


def words_arguments(parser: argparse.ArgumentParser) -> None:
    """Of the commands that search by words."""
    parser.add_argument("words", nargs="*", help="words to search for")
    parser.add_argument("--json", action="store_true", help="a JSON array of objects with an id")


def sheet_arguments(parser: argparse.ArgumentParser) -> None:
    """Of `derive sheet`."""
    form = parser.add_mutually_exclusive_group()
    for name, text in (
        ("html", "one HTML file (the default)"),
        ("tex", "LaTeX"),
        ("md", "Markdown"),
    ):
        form.add_argument(f"--{name}", dest="form", action="store_const", const=name, help=text)
    text = "one JSON object: formulas and numbers"
    form.add_argument("--json", dest="form", action="store_const", const="json", help=text)
    parser.add_argument("--out", metavar="FILE", help="write it there and not to the terminal")
    parser.set_defaults(form="html")


def sheet(options: argparse.Namespace) -> int:
    """Write the sheet; 0 where that is done."""
    from derive.sheet import write_sheet

    write_sheet(options.form, options.out)
    return 0


def show_arguments(parser: argparse.ArgumentParser) -> None:
    """Of `derive show`."""
    parser.add_argument("name", help="a formula, a definition or a quantity")
    parser.add_argument("rest", nargs="*", metavar="for QUANTITY", help="one inversion only")
    parser.add_argument("--json", action="store_true", help="one JSON object")


# Columns that a file of measurements may lack, and that its reader fills in.
FILLED = ("gpu", "engine", "precision", "tp", "dp", "concurrency")


def calibrate_arguments(parser: argparse.ArgumentParser) -> None:
    """Of `derive calibrate`."""
    parser.add_argument("file", help="measurements: CSV, or the JSON of a serving benchmark")
    parser.add_argument("--name", help="of the profile that later questions name")
    parser.add_argument("--test", metavar="FILE", help="rows to predict; their errors are told")
    parser.add_argument("--predictions", metavar="FILE", help="a CSV line for each row of --test")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    for name in FILLED:
        parser.add_argument(f"--{name}", help=f"the {name} of rows whose file does not say")
