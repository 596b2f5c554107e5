"""Every configuration that may be chosen: kinds by name, numbers beside them, and a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

from formulas.catalogue import catalogue
from formulas.deployment.defaults import STRUCTURAL
from formulas.errors import Problem
from formulas.hardware import find_gpu, idle_facts, mig_profiles
from formulas.scenario import YOU, Given, Scenario
from formulas.statements import Axis, UseGpu
from solvers.axes import GPU, NAMED, NONE, PROFILE, at_point, axes_of
from solvers.number import is_number
from solvers.search.line import Line, line_of

PRICE = "price_per_gpu_hour"
LINE = "batch"
_PARALLEL = ("tp", "pp", "dp", "ep")
_MOST_KINDS = 20_000
_LONG = 16


@dataclass(frozen=True)
class Kind:
    """One choice of every name, and what is known there."""

    at: Mapping[str, str]
    scenario: Scenario

    @cached_property
    def gpu(self) -> str | None:
        """The GPU, searched or stated."""
        stated = _stated_gpu(self.scenario)
        return None if stated is None else find_gpu(stated).name

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The numbers that are stated there."""
        return {name: row.value for name, row in self.scenario.given.items()}


@dataclass(frozen=True)
class Space:
    """`order` are the searched names as they were asked; `kinds` the choices of names, `numbers`
    the values of each searched number but that of the `line`. `wanted` are the quantities that the
    question speaks of.
    """

    scenario: Scenario
    order: tuple[str, ...]
    kinds: tuple[Kind, ...]
    numbers: Mapping[str, tuple[Fraction, ...]]
    line: Line | None
    left_out: int = 0
    wanted: frozenset[str] = frozenset()

    @property
    def each(self) -> int:
        """How many combinations of numbers there are beside each kind."""
        return prod(len(values) for values in self.numbers.values())

    @property
    def size(self) -> int:
        """How many combinations there are, without the line."""
        return len(self.kinds) * self.each

    def groups(self) -> list[list[int]]:
        """The kinds of which the same quantities are stated, but for what plays no part in one."""
        found: dict[frozenset[str], list[int]] = {}
        for number, kind in enumerate(self.kinds):
            known = frozenset(kind.facts) | (idle_facts(kind.facts) - self.wanted)
            found.setdefault(known, []).append(number)
        return list(found.values())

    def varied(self, group: Sequence[int]) -> frozenset[str]:
        """What differs between the configurations of a group."""
        facts = [self.kinds[number].facts for number in group]
        # Lists are equal at once where they hold the same objects; fractions are not.
        first = facts[0]
        names = {
            name
            for name in frozenset().union(*facts)
            if any([row.get(name)] != [first.get(name)] for row in facts)
        }
        bad = [n for n in sorted(names) if not all(is_number(row[n]) for row in facts if n in row)]
        if bad:
            raise Problem("plan", f"a plan cannot compute with {bad[0]}", ())
        return frozenset(names | set(self.numbers) | ({self.line.name} if self.line else set()))

    def point(self, kind: int, numbers: Sequence[int]) -> dict[str, Any]:
        """The values of every searched name but the line's."""
        own = zip(self.numbers.items(), numbers, strict=True)
        return {**self.kinds[kind].at, **{name: values[i] for (name, values), i in own}}

    def scenario_at(self, kind: int, numbers: Sequence[int], line: Fraction | None) -> Scenario:
        """What is known at one configuration."""
        found = self.kinds[kind].scenario
        point = {n: v for n, v in self.point(kind, numbers).items() if n not in NAMED}
        if self.line is not None and line is not None:
            point[self.line.name] = line
        return at_point(found, point)


def space_of(
    scenario: Scenario,
    over: Sequence[Axis],
    prices: Mapping[str, Fraction] | None = None,
    wanted: Iterable[str] = (),
) -> Space:
    """The space of what is searched beside what is known; Problem where a domain is empty."""
    axes = _with_lists(scenario, over)
    order = tuple(axis.name for axis in axes)
    for axis in axes:
        if axis.values is not None and not len(axis.values):
            raise Problem("plan", f"no value of {axis.name} is left to search", ())
    plain = [axis for axis in axes if axis.name != PROFILE and not isinstance(axis.values, range)]
    listed: dict[str, Any] = axes_of(plain, scenario, catalogue())
    listed |= {axis.name: axis.values for axis in axes if isinstance(axis.values, range)}
    if GPU in listed:
        listed[GPU] = tuple(dict.fromkeys(find_gpu(name).name for name in listed[GPU]))
    profiles = next((axis for axis in axes if axis.name == PROFILE), None)
    kinds, left_out = _kinds(scenario, listed, profiles, prices or {})
    numbers = {name: values for name, values in listed.items() if name not in NAMED}
    line = _line(numbers)
    _refuse_numbers(numbers, line)
    rest = {name: tuple(values) for name, values in numbers.items() if name != line}
    found = line_of(line, numbers[line], line == LINE) if line else None
    _refuse_guessed_tp(scenario, kinds, numbers)
    spoken = replace(scenario, given={}).mentioned.union(wanted)
    return Space(scenario, order, tuple(kinds), rest, found, left_out, spoken)


