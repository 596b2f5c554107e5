"""The letters of one document: as on the sheet, and no letter for two quantities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from derive.letters import unicode_letter
from formulas.arrays import DIMENSION_LETTERS
from formulas.formula import VOCABULARY, Relation


def document_letters(
    relations: Iterable[Relation], names: Iterable[str]
) -> tuple[dict[str, str], dict[str, tuple[str, str]]]:
    """A letter for every quantity of the relations and every other name.

    The first relation that writes a quantity decides, unless its letter is taken; then the
    vocabulary does, then the name itself. Beside it, by quantity, the letter of a relation that is
    not printed, and the id of the relation.
    """
    wanted: dict[str, list[tuple[str, str]]] = {}
    taken: set[str] = set()
    for relation in relations:
        taken |= _other_marks(relation)
        for name in dict.fromkeys((relation.gives, *relation.inputs, *relation.cancels)):
            letters = wanted.setdefault(name, [])
            if name in relation.letters:
                letters.append((relation.letters[name], relation.key))
    for name in names:
        wanted.setdefault(name, [])
    letters_found: dict[str, str] = {}
    replaced: dict[str, tuple[str, str]] = {}
    for name, candidates in wanted.items():
        tries = [*(letter for letter, _ in candidates), VOCABULARY[name].letter, _words(name)]
        letter = next(t for t in tries if _seen(t) not in taken)
        taken.add(_seen(letter))
        letters_found[name] = letter
        other = next((row for row in candidates if row[0] != letter), None)
        if other is not None:
            replaced[name] = other
    return letters_found, replaced


def _seen(letter: str) -> str:
    """What a reader sees: two spellings of one mark are one."""
    return unicode_letter(letter)


def _words(name: str) -> str:
    return rf"\text{{{name.replace('_', ' ').replace('.', ' ')}}}"


def _other_marks(relation: Relation) -> set[str]:
    """The dimensions and running indices of an array's relation."""
    symbols: set[Any] = set()
    if relation.is_array:
        symbols = getattr(relation.expr, "free_symbols", symbols)
    names = {getattr(symbol, "name", "") for symbol in symbols} - VOCABULARY.keys()
    return {_seen(DIMENSION_LETTERS.get(name, name)) for name in names if name}
