"""Items that start with a word of their own: model, gpu, formats, mig_profile, profile."""

from __future__ import annotations

import re
from collections.abc import Callable

from derive.complain import Span, fault
from derive.lexer import (
    BRACE,
    COMMA,
    END_BRACE,
    GPU_WORD,
    NUMBER,
    RELATION,
    WORD,
    Cursor,
    keyword,
)
from formulas.amounts import read_number, shortened
from formulas.engines import find_engine
from formulas.errors import Problem, nearest
from formulas.statements import AmongNames, Choose, Statement, UseGpu, UseModel
from formulas.storage import FORMATS

_IN, _AS = keyword("in"), keyword("as")
# With an x any name will do; without one only a name with a digit, which no unit has.
_TIMES = r"(?:\s*\u00d7\s*|x\s*|\s+x\s+)"
_COUNT = re.compile(rf"([0-9][0-9_]*)(?:{_TIMES}(?=[\"A-Za-z]|$)|\s+(?=[\"A-Za-z])|\s*$)")
_LONELY_TIMES = re.compile(r"[x\u00d7](?![\w./+-])")
HARDWARE = re.compile(
    rf"[0-9][0-9_]*(?:{_TIMES}(?=[\"A-Za-z])|\s+(?!x[0-9])(?=[A-Za-z][\w./+-]*[0-9]))"
)


def read_named_item(cursor: Cursor, start: int, choice: str) -> Statement:
    """What is said of a model, a GPU, a format or a profile: its name, or the names allowed."""
    if not cursor.take(_IN):
        return NAMED_ITEMS[choice](cursor, start, choice)
    return AmongNames(choice, read_names(cursor, choice), cursor.since(start))


def read_names(cursor: Cursor, choice: str) -> tuple[str, ...]:
    """The names between braces behind `in`, each once."""
    if choice not in _EXAMPLES:
        message = f"{choice} has one name in a question, not a list of them"
        raise fault("syntax", message, cursor.here(), f"example: {choice} = ...")
    example = f"example: {choice} in {{{_EXAMPLES[choice]}}}"
    if not cursor.take(BRACE):
        message = "names stand between braces behind 'in'"
        raise fault("syntax", message, cursor.here(), example)
    names: dict[str, None] = {}
    while True:
        names[_one_name(cursor, choice, example)] = None
        if cursor.take(END_BRACE):
            return tuple(names)
        if not cursor.take(COMMA):
            raise fault("syntax", "'}' is missing", cursor.here(), example)


def _one_name(cursor: Cursor, choice: str, example: str) -> str:
    where = cursor.here()
    if choice == "gpu" and cursor.look(NUMBER):
        ways = ("the number of GPUs is stated apart: available_gpus = 8", example)
        raise fault("syntax", "a list of GPUs holds names only", where, *ways)
    name = cursor.take(GPU_WORD if choice == "gpu" else WORD).strip('"')
    if not name:
        raise fault("syntax", "a name was expected", where, example)
    if choice in _CHOSEN_FORMATS:
        return _known_format(name, choice, (where[0], cursor.end))
    return name.lower() if choice == "mig_profile" else name


def _equals(cursor: Cursor, choice: str, example: str) -> None:
    """Pass an optional '='; a choice has no other relation."""
    where = cursor.here()
    relation = cursor.take(RELATION)
    if relation not in ("", "="):
        raise fault("syntax", f"{choice} takes '='", where, f"example: {example}")
    if cursor.done:
        message = f"line ends where a value of {choice} was expected"
        raise fault("syntax", message, cursor.here(), f"example: {example}")


def _word(cursor: Cursor, pattern: re.Pattern[str], wanted: str, example: str) -> str:
    where = cursor.here()
    word = cursor.take(pattern).strip('"')
    if not word:
        message = f"{wanted} was expected"
        raise fault("syntax", message, where, f"example: {example}")
    return word


