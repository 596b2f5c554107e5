"""Why no value meets every limit, and which of them clash."""

from __future__ import annotations

from dataclasses import replace

from formulas.amounts import display
from solvers.answer import Evidence, Infeasible, Interval, Statement
from solvers.bounds import Feasible
from solvers.chain import Chain
from solvers.evidence import constrained, evidence, replayed
from solvers.found import Lacking
from solvers.limits import statement_of
from solvers.number import Undefined

_MOST_LOOKED_AT = 8


def infeasible(chain: Chain, feasible: Feasible) -> Infeasible:
    """The statements that clash and why, where no value, or none of its grid, meets every limit."""
    clash = feasible.smallest_clash()
    between = feasible.intervals()
    if between:
        ends = (between[0].low, False), (between[-1].high, True)
        failing = (name for end, upwards in ends for name in feasible.failing_beyond(end, upwards))
        clash = tuple(dict.fromkeys(failing))
    said = tuple(statement_of(chain, name) for name in clash)
    return Infeasible(
        chain.asked,
        _between(chain, between) if between else _reason(chain, feasible, clash, said),
        said,
        _nearest_evidence(chain, feasible),
    )


def _between(chain: Chain, intervals: list[Interval]) -> str:
    quantity = chain.catalogue.quantities[chain.asked]
    ends = (end for span in intervals for end in (span.low, span.high) if end is not None)
    shown = " and ".join(display(end, quantity.unit, quantity.label) for end in ends)
    return f"the limits leave {chain.asked} no whole number between {shown}"


def _nearest_evidence(chain: Chain, feasible: Feasible) -> Evidence:
    """What holds and what does not where the fewest constraints are broken, and by the least."""
    failing = [sum(not ok for ok in holds.values()) for holds in feasible.holds]
    found: list[tuple[int, float, int]] = []
    proofs: list[Evidence] = []
    for index in sorted(range(len(failing)), key=failing.__getitem__)[:_MOST_LOOKED_AT]:
        replay = replayed(chain, chain.asked, feasible.pieces[index].test)
        try:
            proof = replace(evidence(replay, constrained(replay)), unused=())
        except Lacking:
            continue  # a limit has no value there
        short = sum(-(check.slack or -1.0) for check in proof.checks if not check.holds)
        found.append((failing[index], short, len(proofs)))
        proofs.append(proof)
    return proofs[min(found)[2]] if found else Evidence()


def _reason(
    chain: Chain, feasible: Feasible, clash: tuple[str, ...], said: tuple[Statement, ...]
) -> str:
    """What the first clashing limit comes to at its best, where that says it all."""
    names = " and ".join(s.name if s.origin == "always" else s.text for s in said)
    if len(clash) != 1:
        return f"no {chain.asked} meets {names} together"
    limit = next((row for row in chain.scenario.limits if row.quantity == clash[0]), None)
    if limit is None:
        return f"no {chain.asked} meets {names}"
    found: list[float] = []
    for piece in feasible.pieces:
        try:
            replay = replayed(chain, chain.asked, piece.test)
            found.append(float(replay.value(limit.quantity).value))
        except (Lacking, Undefined):
            continue
    best = min(found) if limit.relation.startswith("<") else max(found)
    word = "at least" if limit.relation.startswith("<") else "at most"
    quantity = chain.catalogue.quantities[limit.quantity]
    shown = display(best, quantity.unit, quantity.label)
    return f"{limit.quantity} is {word} {shown}, whatever {chain.asked} is"
