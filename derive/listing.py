"""`derive list`, `derive models`, `derive gpus`: what there is, whole or searched by words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from derive.document import Block, Document, Fields, Heading
from derive.products import gpus_data, gpus_document, models_data, models_document
from derive.search import Words, needles, nothing_found

if TYPE_CHECKING:
    from formulas.formula import Relation

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
# The sheet's order inside its sections, where the modules keep array entries apart; an entry that is not named
# here follows those that are.
ORDER = (
    "attention decoder_layer flops_per_token softmax_temperature rope_frequency "
    "locked_batch_utilization paged_block_lookup prefix_block_hash chunked_prefill kv_offload "
    "speculative_acceptance speculative_expected_tokens speculative_speedup integer_quantization "
    "constrained_decoding lora_forward lora_size tpot e2e_latency goodput littles_law"
).split()


def list_data(words: Words = "") -> list[dict[str, Any]]:
    """The formulas in the sheet's order, as values for JSON.

    With words, the formulas, definitions and quantities that have every one of them.
    """
    wanted = needles(words)
    if not wanted:
        return [data for data, _ in _formulas()]
    rows = (*_formulas(), *_definitions(), *_quantities())
    return [data for data, text in rows if wanted.all_in(text)]


def list_document(words: Words = "") -> Document:
    """The same by section, one line each; a Problem where nothing has the words."""
    rows = list_data(words)
    if not rows:
        raise nothing_found("formula or variable", words, _names())
    blocks: list[Block] = []
    for title, members in groupby(rows, key=_title):
        blocks += [Heading(title), Fields(tuple((row["id"], _line(row)) for row in members))]
    return tuple(blocks)


def _title(row: dict[str, Any]) -> str:
    return "Quantities" if row["kind"] == "quantity" else SECTIONS[row["section"]]


def _line(row: dict[str, Any]) -> str:
    if row["kind"] != "quantity":
        return str(row["letters"])
    unit = row["tag"] or row["unit"]
    return f"{row['meaning']} ({unit})" if unit != "1" else str(row["meaning"])


def _names() -> list[str]:
    from formulas.catalogue import catalogue
    from formulas.quantities import ALIASES

    return [*catalogue().formulas, *catalogue().quantities, *ALIASES]


# -- one object for each, with the text in which words are looked for

Row = tuple[dict[str, Any], str]


def _formulas() -> Iterator[Row]:
    from formulas.catalogue import catalogue

    sections = list(SECTIONS)
    places = {identity: place for place, identity in enumerate(ORDER)}
    entries = catalogue().formulas
    # The sort is stable: within a section the modules' order stands where ORDER says nothing.
    ordered = sorted(
        entries,
        key=lambda e: (sections.index(entries[e][0].section), places.get(e, len(places))),
    )
    for identity in ordered:
        yield _entry(identity, "formula", entries[identity])


def _definitions() -> Iterator[Row]:
    from formulas.catalogue import catalogue

    for key, row in catalogue().relations.items():
        if row.section == "deployment":
            yield _entry(key, "definition", (row,))


def _entry(identity: str, kind: str, relations: tuple[Relation, ...]) -> Row:
    from derive.as_latex import relation_latex
    from derive.as_plain import relation_plain
    from derive.quantity_page import unit_of
    from formulas.formula import VOCABULARY

    given = [row.gives for row in relations]
    taken = dict.fromkeys(name for row in relations for name in row.inputs if name not in given)
    data = {
        "id": identity,
        "kind": kind,
        "section": relations[0].section,
        "chapter": relations[0].chapter,
        "statement": _joined(relation_plain(row, letters=False) for row in relations),
        "letters": _joined(relation_plain(row, letters=True) for row in relations),
        "latex": r", \qquad ".join(relation_latex(row) for row in relations),
        "relation": relations[0].relation,
        "inputs": {VOCABULARY[n].short_name: unit_of(VOCABULARY[n]) for n in taken},
        "outputs": {VOCABULARY[n].short_name: unit_of(VOCABULARY[n]) for n in given},
        "holds_when": _joined(row.holds_when for row in relations),
    }
    said = [row.meaning for row in relations] + [_said_of(name) for name in (*given, *taken)]
    return data, " ".join([identity, data["section"], data["holds_when"], *said])


def _joined(texts: Iterable[str]) -> str:
    """The texts that say something, each once."""
    return "; ".join(dict.fromkeys(text for text in texts if text))


def _quantities() -> Iterator[Row]:
    from derive.letters import unicode_letter
    from derive.quantity_page import domain_of, unit_of
    from formulas.catalogue import catalogue

    for name, quantity in catalogue().quantities.items():
        data = {
            "id": name,
            "kind": "quantity",
            "subject": quantity.subject,
            "meaning": quantity.meaning,
            "unit": unit_of(quantity),
            "tag": quantity.label,
            "letter": unicode_letter(quantity.letter),
            "latex": quantity.letter,
            "domain": domain_of(quantity),
            "aliases": _aliases(name),
        }
        yield data, _said_of(name)


def _said_of(name: str) -> str:
    """What a quantity is called and measured in, and what it means."""
    from formulas.formula import VOCABULARY

    quantity = VOCABULARY[name]
    return " ".join([name, *_aliases(name), quantity.meaning, str(quantity.unit), quantity.label])


def _aliases(name: str) -> list[str]:
    from formulas.quantities import ALIASES

    return [alias for alias, meant in ALIASES.items() if meant == name]
