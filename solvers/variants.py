"""The relations that may give one quantity: what each gives here, and which one answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from formulas.catalogue import catalogue
from formulas.formula import Relation
from formulas.graph import when
from solvers.answer import Contradiction
from solvers.chain import Chain
from solvers.found import Lacking
from solvers.number import Number, Undefined, divide, is_number, less, minus
from solvers.solve import Request, chain_of, settled_of

# Two relations that differ by more than this are worth a line.
NOTABLE = Fraction(1, 10)


@dataclass(frozen=True, slots=True)
class Variant:
    """One relation: its value where it has one, and whether its conditions hold (None: not known).

    `active` is the one that answers; `why` says why it does, or does not.
    """

    relation: Relation
    value: Any = None
    valid: bool | None = True
    active: bool = False
    why: str = ""


def variants(request: Request) -> tuple[Variant, ...]:
    """Every relation that gives what is asked, the highest in rank first.

    What is stated for the quantity itself is set aside, so that the relations can be compared.
    """
    name = request.find
    without = request.scenario.without(name)
    plain = chain_of(replace(request, scenario=without, prefer={}))
    settled = settled_of(plain)
    chain = replace(plain if isinstance(settled, Contradiction) else settled.chain,
                    unknowns=frozenset())  # fmt: skip
    preferred = request.prefer.get(name, "")
    rows = catalogue().by_output.get(name, ())
    found = [_variant(chain, relation) for relation in rows]
    active = _active(chain, found, preferred)
    return tuple(
        replace(row, active=True, why=_why(row, preferred)) if row.relation.key == active else row
        for row in found
    )


def notably_different(value: Any, other: Any) -> bool:
    """Whether two values of one quantity differ by more than a tenth of the first."""
    change = relative(value, other)
    return change is not None and (less(NOTABLE, abs(change)))


def relative(value: Any, other: Any) -> Number | None:
    """By how much the other value is larger, relative to the first; None where none can be had."""
    if not is_number(value) or not is_number(other) or value == 0:
        return None
    return divide(minus(other, value), abs(value))


def _active(chain: Chain, found: list[Variant], preferred: str) -> str:
    keys = [row.relation.key for row in found]
    named = [r.key for r in catalogue().named(preferred)] if preferred else []
    for key in named:
        if key in keys:
            return key
    try:
        best = chain.by_relation(chain.asked)
    except Undefined:
        best = None
    return best.relation.key if best is not None and best.relation is not None else ""


def _variant(chain: Chain, relation: Relation) -> Variant:
    if relation.is_array:
        return Variant(relation, valid=None, why="from arrays, under 'using' only")
    broken = [c for c in relation.valid if _holds(chain, c) is False]
    if broken:
        meaning = broken[0].meaning.rstrip(".")
        return Variant(
            relation, _value(chain, relation), False, why=f"not valid: {_lower(meaning)}"
        )
    open_conditions = any(_holds(chain, c) is None for c in relation.valid)
    valid = None if open_conditions else True
    value = _value(chain, relation)
    return Variant(relation, value, valid, why=_why_not(chain, relation, value))


def _holds(chain: Chain, condition: Any) -> bool | None:
    try:
        found = chain.holds(condition)
    except (Lacking, Undefined):
        return None
    return found if isinstance(found, bool) else None


def _value(chain: Chain, relation: Relation) -> Any:
    """What the relation gives of its inputs here, whether or not it may answer."""
    try:
        value = replace(chain).apply(relation).value
    except (Lacking, Undefined):
        return None
    return value if is_number(value) or isinstance(value, bool) else None


def _why(row: Variant, preferred: str) -> str:
    if preferred:
        return "answers, because you said so"
    return "answers: the highest in rank of what can"


def _why_not(chain: Chain, relation: Relation, value: Any) -> str:
    if value is None:
        lacking = [name for name in relation.inputs if _lacks(chain, name)]
        return f"needs {', '.join(lacking)}" if lacking else "has no value here"
    if relation.is_bound and not relation.is_truth:
        return "a bound, under 'using' only"
    if not chain.takes_part(relation):
        return when(relation) or "does not take part"
    return f"valid, of rank {relation.rank}"


def _lacks(chain: Chain, name: str) -> bool:
    try:
        chain.value(name)
    except (Lacking, Undefined):
        return True
    return False


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
