"""What a person could state so that a question has an answer: few things, each of them needed.

Every proposal is tried with a likely value, so that nothing is proposed that would not do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache

from formulas.burst_quantities import SPEED_OF_BURSTS
from formulas.catalogue import Catalogue, catalogue
from formulas.config_keys import STATED_AS
from formulas.scenario import scenario
from formulas.statements import Fact, Statement, UseGpu, UseModel
from solvers.chain import Chain
from solvers.found import Lacking
from solvers.number import Undefined
from solvers.solve import Request, chain_of

MODEL, GPU = "model", "gpu"
_SOME_MODEL = UseModel("llama-3.1-8b")
_SOME_GPU = UseGpu("h100-sxm")
# What people know of their own workload, the least known first; the rest they would look up.
_WORKLOAD = ("prompt_tokens", "output_tokens", "arrival_rate", "price_per_gpu_hour", "batch",
             "context_tokens")  # fmt: skip
_LIKELY = {
    "context_tokens": 1000,
    "prompt_tokens": 600,
    "output_tokens": 400,
    "batch": 8,
    "n_layers": 32,
}
_MOST_TRIED = 40
# Results of formulas that a log or a table states as well.
_READ_IN_LOGS = ("kv_bytes_per_token", "weight_bytes")

Doable = Callable[[Sequence[str]], bool]


@dataclass
class _Answered:
    """What was tried: more than what suffices suffices, less than what does not does not."""

    computable: Callable[[Iterable[Statement]], bool]
    can: list[frozenset[str]] = field(default_factory=list)
    cannot: list[frozenset[str]] = field(default_factory=list)

    def doable(self, names: Sequence[str]) -> bool:
        """Whether the question has an answer with these given as well."""
        given = frozenset(names)
        if any(known <= given for known in self.can):
            return True
        if any(given <= known for known in self.cannot):
            return False
        found = self.computable(map(_likely, names))
        (self.can if found else self.cannot).append(given)
        return found


@dataclass(frozen=True, slots=True)
class Gift:
    """A quantity, `model` or `gpu`; `instead` are the quantities that would do as well."""

    name: str
    instead: tuple[str, ...] = ()


def gifts(request: Request) -> tuple[Gift, ...]:
    """What to give, the least of it; empty where no such things make the question answerable."""
    stated = request.scenario.statements
    targets = _targets(request)

    answered = _Answered(lambda names: _computable(request, (*stated, *names), targets))
    doable = answered.doable

    rows = {MODEL: _facts_of(_SOME_MODEL), GPU: _facts_of(_SOME_GPU)}
    kinds = {type(row) for row in stated}
    named = [name for name, kind in ((MODEL, UseModel), (GPU, UseGpu)) if kind not in kinds]
    given = set(request.scenario.given) | {request.find}
    if MODEL not in named:
        given |= set(STATED_AS.values())  # a config that lacked one of them was refused
    # Who does not speak of a burst is not asked for what belongs to one.
    spoken_of = request.scenario.mentioned | {request.find}
    given |= set() if spoken_of & _of_a_burst() else _of_a_burst()
    looked_up = [n for n in _candidates(targets) if n not in given and n not in _WORKLOAD]
    own = [n for n in _WORKLOAD if n not in given]
    # What a row of a table has is asked for by the name of the row.
    single = [n for n in looked_up if not any(n in rows[name] for name in named)]
    least = _least([*single[:_MOST_TRIED], *own, *reversed(named)], doable)
    if not least:
        return ()
    known = [name for name in _READ_IN_LOGS if name not in given]
    found = []
    for name in least:
        rest = [other for other in least if other != name]
        found.append(Gift(name, _instead(name, rest, rows.get(name, ()), doable, known)))
    return tuple(sorted(found, key=lambda gift: _PLACES.get(gift.name, len(_PLACES))))


_PLACES = {name: place for place, name in enumerate((MODEL, GPU, *reversed(_WORKLOAD)))}


@cache
def _of_a_burst() -> frozenset[str]:
    """The quantities of requests that are submitted at once."""
    return frozenset(quantity.name for quantity in SPEED_OF_BURSTS)


def _targets(request: Request) -> tuple[str, ...]:
    """What has to be known: what is asked, or for a largest or smallest what limits it."""
    limited = tuple(row.quantity for row in request.scenario.limits)
    if not request.sense:
        return (request.find, *limited)
    return limited or ("memory_used_per_gpu", "memory_budget")


def _candidates(targets: Iterable[str]) -> list[str]:
    """The facts that the targets rest on: quantities that no formula gives and nothing assumes."""
    names: Catalogue = catalogue()
    above = set().union(*(names.upstream(target) for target in targets))
    return sorted(n for n in above if n not in names.by_output and n not in names.defaults)


def _least(names: Sequence[str], doable: Doable) -> list[str]:
    """The names of which each is needed, the first ones given up first; empty where all are too
    few.
    """
    kept = list(names)
    if not doable(kept):
        return []

    def give_up(part: Sequence[str]) -> None:
        """What of it can go: all of it at once, or of each half."""
        nonlocal kept
        rest = [name for name in kept if name not in part]
        if doable(rest):
            kept = rest
        elif len(part) > 1:
            half = len(part) // 2
            give_up(part[:half])
            give_up(part[half:])

    if names:
        give_up(names)
    return kept


def _instead(
    name: str, rest: Sequence[str], row: Sequence[str], doable: Doable, known: Sequence[str]
) -> tuple[str, ...]:
    """Other quantities that would do in place of this one, beside the rest."""
    if row:
        found = [n for n in _least([*row, *rest], doable) if n not in rest]
        return tuple(_shortened(found, rest, doable, known))
    if name != "context_tokens":
        return ()
    parts = tuple(n for n in ("prompt_tokens", "output_tokens") if n not in rest)
    return parts if parts and doable([*rest, *parts]) else ()


def _shortened(
    names: list[str], rest: Sequence[str], doable: Doable, known: Sequence[str]
) -> list[str]:
    """The names with one that people read in a log or a table in place of several."""
    for one in known:
        shorter = _least([*(n for n in names if n != one), one, *rest], doable)
        shorter = [n for n in shorter if n not in rest]
        if shorter and len(shorter) < len(names):
            names = sorted(shorter)
    return names


def _facts_of(row: Statement) -> tuple[str, ...]:
    """The quantities that a model or a GPU says, without those that are assumed anyway."""
    given = scenario((row,)).given
    return tuple(name for name in given if name not in catalogue().defaults)


@cache
def _likely(name: str) -> Statement:
    """The quantity, model or GPU with a value that it may well have."""
    if name == MODEL:
        return _SOME_MODEL
    if name == GPU:
        return _SOME_GPU
    given = scenario((_SOME_MODEL, _SOME_GPU)).given
    if name in given:
        return Fact(name, given[name].value, text=name)
    domain = catalogue().quantities[name].domain
    usual = Fraction(1, 2) if domain.high == 1 else max(Fraction(1), domain.low or Fraction(1))
    return Fact(name, Fraction(_LIKELY.get(name, usual)), text=name)


def _computable(
    request: Request, statements: Iterable[Statement], targets: tuple[str, ...]
) -> bool:
    rows = tuple(statements)
    if request.sense:
        rows = (*(row for row in rows if not _says(row, request.find)), _likely(request.find))
    found: Chain = chain_of(replace(request, scenario=scenario(rows), sense=""))
    # Forwards it is seen at once where it can be seen.
    chains = (replace(found, unknowns=frozenset(), forwards=way) for way in (True, False))
    return any(_has_values(chain, targets) for chain in chains)


def _has_values(chain: Chain, targets: tuple[str, ...]) -> bool:
    try:
        for target in targets:
            chain.value(target)
    except (Lacking, Undefined):
        return False
    return True


def _says(row: Statement, name: str) -> bool:
    return isinstance(row, Fact) and row.quantity == name
