"""What is assumed of a quantity where nothing that is stated gives it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from formulas.deployment.constraints import OF_TP
from formulas.deployment.defaults import OF_CONTEXT_ALONE, OF_DENSE_MODELS, SPEAKS_OF_CONTEXT
from solvers.chain import Chain
from solvers.demands import compare
from solvers.found import Found, Lacking
from solvers.number import Undefined, is_number, less

_PARALLELISM = frozenset(("tp", "pp", "dp", "ep"))
_CONTEXT_ALONE = frozenset(row.gives for row in OF_CONTEXT_ALONE)
_DENSE = frozenset(row.gives for row in OF_DENSE_MODELS)


def assumed(chain: Chain, name: str) -> Found | None:
    """The quantity's default; None where it is meant for another question or lacks something."""
    mentioned = chain.mentioned
    if name in _CONTEXT_ALONE and mentioned & SPEAKS_OF_CONTEXT:
        return None
    if name in _DENSE and not _is_dense(chain):
        return None
    try:
        found = chain.apply(chain.catalogue.defaults[name])
    except (Lacking, Undefined):
        return None
    value = _largest_tp(chain) if name == "tp" else found.value
    return replace(found, value=value, assumed=found.assumed | {name})


def _is_dense(chain: Chain) -> bool:
    try:
        value = chain.value("expert_params").value
    except Lacking:
        return False
    return is_number(value) and value == 0


def _largest_tp(chain: Chain) -> Fraction:
    """Of N GPUs the largest power of two that every constraint and limit on TP allows."""
    limited = {limit.quantity for limit in chain.scenario.limits} - chain.scenario.given.keys()
    # A limit says how large a group may be, and not how large it is.
    stated = chain.mentioned - {"tp"} - (limited - {chain.asked})
    if stated & _PARALLELISM or "available_gpus" not in chain.scenario.given:
        return Fraction(1)
    choices = chain.catalogue.quantities["tp"].domain.choices
    limit = chain.scenario.given["available_gpus"].value
    for choice in reversed(choices):
        if not less(limit, choice) and _tp_allowed(chain, choice):
            return choice
    return Fraction(1)


def _tp_allowed(chain: Chain, choice: Fraction) -> bool:
    limits = (row for row in chain.scenario.limits if row.quantity == "tp")
    if not all(compare(choice, row.relation, row.value) for row in limits):
        return False
    tried = replace(chain, scenario=chain.scenario.with_value("tp", choice))
    for constraint in OF_TP:
        try:
            if tried.holds(constraint) is False:
                return False
        except (Lacking, Undefined):
            continue
    return True
