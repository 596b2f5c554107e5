"""A request made ready: what is asked is free, lists and preferences are in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from formulas.catalogue import Catalogue
from formulas.errors import Problem
from formulas.formula import Relation
from formulas.scenario import YOU, Scenario
from solvers.chain import Chain

# A list as short as this is tried value by value; of a longer one the limits leave stretches.
FEW = 16


def freed(scenario: Scenario, find: str) -> Scenario:
    """The scenario without a value for what is asked, and the note that it was set aside."""
    given = scenario.given.get(find)
    if given is None:
        return scenario
    row = f"the {find} of {given.text}" if given.origin != YOU and given.text else given.text
    note = f"{row or find} is set aside: it is what is asked"
    return replace(scenario.without(find), notes=(*scenario.notes, note))


def restricted(names: Catalogue, scenario: Scenario, find: str) -> Catalogue:
    """The catalogue in which what is asked has only the values that are allowed of it."""
    values = scenario.among.get(find, ())
    quantity = names.quantities.get(find)
    if quantity is None or not values or (len(values) > FEW and not quantity.domain.choices):
        return names
    domain = replace(quantity.domain, choices=tuple(sorted(values)))
    changed = {**names.quantities, find: replace(quantity, domain=domain)}
    return replace(names, quantities=MappingProxyType(changed))


def preferred(names: Catalogue, prefer: Mapping[str, str]) -> dict[str, Relation]:
    """The relation that is to answer for each quantity; Problem for one that cannot."""
    found: dict[str, Relation] = {}
    for name, word in prefer.items():
        rows = [row for row in names.named(word) if row.gives == name]
        if not rows:
            gives = ", ".join(dict.fromkeys(row.gives for row in names.named(word)))
            raise Problem("name", f"{word} gives {gives}, not {name}", (), word)
        relation = rows[0]
        if relation.is_bound and not relation.is_truth:
            raise Problem("name", f"{word} is a bound: it gives no value of {name}", (), word)
        if relation.is_array:
            raise Problem("name", f"{word} is computed from arrays, under 'using'", (), word)
        found[name] = relation
    return found


def refuse_invalid(chain: Chain) -> None:
    """A Problem for a preferred relation that is not valid for what is stated."""
    for name, relation in chain.prefer.items():
        broken = next((c for c in relation.valid if chain.is_false(c)), None)
        if broken is not None:
            meaning = broken.meaning[:1].lower() + broken.meaning[1:].rstrip(".")
            message = f"{relation.key} does not hold here: it is valid where {meaning}"
            raise Problem("domain", message, (f"let another relation give {name}",), relation.key)


def with_result_free(chain: Chain) -> Chain:
    """The chain in which a row's value of what is asked gives way to what a person states of it.

    Only where something that they state to be equal depends on it; a row is a fact otherwise.
    """
    from solvers.backward import equations

    name, given = chain.asked, chain.scenario.given.get(chain.asked)
    if given is None or given.origin == YOU or chain.using:
        return chain
    reach = chain.catalogue.downstream(name)
    stated = [t for t in chain.equated() if chain.scenario.given[t].origin == YOU]
    if not (reach & set(stated) or chain.scenario.equations or chain.scenario.relates):
        return chain
    free = replace(chain, scenario=freed(chain.scenario, name), unknowns=frozenset((name,)))
    rows = [row for row in equations(free) if row.difference or row.name in stated]
    return free if rows else chain