def _model(cursor: Cursor, start: int, choice: str) -> UseModel:
    example = "model llama-3.1-8b, or model ./config.json"
    _equals(cursor, choice, example)
    name = _word(cursor, WORD, "the name of a model", example)
    if cursor.take(_AS):
        alias = _word(cursor, WORD, "a name", "model ./config.json as mine")
        cursor.note(f"{name} is called {alias} here")
    return UseModel(name, cursor.since(start))


def read_gpu(cursor: Cursor, start: int, choice: str) -> UseGpu:
    """The GPU that comes next and how many of them, behind the word gpu or without it."""
    example = "gpu 8 x h100-sxm"
    if choice:
        _equals(cursor, choice, example)
    where = cursor.here()
    times = cursor.take(_COUNT)
    count = int(read_number(times.split()[0].rstrip("x\u00d7"))) if times else None
    if count == 0:
        raise fault("number", "a deployment has at least 1 GPU", where, f"example: {example}")
    alone = bool(times and cursor.take(_LONELY_TIMES))
    if alone or cursor.done:
        message = f"{'line ends where ' if cursor.done else ''}the name of a GPU was expected"
        raise fault("syntax", message, cursor.here(), f"example: {example}")
    name = _word(cursor, GPU_WORD, "the name of a GPU", example)
    text = cursor.since(start)
    if times and not (choice and times.strip()[-1] in "x\u00d7"):
        cursor.note(f"{text} read as gpu {count} x {name}")
    return UseGpu(name, count, text)


def _format(cursor: Cursor, start: int, choice: str) -> Choose:
    choice = _OTHER_NAMES.get(choice, choice)
    example = f"{choice} = fp8"
    _equals(cursor, choice, example)
    where = cursor.here()
    name = _word(cursor, WORD, "a number format", example)
    if name.lower() == "given":
        raise fault(
            "syntax",
            f"{choice} is a choice, and is stated rather than asked",
            where,
            f"example: {example}",
        )
    return Choose(choice, _known_format(name, choice, (where[0], cursor.end)), cursor.since(start))


def _known_format(name: str, choice: str, span: Span) -> str:
    known = FORMATS[choice]
    if name.lower() in known:
        return name.lower()
    formats = f"one of {', '.join(known)}"
    close = nearest(name, list(known))
    advice = (f"did you mean '{close}'?", formats) if close else (formats,)
    message = f"{choice} = {shortened(name)} is not a number format"
    raise fault("domain", message, span, *advice)


def _profile(cursor: Cursor, start: int, choice: str) -> Choose:
    example = "mig_profile = 1g.10gb"
    _equals(cursor, choice, example)
    name = _word(cursor, WORD, "a MIG profile", example)
    return Choose(choice, name.lower(), cursor.since(start))


def _constants(cursor: Cursor, start: int, choice: str) -> Choose:
    example = "profile = measured/vllm"
    _equals(cursor, choice, example)
    name = _word(cursor, WORD, "the name of a profile", example)
    return Choose(choice, name.lower(), cursor.since(start))


def _engine(cursor: Cursor, start: int, choice: str) -> Choose:
    example = "engine = vllm-0.21"
    _equals(cursor, choice, example)
    where = cursor.here()
    name = _word(cursor, WORD, "the name of an engine", example)
    try:
        return Choose(choice, find_engine(name), cursor.since(start))
    except Problem as problem:
        problem.span = (where[0], cursor.end)
        raise


# What engines call these choices.
_OTHER_NAMES = {"kv_cache_dtype": "kv_dtype"}

_CHOSEN_FORMATS = ("weight_dtype", "kv_dtype")
_EXAMPLES = {
    "model": "llama-3.1-8b, llama-3.1-70b",
    "gpu": "h100-sxm, a100-80gb-sxm",
    "weight_dtype": "bf16, fp8",
    "kv_dtype": "bf16, fp8",
    "mig_profile": "1g.10gb, 2g.20gb",
}

# Items that start with a word of their own.
NAMED_ITEMS: dict[str, Callable[[Cursor, int, str], Statement]] = {
    "model": _model,
    "gpu": read_gpu,
    "weight_dtype": _format,
    "kv_dtype": _format,
    "kv_cache_dtype": _format,
    "mig_profile": _profile,
    "profile": _constants,
    "engine": _engine,
}
