"""One configuration asked as a plain question: its value, and everything that it rests on."""

from __future__ import annotations

from formulas.scenario import Scenario
from solvers.answer import Answer, Contradiction, Exact
from solvers.evidence import evidence, wanted
from solvers.found import Lacking
from solvers.number import Undefined, is_number
from solvers.solve import Request, chain_of, known_of, solve


def answered(name: str, scenario: Scenario) -> Answer:
    """The exact value of the quantity with its steps and checks, forwards from what is known."""
    settled = known_of(chain_of(Request(name, scenario)))
    if isinstance(settled, Contradiction):
        return settled
    chain = settled.chain
    try:
        value = chain.value(name).value
    except (Lacking, Undefined):
        return solve(Request(name, scenario))
    if not is_number(value):
        return solve(Request(name, scenario))
    return Exact(name, value, evidence=evidence(chain, wanted(chain)))
