"""Quantities as functions of a few others, by the very relations that a chain took."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from formulas.formula import VOCABULARY
from solvers.chain import Chain
from solvers.exact import evaluate
from solvers.found import Lacking
from solvers.number import Undefined, is_number


@dataclass
class Along:
    """What the chain knows, with the quantities `free` as symbols; a scratchpad of one question.

    Which relation answers does not depend on the free ones: it is the one that answered.
    """

    chain: Chain
    free: frozenset[str]
    memo: dict[str, Any] = field(default_factory=dict)

    def of(self, expr: Any) -> Any:
        """The expression in the free quantities only: a number, or a sympy expression in them."""
        return evaluate(expr, self.value)

    def value(self, name: str) -> Any:
        """The quantity in the free ones only."""
        if name not in self.memo:
            self.memo[name] = self._compose(name)
        return self.memo[name]

    def _compose(self, name: str) -> Any:
        if name in self.free:
            return VOCABULARY[name].symbol
        row = self.chain.value(name)
        if row.solved_from or row.by or name in self.chain.solved:
            return replace(self.chain, unknowns=self.free).value(name).value
        if row.relation is None:
            return row.value
        parts = [self.value(part) for part in row.inputs]
        if all(is_number(part) or isinstance(part, bool) for part in parts):
            return row.value
        return evaluate(row.relation.value, self.value)

    def deciding(self, names: Iterable[str]) -> frozenset[str]:
        """Those of the free quantities on which it depends which relation answers for a name."""
        from solvers.evidence import steps_of

        found: set[str] = set()
        for row in steps_of(self.chain, names):
            for relation in self.chain.relations(row.quantity):
                for condition in relation.valid:
                    found |= self._free_in(condition.expr)
        return frozenset(found & self.free)

    def _free_in(self, expr: Any) -> set[str]:
        try:
            value = self.of(expr)
        except (Lacking, Undefined):
            return set()
        return {symbol.name for symbol in getattr(value, "free_symbols", ())}
