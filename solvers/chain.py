"""Which relations, in which order: the value of any quantity from what is known.

Known is what is stated, then what follows from it forwards or backwards, then what is assumed. With
an unknown, every value is a function of it: evaluation goes forwards until the unknown and stops
there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from formulas.catalogue import Catalogue
from formulas.deployment.constraints import OPTIONAL, SUPERSEDED
from formulas.deployment.defaults import NEVER_INFERRED, STRUCTURAL
from formulas.formula import Condition, Relation
from formulas.scenario import Scenario
from solvers.exact import evaluate, without_removable_point
from solvers.found import Found, Lacking
from solvers.number import Undefined, is_number

# How a default is had: the chain, and the name of what is to be assumed.
Assume = Callable[["Chain", str], Found | None]


@dataclass
class Chain:
    """The values of one scenario; a scratchpad of one question that never leaves it.

    A changed copy, by `replace`, starts with nothing computed.

    `allowed` are the quantities whose defaults may be assumed, `using` restricts the relations,
    `prefer` has the only relation of a quantity. `asked` and `speaks_of` are what the question is
    about (they count as mentioned), `solving` are the quantities being solved for further up,
    `solved` those that were found together with others. `forwards` keeps to relations.
    """

    catalogue: Catalogue
    scenario: Scenario
    unknowns: frozenset[str] = frozenset()
    allowed: frozenset[str] = frozenset()
    withdrawn: frozenset[str] = frozenset()
    using: tuple[Relation, ...] = ()
    asked: str = ""
    assume: Assume | None = None
    solving: frozenset[str] = frozenset()
    prefer: Mapping[str, Relation] = field(default_factory=dict)
    solved: Mapping[str, Found] = field(default_factory=dict)
    speaks_of: frozenset[str] = frozenset()
    forwards: bool = False
    memo: dict[str, Found | None] = field(default_factory=dict, init=False)
    troubles: dict[str, str] = field(default_factory=dict, init=False)
    _stack: list[str] = field(default_factory=list, init=False)
    _cycles: set[str] = field(default_factory=set, init=False)

    # -- asking

    def value(self, name: str) -> Found:
        """The quantity's value; Lacking where it cannot be had."""
        if name in self.memo:
            found = self.memo[name]
            if found is None:
                raise Lacking(name)
            return found
        if name in self._stack:
            self._cycles.add(name)
            raise Lacking(name)
        with self._computing(name) as outcome:
            outcome.append(self._find(name))
        if outcome[0] is None:
            raise Lacking(name)
        return outcome[0]

    def holds(self, condition: Condition) -> bool | Any:
        """True, false, or an expression in what is unknown; Lacking where a value lacks."""
        values = {name: self.value(name).value for name in condition.inputs}
        return evaluate(condition.expr, values.__getitem__)

    def function_of(self, name: str, target: str) -> Found:
        """The target as a function of `name`, by relations and not by what is stated for either.

        Other unknowns stay as they are, unless the target is one of them.
        """
        chain = replace(
            self,
            scenario=self.scenario.without(name, target),
            unknowns=(self.unknowns | {name}) - {target},
            solving=self.solving | {name},
        )
        return chain.value(target)

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """The quantities that the question speaks of."""
        return self.scenario.mentioned | self.speaks_of | {self.asked}

    @property
    def constraints(self) -> tuple[Condition, ...]:
        """The standing constraints; none where the question names the relations that answer."""
        if self.using:
            return ()
        absent = OPTIONAL - self.scenario.given.keys()
        rows = tuple(c for c in self.catalogue.constraints if not absent & set(c.inputs))
        spoken = self.scenario.mentioned | {self.asked}
        if "batch" in spoken:
            return rows
        return tuple(c for c in rows if not SUPERSEDED.get(c.name, frozenset()) & spoken)

    def equated(self) -> tuple[str, ...]:
        """The stated quantities that relations give as well, and which are therefore equations."""
        return self._equated

    @cached_property
    def _equated(self) -> tuple[str, ...]:
        stated = self.scenario.given.items()
        return tuple(
            sorted(
                name
                for name, given in stated
                if not given.override and any(map(self.spoken_of, self.relations(name)))
            )
        )

    # -- finding

    @contextmanager
    def _computing(self, name: str) -> Iterator[list[Found | None]]:
        """Keep the outcome unless it hangs on a quantity still being computed further up."""
        outer, self._cycles = self._cycles, set()
        self._stack.append(name)
        outcome: list[Found | None] = []
        try:
            yield outcome
        finally:
            self._stack.pop()
            hits = self._cycles - {name}
            if outcome and not hits & set(self._stack):
                self.memo[name] = outcome[0]
            self._cycles = outer | hits

    def _find(self, name: str) -> Found | None:
        from solvers.inferred import backwards, equal_to

        if name in self.unknowns:
            return Found(name, self.catalogue.quantities[name].symbol)
        given = self.scenario.given.get(name)
        if given is not None:
            return Found(name, given.value, stated=frozenset((name,)))
        if name in self.solved:
            return self.solved[name]
        best = self.by_relation(name)
        if best is not None and not best.guessed:
            return best
        if name in NEVER_INFERRED:
            return self.assume(self, name) if self.assume and name in self.allowed else best
        found = backwards(self, name, assuming=False) or best or equal_to(self, name)
        if found is not None:
            return found
        if name in self.allowed:
            return self.assume(self, name) if self.assume else None
        # A quantity that has a default is never inferred from assumptions about others.
        return None if self._is_guess(name) else backwards(self, name, assuming=True)

    def relations(self, name: str) -> tuple[Relation, ...]:
        """The relations that may give the quantity, the highest in rank first."""
        if self.using:
            rows = tuple(r for r in self.using if r.gives == name and not r.is_array)
            return tuple(r for r in rows if not r.is_bound or r.is_truth)
        if name in self.prefer:
            return (self.prefer[name],)
        return tuple(r for r in self.catalogue.by_output.get(name, ()) if not r.is_array)

    def by_relation(self, name: str) -> Found | None:
        """The value by the highest relation whose inputs can be had, None where there is none."""
        for relation in self.relations(name):
            if not self.takes_part(relation):
                continue
            try:
                found = self.apply(relation)
                # What has a default is not inferred by way of another quantity either.
                if not (found.inferred and self._is_guess(name)):
                    return found
            except Lacking:
                if self._hangs_on_withdrawn(relation):
                    return None
                continue
            except Undefined as trouble:
                # A lower relation must not answer for one that has no value here.
                self.troubles[name] = f"{relation.key}: {trouble}"
                return None
        return None

    def _is_guess(self, name: str) -> bool:
        return name in self.catalogue.defaults and name not in STRUCTURAL

    def _hangs_on_withdrawn(self, relation: Relation) -> bool:
        """A lower relation must not answer for one that only lacks a withdrawn assumption."""
        reach = [self.catalogue.downstream(name) | {name} for name in self.withdrawn]
        return any(name in names for name in relation.inputs for names in reach)

    def takes_part(self, relation: Relation) -> bool:
        """True unless what is stated, or a false `valid`, keeps the relation out."""
        if self.using:
            return True
        if not self.spoken_of(relation):
            return False
        # A bound derives no value unless it is named; the truth of an inequality is a value.
        if relation.is_bound and not relation.is_truth:
            return False
        return not any(self.is_false(condition) for condition in relation.valid)

    def spoken_of(self, relation: Relation) -> bool:
        """True unless what is stated or asked, by its names alone, keeps the relation out."""
        if self.using:
            return True
        mentioned = self.mentioned
        if relation.unless and mentioned & set(relation.unless):
            return False
        if not mentioned >= set(relation.only_with):
            return False
        return not relation.any_with or bool(mentioned & set(relation.any_with))

    def is_false(self, condition: Condition) -> bool:
        """True where the condition is false whatever is still unknown."""
        known = {}
        for name in condition.inputs:
            try:
                known[name] = self.value(name).value
            except Lacking:
                known[name] = self.catalogue.quantities[name].symbol
        return evaluate(condition.expr, known.__getitem__) is False

    def apply(self, relation: Relation) -> Found:
        """The value that the relation gives; Lacking or Undefined where it has none."""
        used: dict[str, Found] = {}

        def lookup(name: str) -> Any:
            if name not in used:
                used[name] = self.value(name)
            return used[name].value

        expr = without_removable_point(relation, lookup)
        value = expr if is_number(expr) else evaluate(expr, lookup)
        return Found(
            relation.gives,
            value,
            relation,
            inputs=tuple(used),
            assumed=frozenset[str]().union(*(f.assumed for f in used.values())),
            stated=frozenset[str]().union(*(f.stated for f in used.values())),
            inferred=frozenset[str]().union(*(f.inferred for f in used.values())),
        )
