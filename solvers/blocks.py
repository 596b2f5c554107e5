"""Quantities that can only be had together: block by block, each solved and put back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from formulas.deployment.defaults import SPEAKS_OF_CONTEXT
from formulas.scenario import ASKED, YOU
from solvers.chain import Chain
from solvers.found import Found, Lacking
from solvers.number import Undefined, is_number, same
from solvers.remaining import Row, equal_sides, remaining, speaks_of_circle, undefined
from solvers.settle import TRUST
from solvers.structure import Block, structure_of
from solvers.together import Point, solve_together

_MOST_POINTS = 8


@dataclass(frozen=True, slots=True)
class Joined:
    """Chains that know what was solved together, one for each solution; the equations used.

    `refused` says why there is none, `several` whether it was for several unknowns at once;
    `targets` are the stated quantities that were solved from.
    """

    chains: tuple[Chain, ...] = ()
    targets: frozenset[str] = frozenset()
    texts: tuple[str, ...] = ()
    refused: str = ""
    several: bool = False


def joined(chain: Chain, wanted: Sequence[str], least: int = 1) -> Joined | None:
    """What is wanted, by solving the equations that determine it; None where they do not, or
    where fewer than `least` are left that define nothing.

    The stated facts are first taken to determine prompt and output by themselves, then a context
    alone is read as one.
    """
    if chain.using or not _worth_it(chain, least):
        return None
    first: Joined | None = None
    for reading in _readings(chain):
        try:
            rows = remaining(reading, wanted)
        except Undefined:
            continue
        if sum(not row.defines or row.is_default for row in rows.values()) < least:
            continue  # definitions alone leave nothing to solve for
        for part in _parts(rows):
            found = _by_rows(reading, part, rows, wanted)
            if found is not None and (found.chains or found.several):
                return replace(found, chains=tuple(_as_read(chain, c) for c in found.chains))
            first = first or found
    return first


def _worth_it(chain: Chain, least: int) -> bool:
    """Whether there can be so many equations: the rows of a table are facts, and seldom more."""
    given = chain.scenario.given
    stated = sum(given[name].origin in (YOU, ASKED) for name in chain.equated())
    return stated + len(equal_sides(chain)) + speaks_of_circle(chain) >= least


def _readings(chain: Chain) -> list[Chain]:
    spoken = replace(chain, speaks_of=SPEAKS_OF_CONTEXT)
    return [spoken] if chain.mentioned & SPEAKS_OF_CONTEXT else [spoken, chain]


def _as_read(before: Chain, after: Chain) -> Chain:
    """Where neither prompt nor output was solved for, a context alone is read as it was before."""
    told = after.solved.keys() & SPEAKS_OF_CONTEXT
    return after if told else replace(after, speaks_of=before.speaks_of)


def _parts(rows: Mapping[str, Row]) -> Iterator[Mapping[str, Row]]:
    """The system without its weakest equations, then with them: a step leaves a range, and a
    default gives way to everything that is stated."""
    seen: list[frozenset[str]] = []
    for default, steps in ((False, False), (False, True), (True, False), (True, True)):
        part = {
            key: row
            for key, row in rows.items()
            if (default or not row.is_default) and (steps or not row.is_stepped)
        }
        if part.keys() not in seen:
            seen.append(frozenset(part))
            yield part


def _by_rows(
    chain: Chain,
    rows: Mapping[str, Row],
    all_rows: Mapping[str, Row],
    wanted: Sequence[str],
) -> Joined | None:
    structure = structure_of({key: row.names for key, row in rows.items()})
    blocks = _needed(rows, structure.blocks, _lacking(chain, wanted))
    if not blocks:
        return None
    free = undefined(rows)
    results = [Joined((chain,))]
    for block in blocks:
        results = [
            _merged(result, _solved(rows, block, free, known))
            for result in results
            for known in result.chains
        ]
        refused = [r for r in results if r.refused]
        if refused:
            return refused[0]
        results = [r for r in results if r.chains][:_MOST_POINTS] or results[:1]
        if not results[0].chains:
            return results[0]
    firm = [row for row in all_rows.values() if not row.is_default and not row.defines]
    chains = (_checked(chain, firm) for result in results for chain in result.chains)
    return Joined(
        tuple(chain for chain in chains if chain is not None),
        frozenset[str]().union(*(r.targets for r in results)),
        tuple(dict.fromkeys(text for r in results for text in r.texts)),
    )


def _checked(chain: Chain, rows: Sequence[Row]) -> Chain | None:
    """The chain, unless an equation fails at the solution: the proof by substitution.

    One that was not needed and fails by an assumption of its own only withdraws that, which is
    noted.
    """
    trusted = frozenset[str]().union(*(found.guessed for found in chain.solved.values()))
    forwards = replace(chain, forwards=True)
    notes = []
    for row in rows:
        try:
            left, right, used = row.sides(forwards)
        except (Lacking, Undefined):
            continue
        if not (is_number(left) and is_number(right)) or same(left, right):
            continue
        own = frozenset[str]().union(*(found.guessed for found in used)) - trusted
        if not own:
            return None
        notes.append(f"{row.text} does not go with the assumed {max(own, key=TRUST.index)}")
    if not notes:
        return chain
    return replace(chain, scenario=replace(chain.scenario, notes=(*chain.scenario.notes, *notes)))


def _lacking(chain: Chain, wanted: Iterable[str]) -> list[str]:
    """What has no value forwards; backwards, a lower relation might answer for the system."""
    found = []
    forwards = replace(chain, forwards=True)
    for name in wanted:
        try:
            forwards.value(name)
        except Lacking:
            found.append(name)
    return found


def _needed(rows: Mapping[str, Row], blocks: Sequence[Block], wanted: Iterable[str]) -> list[Block]:
    """The blocks that the wanted unknowns rest on, in order; none where one is not determined."""
    of = {name: block for block in blocks for name in block.unknowns}
    needed: list[Block] = []
    todo = list(wanted)
    while todo:
        name = todo.pop()
        if name not in of:
            return []
        if of[name] not in needed:
            needed.append(of[name])
            todo += [n for key in of[name].equations for n in rows[str(key)].names]
    return [block for block in blocks if block in needed]


def _merged(before: Joined, after: Joined) -> Joined:
    texts = (*before.texts, *after.texts)
    return replace(after, targets=before.targets | after.targets, texts=texts)


def _solved(system: Mapping[str, Row], block: Block, free: frozenset[str], chain: Chain) -> Joined:
    """The chains that know the block's unknowns as well."""
    rows = {str(key): system[str(key)] for key in block.equations}
    torn = _torn(rows, block.unknowns)
    kept = {row.defines for row in rows.values()} & set(block.unknowns) - set(torn)
    residuals = [row for row in rows.values() if row.defines not in kept]
    if not torn:  # only definitions, one after the other: evaluation follows them
        return Joined((chain,))
    if any(_is_withdrawn(chain, name) for name in torn):
        return Joined(refused=f"{', '.join(torn)} would be inferred from assumptions")
    waiting = free - chain.solved.keys()
    work = replace(chain, unknowns=chain.unknowns | waiting | set(torn), forwards=True)
    try:
        sides = [row.sides(work) for row in residuals]
    except (Lacking, Undefined) as trouble:
        return Joined(refused=f"{', '.join(torn)} cannot be solved for: {trouble}")
    quantities = [chain.catalogue.quantities[name] for name in torn]
    result = solve_together([(left, right) for left, right, _ in sides], quantities)
    texts = tuple(row.text for row in residuals)
    if result.refused:
        return Joined(texts=texts, refused=result.refused, several=len(torn) > 1)
    used = [found for _, _, rows_used in sides for found in rows_used]
    targets = frozenset(row.target for row in residuals if row.target)
    pairs = dict(zip(torn, residuals, strict=True))
    points = [p for p in result.points if all(map(is_number, p.values()))]
    chains = tuple(_knowing(chain, point, pairs, used, targets) for point in points)
    return Joined(chains, targets, texts)


