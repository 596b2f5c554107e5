"""`derive list`, `derive models`, `derive gpus`: what there is, whole or searched by words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from derive.document import Block, Document, Fields, Heading
from derive.products import gpus_data, gpus_document, models_data, models_document
from derive.search import Words, needles, nothing_found

if TYPE_CHECKING:
    from formulas.formula import Relation
    from formulas.quantity import Quantity

__all__ = [
    "gpus_data",
    "gpus_document",
    "list_data",
    "list_document",
    "models_data",
    "models_document",
]

SECTIONS = {
    "model": "The model",
    "memory": "Memory: weights and KV cache",
    "speed": "Speed: bandwidth, FLOPs and the roofline",
    "engine": "The engine: batching, paging, caching, scheduling",
    "faster": "Faster and cheaper",
    "scaling": "Scaling out",
    "production": "Production: latency, capacity, cost",
    "kubernetes": "Kubernetes",
    "beyond": "Beyond chat",
    "deployment": "Definitions of the deployment model",
}


def list_data(words: Words = "") -> list[dict[str, Any]]:
    """The formulas in the sheet's order, as values for JSON.

    With words, the formulas, definitions and quantities that have every one of them.
    """
    wanted = needles(words)
    if not wanted:
        return [row.data() for row in _formulas()]
    rows = (*_formulas(), *_definitions(), *_quantities())
    return [row.data() for row in rows if wanted.all_in(row.text)]


def list_document(words: Words = "") -> Document:
    """The same by section, one line each; a Problem where nothing has the words."""
    rows = list_data(words)
    if not rows:
        raise nothing_found("formula or variable", words, _names())
    blocks: list[Block] = []
    for title, members in groupby(rows, key=_title):
        lines = [line for row in members for line in _lines(row)]
        blocks += [Heading(title), Fields(tuple(lines))]
    return tuple(blocks)


def _title(row: dict[str, Any]) -> str:
    return "Quantities" if row["kind"] == "quantity" else SECTIONS[row["section"]]


def _lines(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """One line for each relation of an entry, the first one behind its id."""
    if row["kind"] == "quantity":
        unit = row["tag"] or row["unit"]
        yield row["id"], row["meaning"] + (f" ({unit})" if unit != "1" else "")
        return
    for place, relation in enumerate(row["relations"]):
        yield "" if place else row["id"], relation["letters"]


def _names() -> list[str]:
    from formulas.catalogue import catalogue
    from formulas.quantities import ALIASES

    return [*catalogue().formulas, *catalogue().quantities, *ALIASES]


# -- what there is: the text in which words are looked for, and the object, made when it is wanted


@dataclass(frozen=True, slots=True)
class _Row:
    text: str
    data: Callable[[], dict[str, Any]]


def _formulas() -> Iterator[_Row]:
    from formulas.catalogue import catalogue

    for identity, relations in catalogue().formulas.items():
        yield _row(identity, "formula", relations)


def _definitions() -> Iterator[_Row]:
    from formulas.catalogue import catalogue

    for key, row in catalogue().relations.items():
        if row.section == "deployment":
            yield _row(key, "definition", (row,))


def _row(identity: str, kind: str, relations: tuple[Relation, ...]) -> _Row:
    said = [text for row in relations for text in (row.section, row.holds_when, row.meaning)]
    names = dict.fromkeys(name for row in relations for name in (row.gives, *row.inputs))
    text = " ".join([identity, *said, *(_said_of(name) for name in names)])
    return _Row(text, lambda: _entry_data(identity, kind, relations))


def _entry_data(identity: str, kind: str, relations: tuple[Relation, ...]) -> dict[str, Any]:
    from derive.as_latex import relation_latex
    from derive.as_plain import relation_plain
    from derive.quantity_page import unit_of
    from formulas.formula import VOCABULARY

    given = [row.gives for row in relations]
    taken = dict.fromkeys(name for row in relations for name in row.inputs if name not in given)
    return {
        "id": identity,
        "kind": kind,
        "section": relations[0].section,
        "chapter": relations[0].chapter,
        "statement": _joined(relation_plain(row, letters=False) for row in relations),
        "latex": r", \qquad ".join(relation_latex(row) for row in relations),
        "relation": relations[0].relation,
        "inputs": {VOCABULARY[n].short_name: unit_of(VOCABULARY[n]) for n in taken},
        "outputs": {VOCABULARY[n].short_name: unit_of(VOCABULARY[n]) for n in given},
        "holds_when": _joined(row.holds_when for row in relations),
        "relations": [
            {"id": row.key, "gives": row.gives, "letters": relation_plain(row, letters=True)}
            for row in relations
        ],
    }


def _joined(texts: Iterable[str]) -> str:
    """The texts that say something, each once."""
    return "; ".join(dict.fromkeys(text for text in texts if text))


def _quantities() -> Iterator[_Row]:
    from formulas.catalogue import catalogue

    for name, quantity in catalogue().quantities.items():
        yield _Row(_said_of(name), partial(_quantity_data, quantity))


def _quantity_data(quantity: Quantity) -> dict[str, Any]:
    from derive.quantity_page import facts_of

    facts = facts_of(quantity)
    return {"id": quantity.name, "kind": "quantity", **facts}


def _said_of(name: str) -> str:
    """What a quantity is called and measured in, and what it means."""
    from formulas.formula import VOCABULARY
    from formulas.quantities import ALIASES

    quantity = VOCABULARY[name]
    aliases = (alias for alias, meant in ALIASES.items() if meant == name)
    unit = (str(quantity.unit), quantity.label)
    return " ".join([name, *aliases, quantity.meaning, *unit])
