"""The sheet as a document: formulas and numbers by section, examples, inversions, uses."""

from __future__ import annotations

from collections.abc import Iterator

from derive.as_latex import relation_latex
from derive.derivation_parts import reference
from derive.inverse_lines import branch_line
from derive.paper import (
    Block,
    Display,
    Grid,
    Inline,
    Link,
    Math,
    Note,
    Paper,
    Paragraph,
    Section,
    Title,
    Typed,
    cells,
    joined,
)
from derive.quantity_page import domain_of, unit_of
from derive.sheet_examples import example_blocks
from formulas.catalogue import SHEET, catalogue
from formulas.formula import VOCABULARY, Relation
from formulas.numbers import ReferenceNumber, numbers
from solvers.inversions import inversions

TITLE = "Token by Token: the sheet"
_NAMES = {
    "model": "The model",
    "memory": "Memory: weights and KV cache",
    "speed": "Speed: bandwidth, FLOPs and the roofline",
    "engine": "The engine: batching, paging, caching, scheduling",
    "faster": "Faster and cheaper",
    "scaling": "Scaling out: links, collectives, TP, PP and EP",
    "production": "Production: latency, goodput, capacity, cost",
    "kubernetes": "Running on Kubernetes",
    "beyond": "Beyond chat: reasoning, agents, images, embeddings",
}


def sheet_paper() -> Paper:
    """Every formula and every number of the sheet, by section, as one document."""
    known = catalogue()
    count = f"{len(known.formulas)} formulas, {len(numbers())} numbers."
    blocks: list[Block] = [Title(TITLE), Paragraph((count,))]
    for section in SHEET:
        blocks.append(Section(_NAMES[section], 1, f"section-{section}"))
        for identity in formulas_of(section):
            blocks += formula_part(identity)
        blocks += number_part(section)
    return tuple(blocks)


def section_name(section: str) -> str:
    """The section's name for people."""
    return _NAMES[section]


def formulas_of(section: str) -> list[str]:
    """The ids of the formulas of a section, in the order of the sheet."""
    return [key for key, rows in catalogue().formulas.items() if rows[0].section == section]


def numbers_of(section: str) -> list[ReferenceNumber]:
    """The numbers of a section."""
    return [number for number in numbers().values() if number.section == section]


def formula_part(identity: str) -> list[Block]:
    """One formula with all that is known of it."""
    rows = catalogue().formulas[identity]
    blocks: list[Block] = [Section(identity, 2, f"formula-{identity}")]
    for relation in rows:
        blocks.append(Display(relation_latex(relation), relation.key if len(rows) > 1 else ""))
        blocks.append(Note((reference(relation),)))
    blocks.append(_quantities(rows))
    for relation in rows:
        blocks += example_blocks(relation)
    blocks += _inverses(rows)
    sources = list(_sources(identity, rows))
    if sources:
        blocks.append(Paragraph(("What goes in is given by ", *joined(sources), ".")))
    uses = list(_uses(identity, rows))
    if uses:
        blocks.append(Paragraph(("Used by ", *joined(uses), ".")))
    return blocks


def _quantities(rows: tuple[Relation, ...]) -> Grid:
    """The quantities by letter; a letter that differs between two lines has a row for each."""
    found: dict[tuple[str, str], tuple[Inline, ...]] = {}
    for relation in rows:
        for name in (relation.gives, *relation.inputs, *relation.cancels):
            quantity = VOCABULARY[name]
            letter = relation.letters.get(name, quantity.letter)
            unit = quantity.label or unit_of(quantity)
            domain, meaning = domain_of(quantity), quantity.meaning
            found[name, letter] = (
                Math(letter), Typed(quantity.short_name), unit, domain, meaning,
            )  # fmt: skip
    columns = ("letter", "name", "unit", "domain", "meaning")
    return Grid(columns, tuple(cells(*row) for row in found.values()))


def _inverses(rows: tuple[Relation, ...]) -> list[Block]:
    blocks: list[Block] = []
    refused: dict[str, list[str]] = {}
    for relation in rows:
        for found in inversions(relation):
            for branch in found.branches:
                line = branch_line(relation, found.quantity, branch)
                blocks.append(Display(line.latex))
            if found.refused:
                name = VOCABULARY[found.quantity].short_name
                refused.setdefault(found.refused, []).append(name)
    head: list[Block] = [Paragraph(("Solved for each of its quantities:",))] if blocks else []
    notes: list[Block] = [
        Note((f"Not solved for {', '.join(dict.fromkeys(names))}: {reason}.",))
        for reason, names in refused.items()
    ]
    return [*head, *blocks, *notes]


def _uses(identity: str, rows: tuple[Relation, ...]) -> Iterator[Inline]:
    """The formulas of the sheet that use what this one gives, as links; definitions by name."""
    known = catalogue()
    seen: set[str] = set()
    for relation in rows:
        for user in known.by_input.get(relation.gives, ()):
            if user.id == identity or user.id in seen:
                continue
            seen.add(user.id)
            if user.id in known.formulas:
                yield Link(user.id, f"formula-{user.id}")
            else:
                yield Typed(user.id)


def _sources(identity: str, rows: tuple[Relation, ...]) -> Iterator[Inline]:
    """The formulas of the sheet that give what this one needs."""
    known = catalogue()
    givers = (g.id for r in rows for n in r.inputs for g in known.by_output.get(n, ()))
    for key in dict.fromkeys(givers):
        if key != identity and key in known.formulas:
            yield Link(key, f"formula-{key}")


def number_part(section: str) -> list[Block]:
    """The numbers of a section: value, what it is recomputed to, where it is from."""
    from derive.numbers_list import table_rows

    found = numbers_of(section)
    if not found:
        return []
    lines: list[tuple[str, ...]] = []
    for number in found:
        lines += table_rows(number)
    grid = Grid(("number", "value", "recomputed", "check"), tuple(cells(*row) for row in lines))
    about = tuple(cells(number.id, number.about, _chapter(number)) for number in found)
    name = f"Numbers of {_NAMES[section].partition(':')[0].lower()}"
    return [
        Section(name, 2, f"numbers-{section}"),
        grid,
        Grid(("number", "what it says", "chapter"), about),
    ]


def _chapter(number: ReferenceNumber) -> str:
    return str(number.chapter or "")
