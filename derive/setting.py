"""What a derivation speaks of: the relations behind an answer, the values there, the letters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from derive.document_letters import document_letters
from derive.layout import lay_out, relation_sides
from derive.printed import Printed, printed
from derive.shapes import Shape
from derive.tree import sources
from formulas.catalogue import catalogue
from formulas.formula import VOCABULARY, Relation
from formulas.quantity import Quantity
from formulas.scenario import Scenario
from solvers.answer import Evidence, Step

# The default of TP is the largest that fits, which is no formula.
_NO_FORMULA = frozenset(("tp",))


@dataclass(frozen=True, slots=True)
class Link:
    """A relation that gives a quantity here; `solved_from` where it was solved backwards."""

    name: str
    relation: Relation
    solved_from: str = ""


@dataclass(frozen=True)
class Setting:
    """`links` in the order in which they compute, by what they give; `letters` of the document."""

    find: str
    quantity: Quantity
    values: Mapping[str, Any]
    links: Mapping[str, Link]
    scenario: Scenario
    letters: Mapping[str, str]
    replaced: Mapping[str, tuple[str, str]]
    last: Step | None = None
    evidence: Evidence = field(default_factory=Evidence)

    def letter(self, name: str) -> str:
        """The letter of the quantity in this document."""
        return self.letters.get(name, r"\text{" + name.replace("_", " ") + "}")

    def printed(self, name: str, value: Any = None, digits: int = 4) -> Printed:
        """The value of the quantity, or another one of it, as this document prints it."""
        quantity = self.quantity if name == self.find else VOCABULARY[name]
        return printed(quantity, self.values.get(name) if value is None else value, digits)

    def depends(self, name: str) -> bool:
        """Whether the quantity is computed from what is asked."""
        return name in self.moving

    @property
    def moving(self) -> frozenset[str]:
        """What is asked, and all that is computed from it."""
        found = {self.find}
        for name, link in self.links.items():
            if any(n in found for n in (*link.relation.inputs, link.solved_from)):
                found.add(name)
        return frozenset(found)

    def facts(self) -> tuple[str, ...]:
        """What goes into the relations and is computed by none of them."""
        names: dict[str, None] = {}
        for link in self.links.values():
            names |= dict.fromkeys(n for n in inputs_of(link, self.values) if n not in self.links)
        names |= {row.quantity: None for row in self.scenario.limits if row.quantity in VOCABULARY}
        if self.last is not None and self.last.because in self.scenario.given:
            names[self.last.because] = None
        return tuple(n for n in names if n != self.find and n in self.values)

    def origin(self, name: str) -> str:
        """Who said the value: you, a row of the tables, or nobody."""
        given = self.scenario.given.get(name)
        return "assumed" if given is None else given.origin


def setting_of(
    find: str,
    quantity: Quantity,
    evidence: Evidence,
    scenario: Scenario,
    values: Mapping[str, Any],
    speaks_of: Iterable[str] = (),
) -> Setting:
    """The setting of an answer at the point where what is asked has the given value."""
    known = sources(evidence, scenario, values)
    last = next((s for s in evidence.steps if s.solved_for == find and s.because), None)
    links: dict[str, Link] = {}
    for step in evidence.steps:
        if step is last:
            continue
        for name in step.inputs:
            _add_default(links, name, known.values, scenario, find)
        relation = _relation(step.relation)
        if relation is not None:
            links[step.solved_for] = Link(step.solved_for, relation, step.because)
    given = {name: row.value for name, row in scenario.given.items()}
    every = {**given, **known.values}
    limited = [row.quantity for row in scenario.limits]
    names = [n for link in links.values() for n in (link.name, *link.relation.inputs)]
    wanted = dict.fromkeys((find, *names, *limited, *evidence.assumed, *speaks_of))
    letters, replaced = document_letters(
        [link.relation for link in links.values()], [n for n in wanted if n in VOCABULARY]
    )
    return Setting(find, quantity, every, links, scenario, letters, replaced, last, evidence)


def _relation(key: str) -> Relation | None:
    known = catalogue()
    return known.relations.get(key) or known.defaults.get(key.removeprefix("assumed."))


def _add_default(
    links: dict[str, Link], name: str, values: Mapping[str, Any], scenario: Scenario, find: str
) -> None:
    """What is taken to equal another quantity is a relation too."""
    default = catalogue().defaults.get(name)
    if default is None or name in links or name in _NO_FORMULA or name == find:
        return
    if default.inputs and name in values and name not in scenario.given:
        links[name] = Link(name, default)


def inputs_of(link: Link, values: Mapping[str, Any]) -> tuple[str, ...]:
    """The quantities that the relation needed here, without those of cases that do not hold."""
    names = (*link.relation.inputs, *((link.solved_from,) if link.solved_from else ()))
    return tuple(n for n in dict.fromkeys(names) if n in values and n != link.name)


def right_side(link: Link, values: Mapping[str, Any]) -> Shape | None:
    """The formula that gives the quantity: as written, or solved for it; None where none is
    written out.
    """
    if not link.solved_from:
        return relation_sides(link.relation)[1]
    from derive.isolation import root_of

    found = root_of(link.relation, link.name, values)
    return None if found is None else lay_out(found)
