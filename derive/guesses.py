"""What a word that is no name of a quantity was most likely meant to be."""

from __future__ import annotations

import re
from collections.abc import Callable

from derive.complain import Span
from derive.names import quantity_named
from formulas.amounts import shortened
from formulas.errors import Problem, nearest

_PRODUCT = re.compile(r"[\w.-]{3,60}")


def no_variable(word: str, span: Span) -> Problem:
    """The problem of a word that names no quantity."""
    try:
        quantity_named(word)
    except Problem as problem:
        problem.span = span
        return problem
    return Problem("name", f"no variable '{word}'", span=span)


def as_word_of_a_line(problem: Problem, word: str, first: bool) -> Problem:
    """The same problem, with a word of the grammar where that is closer than any quantity.

    Only the `first` word of a line may be a verb.
    """
    from derive.commands import VERBS
    from derive.named_items import NAMED_ITEMS
    from derive.reading import EXTREMES

    words = [*NAMED_ITEMS, *((*VERBS, *EXTREMES) if first else ())]
    close = nearest(word, [*words, *problem.candidates])
    if close in words:
        problem.help = (f"did you mean '{close}'? (search: formulas {shortened(word)})",)
        problem.candidates = (close,)
    return problem


def as_name_of_a_product(problem: Problem, text: str) -> Problem:
    """The same problem, with the way to state a model or a GPU where the text begins with one."""
    match = _PRODUCT.match(text)
    if problem.candidates or match is None or match.group().endswith(".json"):
        return problem
    for choice, find in _PRODUCTS.items():
        name = _meant(find, match.group().rstrip(".-"))
        if name:
            problem.help = (f"a {_CALLED[choice]} is stated:  {choice} {name}", *problem.help)
            return problem
    return problem


def _meant(find: Callable[[str], object], word: str) -> str:
    """The word where it names a product, else the product whose name is close; or nothing."""
    try:
        find(word)
    except Problem as problem:
        return problem.candidates[0] if problem.candidates else ""
    return word


def _model(word: str) -> object:
    from formulas.models import find_model

    return find_model(word)


def _gpu(word: str) -> object:
    from formulas.hardware import find_gpu

    return find_gpu(word)


_PRODUCTS: dict[str, Callable[[str], object]] = {"model": _model, "gpu": _gpu}
_CALLED = {"model": "model", "gpu": "GPU"}
