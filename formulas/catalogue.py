"""The catalogue: every quantity, relation, constraint and default, assembled once; look up and
suggest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import import_module
from types import MappingProxyType

from formulas.errors import CatalogueError, Problem, nearest
from formulas.formula import VOCABULARY, Condition, Relation
from formulas.quantities import ALIASES
from formulas.quantity import Quantity

SHEET = (
    "model",
    "memory",
    "speed",
    "engine",
    "faster",
    "scaling",
    "production",
    "kubernetes",
    "beyond",
)
DEPLOYMENT = (
    "memory",
    "step",
    "service",
    "layout",
    "request",
    "budget",
    "attention",
    "calibrated",
    "burst",
)
# The start of the key of what is assumed.
ASSUMED = "assumed."


@dataclass(frozen=True)
class Catalogue:
    """Quantities by name and relations by key, read-only; equal equations are linked."""

    quantities: Mapping[str, Quantity]
    relations: Mapping[str, Relation]
    constraints: tuple[Condition, ...]
    defaults: Mapping[str, Relation]

    def equation(self, key: str) -> Relation:
        """The relation with this key, or what is assumed under it."""
        found = self.relations.get(key)
        return self.defaults[key.removeprefix(ASSUMED)] if found is None else found

    @cached_property
    def by_output(self) -> Mapping[str, tuple[Relation, ...]]:
        """The relations that give each quantity, the highest in rank first."""
        found: dict[str, list[Relation]] = {}
        for relation in self.relations.values():
            found.setdefault(relation.gives, []).append(relation)
        return {name: tuple(sorted(rows, key=lambda r: -r.rank)) for name, rows in found.items()}

    @cached_property
    def gates(self) -> frozenset[str]:
        """The quantities that decide by being spoken of which relations take part."""
        rows = self.relations.values()
        return frozenset(n for r in rows for n in (*r.only_with, *r.any_with, *r.unless))

    @cached_property
    def by_input(self) -> Mapping[str, tuple[Relation, ...]]:
        """The relations that use each quantity."""
        found: dict[str, list[Relation]] = {}
        for relation in self.relations.values():
            for name in relation.inputs:
                found.setdefault(name, []).append(relation)
        return {name: tuple(rows) for name, rows in found.items()}

    @cached_property
    def formulas(self) -> Mapping[str, tuple[Relation, ...]]:
        """The relations of each entry of the sheet, by its id, in order."""
        found: dict[str, list[Relation]] = {}
        for relation in self.relations.values():
            if relation.section != "deployment":
                found.setdefault(relation.id, []).append(relation)
        return {identity: tuple(rows) for identity, rows in found.items()}

    @cached_property
    def _results(self) -> Mapping[str, tuple[str, ...]]:
        return {name: tuple(r.gives for r in rows) for name, rows in self.by_input.items()}

    @cached_property
    def _sources(self) -> Mapping[str, tuple[str, ...]]:
        return {
            name: tuple(n for r in rows for n in r.inputs) for name, rows in self.by_output.items()
        }

    @cached_property
    def _downstream(self) -> dict[str, frozenset[str]]:
        return {}

    @cached_property
    def _upstream(self) -> dict[str, frozenset[str]]:
        return {}

    def downstream(self, name: str) -> frozenset[str]:
        """Every quantity that some chain of relations computes from this one."""
        if name not in self._downstream:
            self._downstream[name] = _reachable(name, self._results)
        return self._downstream[name]

    def upstream(self, name: str) -> frozenset[str]:
        """Every quantity that some chain of relations computes this one from."""
        if name not in self._upstream:
            self._upstream[name] = _reachable(name, self._sources)
        return self._upstream[name]

    def named(self, word: str) -> tuple[Relation, ...]:
        """The relations that a formula id, FORMULA.OUTPUT or deployment.NAME names."""
        if word in self.formulas:
            return self.formulas[word]
        if word in self.relations:
            return (self.relations[word],)
        output = [
            r for r in self.relations.values() if f"{r.id}.{r.gives.rpartition('.')[2]}" == word
        ]
        if output:
            return tuple(output)
        close = nearest(word, [*self.formulas, *self.relations])
        hint = (f"did you mean '{close}'?",) if close else ("derive list shows every formula",)
        raise Problem("name", f"no formula '{word}'", hint, word)

    def quantity(self, word: str, owner: str = "") -> Quantity:
        """The quantity of that name or alias; arrays are read where their formula is the owner."""
        for name in (f"{owner}.{word}", word, ALIASES.get(word, "")):
            if name in self.quantities:
                return self.quantities[name]
        close = nearest(word, [*self.quantities, *ALIASES])
        hint = f"did you mean '{close}'? " if close else ""
        raise Problem("name", f"no variable '{word}'", (f"{hint}search: derive list {word}",), word)


def _reachable(name: str, neighbours: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    found: set[str] = set()
    todo = [name]
    while todo:
        new = [n for n in neighbours.get(todo.pop(), ()) if n not in found]
        found.update(new)
        todo += new
    return frozenset(found)


def assemble(relations: Iterable[Relation]) -> dict[str, Relation]:
    """The relations by key; a second one with the same id and output is refused."""
    rows = list(relations)
    parts = Counter(row.id for row in rows if not row.variant)
    table: dict[str, Relation] = {}
    for row in rows:
        output = row.gives.rpartition(".")[2]
        plain = row.id if parts[row.id] <= 1 else f"{row.id}.{output}"
        key = f"{row.id}.{row.variant}" if row.variant else plain
        if key in table:
            raise CatalogueError(
                f"{key}: declared twice for {row.gives}; "
                "give the second one an id or a variant= of its own"
            )
        table[key] = replace(row, key=key)
    return table


def _declared(module: str) -> list[Relation]:
    return [
        value
        for value in vars(import_module(module)).values()
        if isinstance(value, Relation) and value.body.__module__ == module
    ]


@cache
def catalogue() -> Catalogue:
    """The catalogue of the sheet and of the deployment model."""
    from formulas.deployment.constraints import CONSTRAINTS
    from formulas.deployment.defaults import DEFAULTS

    modules = [f"formulas.sheet.{name}" for name in SHEET]
    modules += [f"formulas.deployment.{name}" for name in DEPLOYMENT]
    rows = [row for module in modules for row in _declared(module)]
    return Catalogue(
        MappingProxyType({name: q for name, q in VOCABULARY.items() if q.value is None}),
        MappingProxyType(assemble(rows)),
        CONSTRAINTS,
        MappingProxyType({row.gives: replace(row, key=row.id) for row in DEFAULTS}),
    )
