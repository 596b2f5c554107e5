"""Everything that a question rests on, once, in base symbols: what is stated, asked or assumed.

The same relations as in the numeric chain, but nothing is put in: definitions that always hold,
constraints that always hold, and statements, each of which may be kept or dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import sympy

from formulas.deployment.defaults import STRUCTURAL
from formulas.formula import Relation
from formulas.quantity import Domain, Quantity
from solvers.chain import Chain
from solvers.exact import evaluate, without_removable_point
from solvers.found import Found, Lacking
from solvers.number import Number, Undefined, is_number, to_sympy
from solvers.said import Said, statements_of


@dataclass(frozen=True, slots=True)
class Always:
    """A condition that no statement can change: a standing constraint, a guard, a domain."""

    name: str
    condition: Any


@dataclass(frozen=True)
class Composed:
    """`definitions` give every derived quantity from others, inputs first; the rest are `base`.

    `statements` fix base quantities or limit any; `always` holds whatever is dropped. A base
    quantity that no statement fixes is free: what is asked, and what is solved for.
    """

    chain: Chain
    definitions: Mapping[str, Any]
    relations: Mapping[str, Relation]
    base: tuple[str, ...]
    always: tuple[Always, ...]
    statements: tuple[Said, ...]
    _whole: dict[str, Any] = field(default_factory=dict)

    def expression(self, name: str) -> Any:
        """The quantity in base symbols only, as a sympy expression."""
        if name not in self._whole:
            expr = self.definitions.get(name)
            quantity = self.chain.catalogue.quantities[name]
            self._whole[name] = quantity.symbol if expr is None else self.in_base(expr)
        return self._whole[name]

    def in_base(self, expr: Any) -> Any:
        """Any expression or condition in base symbols only."""
        found = {
            s: self.expression(s.name) for s in expr.free_symbols if s.name in self.definitions
        }
        return expr.xreplace(found)

    @property
    def points(self) -> dict[str, Number]:
        """The values that the statements give to base quantities."""
        return {name: value for said in self.statements for name, value in said.points.items()}

    def values(
        self,
        point: Mapping[str, Number],
        names: Iterable[str],
        formulas: Mapping[str, Any] | None = None,
    ) -> dict[str, Number]:
        """The exact values of these quantities where every base quantity is known.

        `formulas` are what base quantities are taken to equal. Raises Undefined where there is
        no value.
        """
        found = dict(point)
        exprs = {**self.definitions, **(formulas or {})}

        def lookup(name: str) -> Number:
            if name not in found:
                relation = self.relations.get(name)
                expr = exprs[name]
                if relation is not None:
                    expr = without_removable_point(relation, lookup)
                found[name] = expr if is_number(expr) else evaluate(expr, lookup)
            return found[name]

        return {name: lookup(name) for name in names}

    def holds(
        self,
        condition: Any,
        point: Mapping[str, Number],
        formulas: Mapping[str, Any] | None = None,
    ) -> bool:
        """Whether a condition holds there, decided exactly; where it has no value it does not."""
        if isinstance(condition, bool):
            return condition
        try:
            names = {symbol.name for symbol in condition.free_symbols}
            values = self.values(point, names, formulas)
            return evaluate(condition, values.__getitem__) is True
        except Undefined:
            return False


def composed(
    chain: Chain,
    withdrawn: Iterable[str] = (),
    standing: bool = True,
    limits: bool = True,
) -> Composed:
    """What the chain's question rests on.

    `withdrawn` are the defaults that are not assumed because something stated differs; `standing`
    and `limits` say whether the constraints and the stated limits take part.
    """
    walk = _Walk(chain, frozenset(withdrawn))
    constraints = [c for c in chain.constraints if standing and _known(chain, c)]
    for name in (
        *sorted(chain.scenario.mentioned),
        chain.asked,
        *(n for c in constraints for n in c.inputs),
    ):
        walk.try_define(name)
    statements = statements_of(chain, walk.leaves, walk.definitions, limits)
    for row in statements:
        for name in sorted(row.names):
            walk.try_define(name)
    rows = [Always(c.name, c.expr) for c in constraints]
    rows += [*walk.guards, *_domains(walk)]
    base = tuple(name for name in walk.leaves if name not in walk.definitions)
    return Composed(
        chain, walk.definitions, walk.relations, base, tuple(dict.fromkeys(rows)), statements
    )


def _known(chain: Chain, constraint: Any) -> bool:
    try:
        chain.holds(constraint)
    except (Lacking, Undefined):
        return False
    return True


def _domains(walk: _Walk) -> Iterable[Always]:
    """What is derived has a domain as well; what the signs of symbols tell is left out."""
    for name, expr in walk.definitions.items():
        quantity: Quantity = walk.chain.catalogue.quantities[name]
        domain = quantity.domain
        if domain.low is not None and not _has_sign(expr, domain):
            sign = sympy.Gt if domain.low_open else sympy.Ge
            yield Always(name, sign(quantity.symbol, to_sympy(domain.low), evaluate=False))
        if domain.high is not None:
            yield Always(name, sympy.Le(quantity.symbol, to_sympy(domain.high), evaluate=False))


@lru_cache(maxsize=1024)
def _has_sign(expr: Any, domain: Domain) -> bool:
    if not isinstance(expr, sympy.Expr) or domain.low != 0:
        return False
    return bool(expr.is_positive if domain.low_open else expr.is_nonnegative)


class _Walk:
    """Finds how each quantity is had, and puts it into the order inputs first."""

    def __init__(self, chain: Chain, withdrawn: frozenset[str]) -> None:
        self.chain = chain
        self.withdrawn = withdrawn
        self.definitions: dict[str, Any] = {}
        self.relations: dict[str, Relation] = {}
        self.leaves: dict[str, Found | None] = {}
        self.guards: list[Always] = []
        self._busy: set[str] = set()
        self._given = chain.scenario.given
        for name in sorted({*chain.scenario.mentioned, chain.asked}):
            _value(chain, name)
        rows = {n: f.solved_from for n, f in chain.memo.items() if f is not None and f.solved_from}
        self._solved = frozenset(rows)
        targets = frozenset(rows.values()) - self._solved
        forwards = replace(
            chain,
            scenario=chain.scenario.without(*targets),
            unknowns=(chain.unknowns | self._solved) - targets,
            allowed=(chain.allowed | withdrawn) - targets,
            withdrawn=frozenset(),
            speaks_of=chain.mentioned,
            forwards=True,
        )
        self._forwards = forwards
        known = replace(chain, unknowns=frozenset())
        self._derived = chain.asked in targets or _relation(known, chain.asked) is not None

    def try_define(self, name: str) -> None:
        """Define the quantity, or leave it a base quantity that is free."""
        if name in self.leaves or name in self._busy:
            return
        self._busy.add(name)
        self.leaves[name] = None
        self._define(name)
        self._busy.discard(name)

    def _define(self, name: str) -> None:
        given = self._given.get(name)
        if name in self._solved or (given is not None and given.override):
            return
        if name == self.chain.asked and not self._derived:
            return
        if given is not None or name == self.chain.asked:
            found = _relation(self._without(name), name)
        else:
            found = _value(self._forwards, name)
        if found is None or found.relation is None or found.solved_from:
            return
        relation = found.relation
        if relation.kind == "assumption" and name not in STRUCTURAL:
            if name not in self.withdrawn:
                self.leaves[name] = found
            return
        if any(other in self._busy for other in relation.inputs):
            return
        for other in relation.inputs:
            self.try_define(other)
        self.definitions[name] = relation.value
        self.relations[name] = relation
        for guard in relation.valid:
            for other in guard.inputs:
                self.try_define(other)
            self.guards.append(Always(guard.name, guard.expr))

    def _without(self, name: str) -> Chain:
        chain = self._forwards
        return replace(
            chain,
            scenario=chain.scenario.without(name),
            allowed=chain.allowed - {name},
            unknowns=chain.unknowns - {name},
        )


def _relation(chain: Chain, name: str) -> Found | None:
    try:
        return chain.by_relation(name)
    except (Lacking, Undefined):
        return None


def _value(chain: Chain, name: str) -> Found | None:
    try:
        return chain.value(name)
    except (Lacking, Undefined):
        return None