def _is_withdrawn(chain: Chain, name: str) -> bool:
    """What has a default value is never inferred from what others are assumed to be."""
    default = chain.catalogue.defaults.get(name)
    return name in chain.withdrawn and default is not None and not default.inputs


def _torn(rows: dict[str, Row], unknowns: Sequence[str]) -> list[str]:
    """The unknowns to solve for: those without a definition, and one in each circle of these."""
    defined = {row.defines: row for row in rows.values() if row.defines in unknowns}
    torn = [name for name in unknowns if name not in defined]
    while True:
        circle = _circle({n: row.names for n, row in defined.items() if n not in torn}, torn)
        if not circle:
            return torn
        torn.append(min(circle, key=lambda name: (not defined[name].is_default, name)))


def _circle(uses: dict[str, frozenset[str]], torn: Sequence[str]) -> list[str]:
    """Quantities each of which is defined by the next; empty where there are none."""
    import networkx

    graph = networkx.DiGraph(
        (other, name)
        for name, names in uses.items()
        for other in names
        if other in uses and other != name and name not in torn
    )
    parts = [sorted(c) for c in networkx.strongly_connected_components(graph) if len(c) > 1]
    return min(parts) if parts else []


def _knowing(
    chain: Chain, point: Point, pairs: dict[str, Row], used: list[Found], targets: frozenset[str]
) -> Chain:
    """The chain with the solution as what has been found."""
    guesses = {row.defines for row in pairs.values() if row.is_default}
    common: dict[str, Any] = {
        "assumed": frozenset[str](guesses).union(*(f.assumed for f in used)),
        "stated": frozenset[str]().union(*(f.stated for f in used)),
        "inferred": frozenset[str]().union(targets, *(f.inferred for f in used)),
        "inputs": tuple(dict.fromkeys(n for f in used for n in f.inputs)),
    }
    solved = {
        name: Found(
            name, value, pairs[name].relation, pairs[name].target or name,
            by=pairs[name].text, **common,
        )
        for name, value in point.items()
    }  # fmt: skip
    return replace(chain, solved={**chain.solved, **solved})