def _refuse_guessed_tp(
    scenario: Scenario, kinds: Sequence[Kind], numbers: Mapping[str, Any]
) -> None:
    """A Problem where the tp assumed of N GPUs would be another one for each kind of GPU."""
    stated = {*scenario.given, *numbers}
    if len(kinds) > 1 and "available_gpus" in stated and not stated & set(_PARALLEL):
        message = "of several kinds of GPUs no tp is assumed"
        raise Problem("plan", message, ("state it, tp = 8, or search it:  over tp",))


def _with_lists(scenario: Scenario, over: Sequence[Axis]) -> list[Axis]:
    """What is searched, and what is stated to be one of a list without being searched by name."""
    named = {axis.name for axis in over}
    lists = {**scenario.options, **scenario.among}
    return [*over, *(Axis(name, values) for name, values in lists.items() if name not in named)]


def _line(numbers: Mapping[str, Sequence[Fraction] | None]) -> str | None:
    """The number that is followed along its line: the batch, or the one of most values."""
    if LINE in numbers:
        return LINE
    free = [name for name, values in numbers.items() if values is None]
    if free:
        return free[0]
    long = {n: len(v) for n, v in numbers.items() if v is not None and len(v) > _LONG}
    return max(long, key=lambda name: long[name], default=None)


def _refuse_numbers(numbers: Mapping[str, Sequence[Fraction] | None], line: str | None) -> None:
    for name, values in numbers.items():
        quantity = catalogue().quantities[name]
        if values is None and (name != line or not quantity.domain.whole):
            raise Problem("plan", f"{name} has no list of values", (f"{name} in {{1, 2, 4}}",))
        for value in (values[0], values[-1]) if isinstance(values, range) else values or ():
            if not quantity.domain.holds(value):
                raise Problem("domain", f"{name} = {value} is not allowed", (), name)


def _kinds(
    scenario: Scenario,
    listed: Mapping[str, Any],
    profiles: Axis | None,
    prices: Mapping[str, Fraction],
) -> tuple[list[Kind], int]:
    names = {name: values for name, values in listed.items() if name in NAMED}
    count = prod(len(values) for values in names.values())
    if count > _MOST_KINDS:
        raise Problem("plan", f"{count} combinations of names are too many; at most {_MOST_KINDS}")
    found: list[Kind] = []
    left_out = 0
    for values in product(*names.values()):
        at = dict(zip(names, values, strict=True))
        gpu = at.get(GPU) or _stated_gpu(scenario)
        own = _profiles(profiles, gpu)
        left_out += len(profiles.values or ()) - len(own) if profiles and profiles.values else 0
        for profile in own:
            point = at if profile is None else {**at, PROFILE: profile}
            found.append(Kind(point, _known(scenario, point, gpu, prices)))
    if not found:
        text = ", ".join(profiles.values or ()) if profiles else ""
        raise Problem("mig", f"no GPU that is offered has MIG profile {text}", (), text)
    return _completed(found), left_out


def _completed(kinds: list[Kind]) -> list[Kind]:
    """The kinds, those first of which most is stated; where others state what is absent in one, it
    is stated there as what its absence means, so that one program serves all.
    """
    spoken = frozenset().union(*(kind.scenario.given for kind in kinds))
    names = catalogue()
    absent = {
        name: Given(name, Fraction(int(row.value)), "assumed", f"{name} = {row.value}")
        for name, row in names.defaults.items()
        if name in STRUCTURAL & spoken
        and not row.inputs
        and name not in names.gates
        # What is stated further down might say otherwise of it.
        and not names.downstream(name) & spoken
    }
    found = []
    for kind in sorted(kinds, key=lambda kind: -len(kind.scenario.given)):
        more = {**absent, **kind.scenario.given}
        found.append(Kind(kind.at, replace(kind.scenario, given=more)))
    return found


def _profiles(axis: Axis | None, gpu: str | None) -> list[str | None]:
    """The profiles to try on one GPU; None where none are searched."""
    if axis is None:
        return [None]
    if gpu is None:
        raise Problem("mig", "MIG profiles are those of a GPU", ("add  gpu NAME",), PROFILE)
    own = (NONE, *mig_profiles(find_gpu(gpu)))
    return list(own if axis.values is None else (v for v in axis.values if v in own))


def _stated_gpu(scenario: Scenario) -> str | None:
    return next((row.name for row in scenario.statements if isinstance(row, UseGpu)), None)


def _known(
    scenario: Scenario, point: Mapping[str, str], gpu: str | None, prices: Mapping[str, Fraction]
) -> Scenario:
    found = at_point(scenario, point)
    price = prices.get(find_gpu(gpu).name) if gpu and prices else None
    if price is not None:
        text = f"price of {gpu}"
        given = {**found.given, PRICE: Given(PRICE, price, YOU, text)}
        found = replace(found, given=given)
    return found


def places(space: Space, group: Sequence[int], first: int, last: int) -> tuple[Any, list[Any]]:
    """The kinds and the places of numbers of combinations `first` to `last` of a group."""
    import numpy

    flat = numpy.arange(first, last)
    found: list[Any] = []
    for values in reversed(tuple(space.numbers.values())):
        found.append(flat % len(values))
        flat = flat // len(values)
    return numpy.array(group)[flat], found[::-1]
