"""What is known of one quantity, for `derive show`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from derive.as_plain import plain, relation_plain
from derive.document import Block, Fields, Heading
from derive.letters import unicode_letter
from formulas.amounts import display
from formulas.catalogue import catalogue
from formulas.graph import graph
from formulas.quantities import ALIASES
from formulas.quantity import OPAQUE, Quantity

_DOMAINS = {"bool": "yes or no", "hash": "any value", "tuple": "any values"}


def quantity_blocks(quantity: Quantity) -> list[Block]:
    """The quantity with its relations: those that give it, those that use it, what they lead to."""
    data = quantity_data(quantity)
    tag = f", printed in {quantity.label}" if quantity.label else ""
    default = data["default"]
    given_by = [f"{row['id']}: {row['statement']}{_reason(row)}" for row in data["given_by"]]
    rows = {
        "meaning": [quantity.meaning],
        "unit": [f"{data['unit']}{tag}"],
        "letter": [data["letter"]],
        "domain": [data["domain"]],
        "aliases": [", ".join(data["aliases"])],
        "default": [f"{default['text']}: {default['why']}"] if default else [],
        "given by": given_by or ["nothing: it is stated, or solved for"],
        "used in": [", ".join(data["used_in"])],
        "leads to": [", ".join(data["leads_to"])],
    }
    fields = [
        (label if place == 0 else "", text)
        for label, texts in rows.items()
        for place, text in enumerate(text for text in texts if text)
    ]
    return [Heading(f"{quantity.name}    quantity"), Fields(tuple(fields))]


def _reason(row: dict[str, Any]) -> str:
    return f" ({row['answers']})" if row["answers"] else ""


def quantity_data(quantity: Quantity) -> dict[str, Any]:
    """What is known of a quantity, as values for JSON; `given_by` has the highest in rank first."""
    around = graph().direct(quantity.name)
    return {
        "id": quantity.name,
        **facts_of(quantity),
        "default": _default_data(quantity),
        "given_by": [
            {
                "id": variant.relation,
                "rank": variant.rank,
                "statement": relation_plain(catalogue().relations[variant.relation], letters=False),
                "answers": variant.reason,
            }
            for variant in graph().variants(quantity.name)
        ],
        "used_in": list(around.used_in),
        "leads_to": sorted(graph().used_by(quantity.name).quantities),
    }


def facts_of(quantity: Quantity) -> dict[str, Any]:
    """What its row of the vocabulary says, as values for JSON."""
    return {
        "meaning": quantity.meaning,
        "unit": unit_of(quantity),
        "tag": quantity.label,
        "letter": unicode_letter(quantity.letter),
        "latex": quantity.letter,
        "domain": domain_of(quantity),
        "subject": quantity.subject,
        "aliases": [alias for alias, name in ALIASES.items() if name == quantity.name],
    }


def unit_of(quantity: Quantity) -> str:
    """The unit as the contract writes it; an array has its dimensions in brackets before it."""
    unit = str(quantity.unit)
    if not quantity.shape:
        return unit
    shape = f"[{', '.join(quantity.shape)}]"
    return shape if unit == "1" else f"{shape} {unit}"


def domain_of(quantity: Quantity) -> str:
    """Where the quantity may lie, in words."""
    unit = str(quantity.unit)
    return _DOMAINS[unit] if unit in OPAQUE else str(quantity.domain)


def _default_data(quantity: Quantity) -> dict[str, Any] | None:
    """What is assumed where nobody states it: a number in the quantity's own unit, or a formula."""
    row = catalogue().defaults.get(quantity.name)
    if row is None:
        return None
    if row.inputs:
        return {"text": plain(row.expr), "why": row.meaning}
    value = Fraction(int(row.expr.p), int(row.expr.q))
    return {
        "text": display(value, quantity.unit, quantity.label),
        "value": float(value),
        "why": row.meaning,
    }
