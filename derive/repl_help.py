"""`?`: one page of everything, or what one word, quantity, formula, model or GPU is."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from derive.commands import VERBS
from derive.complain import fault
from derive.document import Document, Fields, Heading, Line
from derive.lexer import Cursor
from derive.names import canonical_name
from derive.outcome import Outcome
from derive.repl_dialogue import Dialogue
from derive.repl_reading import done
from derive.repl_words import WORDS
from derive.show import show_document
from formulas.amounts import shortened
from formulas.errors import Problem

# Syntax and meaning of the lines that begin with no verb.
LINES = (
    ("NAME", "a quantity, or a calculation: batch / tpot"),
    ("max NAME, min NAME", "its largest or smallest under what is stated"),
    ("FACT, FACT", "from now on: batch = 32, tpot <= 30 ms, model NAME"),
    ("... given FACT, FACT", "facts of this question only"),
    ("... over NAMES", "the best over choices: min tpot over tp, kv_dtype"),
    ("... -> UNIT", "the answer in a unit: tpot -> us"),
)  # fmt: skip
_EXTREME = ("max NAME [given FACTS] [over NAMES]", "max context given tpot <= 30 ms")


def say_help(dialogue: Dialogue, cursor: Cursor) -> tuple[Dialogue, Outcome]:
    """The page; Problem for a word that is nothing."""
    start = cursor.start
    word = cursor.text[start:].partition("#")[0].strip()
    document = _everything() if not word else _page(word, (start, start + len(word)))
    return dialogue, done(document, "help", of=word or None)


def _everything() -> Document:
    questions = [(verb.syntax, verb.help) for verb in VERBS.values()]
    session = [(word.syntax, word.help) for word in WORDS.values()]
    width = max(len(syntax) for syntax, _ in (*LINES, *questions, *session))

    def rows(table: Iterable[tuple[str, str]]) -> Fields:
        return Fields(tuple((f"{syntax:<{width}}", text) for syntax, text in table))

    return (
        Heading("lines"), rows(LINES), Heading("questions"), rows(questions),
        Heading("the session"), rows(session),
        Line("Tab completes, Ctrl-R searches what was typed, Ctrl-C stops a question"),
    )  # fmt: skip


def _page(word: str, span: tuple[int, int]) -> Document:
    name = {"why not": "whynot"}.get(word.lower(), word.lower())
    if name in ("max", "min"):
        return _usage(_EXTREME[0].replace("max", name), "", _EXTREME[1].replace("max", name))
    if (row := VERBS.get(name) or WORDS.get(name)) is not None:
        return _usage(row.syntax, row.help, row.example)
    try:
        return show_document(canonical_name(word))
    except Problem as problem:
        of_catalogue = _document(show_document, word) or _product(word)
        if of_catalogue is not None:
            return of_catalogue
        advice = (*problem.help, "?  shows what there is")
        raise fault("name", f"no help on '{shortened(word)}'", span, *advice) from None


def _usage(syntax: str, help_: str, example: str) -> Document:
    rows = [("", help_), ("example", example)] if help_ else [("example", example)]
    return (Heading(syntax), Fields(tuple(rows)))


def _document(make: Callable[[str], Document], word: str) -> Document | None:
    try:
        return make(word)
    except Problem:
        return None


def _product(word: str) -> Document | None:
    """A model or a GPU by its name, as the lists of them have it."""
    from derive.listing import gpus_document, models_document
    from formulas.hardware import find_gpu
    from formulas.models import find_model

    if "/" in word or word.endswith(".json"):
        return None
    finders = ((find_model, models_document), (find_gpu, gpus_document))
    for find, listing in finders:
        try:
            return listing(find(word).name)
        except Problem:
            continue
    return None
