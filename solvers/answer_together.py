"""The answer where several unknown quantities are solved for together."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from formulas.amounts import display
from solvers.answer import Answer, Branch, Exact, Infeasible, Unproved
from solvers.blocks import Joined, joined
from solvers.chain import Chain
from solvers.evidence import evidence, wanted
from solvers.found import Lacking
from solvers.number import inside, is_number


def together(known: Chain, least: int = 1) -> Answer | None:
    """The answer by the blocks of equations that determine what is asked; None where none do."""
    found = joined(known, (known.asked,), least)
    if found is None:
        return None
    if found.refused:
        # One equation alone is asked once more backwards, where a step leaves a range.
        return Unproved(known.asked, found.refused) if found.several else None
    if found.chains:
        return _answer(known, found)
    # Where a circular default has no solution, nothing that is stated is at fault.
    return _no_point(known, found) if found.targets else None


def _answer(known: Chain, found: Joined) -> Answer | None:
    quantity = known.catalogue.quantities[known.asked]
    values = []
    for chain in found.chains:
        try:
            value = chain.value(known.asked).value
        except Lacking:
            return None
        if is_number(value) and inside(quantity.domain, value):
            values.append((value, chain))
    if not values:
        return None
    value, chain = values[0]
    branches = tuple(Branch(v) for v, _ in values) if len(values) > 1 else ()
    # The stated results are computed forwards from the solution: the proof by substitution.
    replay = replace(chain, scenario=chain.scenario.without(*found.targets), forwards=True)
    proof = evidence(replay, (*sorted(found.targets), *wanted(replay)))
    relied_on = chain.value(known.asked).stated | found.targets
    unused = tuple(name for name in proof.unused if name not in relied_on)
    shown = ", ".join(
        f"{n} {display(f.value, q.unit, q.label)}"
        for n, f in chain.solved.items()
        if (q := chain.catalogue.quantities[n])
    )
    note = f"solved together, and put back: {shown}"
    proof = replace(proof, unused=unused, notes=(*proof.notes, note))
    numeric = not isinstance(value, Fraction)
    return Exact(known.asked, value, branches, numeric=numeric, evidence=proof)


def _no_point(known: Chain, found: Joined) -> Infeasible:
    reason = f"no value of {known.asked} satisfies {' and '.join(found.texts)} together"
    return Infeasible(known.asked, reason)
