"""Whether stated facts fit together: every identity and bound that ties some of them, tried.

Each stated result is compared with what a relation makes of the other facts. Where both sides are
known they may differ by 2 % beyond what the digits leave; at a limit of physics, which nothing
passes, only by what the digits leave.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from formulas.catalogue import catalogue
from formulas.deployment.defaults import SILENT
from formulas.scenario import YOU, Given, Scenario
from solvers.audit_text import TWICE
from solvers.ground import ground
from solvers.number import is_number
from solvers.reach import prepared
from solvers.trial import Finding, Trial

TOLERANCE = 0.02
# A slip of this size in a stated figure is what an audit is there to catch.
_MOVES = (0.8, 1.2)


@dataclass(frozen=True, slots=True)
class Loose:
    """A fact of which a figure 20 % lower, or higher, or either, would break no relation."""

    name: str
    lower: bool
    higher: bool


@dataclass(frozen=True, slots=True)
class Audit:
    """Every relation that could be tried, broken ones first; `untied` are facts in none of them.

    `loose` are facts that are tied, but of which some wrong figure would not be noticed. `read` is
    what was read into the facts, such as one GPU where no parallelism is stated, as low and high.
    """

    findings: tuple[Finding, ...]
    untied: tuple[str, ...] = ()
    loose: tuple[Loose, ...] = ()
    read: tuple[tuple[str, float, float], ...] = ()

    @property
    def broken(self) -> tuple[Finding, ...]:
        """The relations that what is stated does not meet."""
        return tuple(f for f in self.findings if not f.holds)

    @property
    def verdict(self) -> str:
        """consistent, inconsistent, or nothing to compare."""
        if self.broken:
            return "inconsistent"
        return "consistent" if self.findings else "nothing to compare"


def audit(scenario: Scenario, tolerance: float = TOLERANCE) -> Audit:
    """What is stated, against every identity, bound and standing constraint that ties it."""
    base = prepared(ground(scenario))
    trial = Trial(base, tolerance)
    plain = Trial(prepared(ground(scenario, exact=True)), tolerance).findings()
    shown = {(f.relation, f.quantity, f.sense): f for f in plain}
    found = [_as_stated(f, shown) for f in trial.findings() if _is_yours(scenario, f)]
    findings = _told_once(found)
    yours = [n for n, g in scenario.given.items() if _is_figure(g)]
    tied = {n for f in findings for n in f.quantities}
    whole = all(f.holds for f in findings)
    return Audit(
        findings,
        tuple(sorted(n for n in yours if n not in tied)),
        tuple(_loose(trial, found, [n for n in yours if n in tied])) if whole else (),
        tuple((n, *base.read[n].pair) for n in sorted(base.read.keys() - SILENT)),
    )


def fits(scenario: Scenario, tolerance: float = TOLERANCE) -> bool:
    """Whether an audit would find nothing broken; ends at the first that is."""
    trial = Trial(prepared(ground(scenario)), tolerance)
    return all(f.holds or not _is_yours(scenario, f) for f in trial.findings())


def _loose(trial: Trial, found: list[Finding], names: list[str]) -> Iterator[Loose]:
    """The facts that could be 20 % off unnoticed: each is moved, and what it stands in is tried."""
    for name in sorted(names):
        if trial.base.names.quantities[name].domain.choices:
            continue
        around = frozenset(f.quantity for f in found if name in f.quantities) | {name}
        lower, higher = (_is_unseen(trial, name, factor, around) for factor in _MOVES)
        if lower or higher:
            yield Loose(name, lower, higher)


def _is_unseen(trial: Trial, name: str, factor: float, around: frozenset[str]) -> bool:
    side = trial.base.stated[name]
    low, high = side.low * factor, side.high * factor
    if trial.base.names.quantities[name].domain.whole:
        low, high = float(math.floor(low)), float(math.ceil(high))
    moved = replace(side, low=low, high=high)
    base = replace(trial.base, stated={**trial.base.stated, name: moved})
    return all(f.holds for f in replace(trial, base=base).findings(around))


def _as_stated(finding: Finding, shown: Mapping[tuple[str, str, str], Finding]) -> Finding:
    """What was decided within the digits, told with the figures as they were stated."""
    row = shown.get((finding.relation, finding.quantity, finding.sense))
    if row is None:
        return finding
    return replace(
        finding, left=row.left, right=row.right, high=row.high, off=row.off, inputs=row.inputs
    )


def _is_figure(row: Given) -> bool:
    """Whether a person stated a number; how many GPUs there are is said with their name."""
    named = row.quantity == "available_gpus" and row.quantity not in row.text
    return row.origin == YOU and is_number(row.value) and not named


def _is_yours(scenario: Scenario, finding: Finding) -> bool:
    """What the tables alone say is not under audit."""
    if finding.relation == TWICE:
        return True
    stated = [scenario.given[n] for n in finding.quantities if n in scenario.given]
    return not stated or any(given.origin == YOU for given in stated)


def _is_turned(finding: Finding) -> bool:
    """Whether a figure is compared as something of another unit: a time as a rate."""
    names = catalogue().quantities
    if not finding.sources or finding.quantity not in names:
        return False
    units = {names[name].unit for name in finding.sources if name in names}
    return names[finding.quantity].unit not in units


def _told_once(found: list[Finding]) -> tuple[Finding, ...]:
    """Of findings that rest on the same facts, the one by the shortest way; broken ones first."""
    kept: dict[Any, Finding] = {}
    names = catalogue()
    standing = {condition.name for condition in names.constraints}
    for row in sorted(
        found,
        key=lambda f: (f.relation not in standing, len(f.through), _is_turned(f), f.relation),
    ):
        known = row.relation in standing or row.relation in names.relations
        # What a person asks to hold is told in any case.
        own = "" if known else row.relation
        two_sided = row.sense in ("=", "..")
        kept.setdefault((frozenset(row.quantities), row.holds, two_sided, own), row)
    return tuple(sorted(kept.values(), key=lambda f: (f.holds, len(f.through), -abs(f.off or 0))))
