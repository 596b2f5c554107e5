"""Solutions put on nodes, piece by piece, and checked exactly without the solver's program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from solvers.fleet_model import Fleet, Instance, Node, Option, Placed, Pool
from solvers.fleet_program import Column, Program


class Wrong(Exception):
    """What a solver gave is no solution; the text says where."""


def placed(fleet: Fleet, program: Program, values: Sequence[int]) -> Placed:
    """The solution on nodes, verified; Wrong where it is none.

    GPUs that a pattern cuts and that stay empty are left out, so the cost may be less than the
    solver's.
    """
    by_name = dict(zip(program.columns, values, strict=True))
    choice: dict[str, Option] = {}
    for workload in fleet.workloads:
        taken = [
            option
            for index, option in enumerate(workload.options)
            if by_name["option", workload.name, str(index)]
        ]
        if len(taken) != 1:
            raise Wrong(f"{workload.name} has {len(taken)} configurations")
        choice[workload.name] = taken[0]
    nodes = tuple(n for pool in fleet.pools for n in _nodes(pool, program, by_name, choice))
    cost = sum((fleet.pool(node.pool).price * node.gpus for node in nodes), Fraction(0))
    found = Placed(choice, nodes, cost)
    verify(fleet, found)
    return found


def _nodes(
    pool: Pool,
    program: Program,
    by_name: Mapping[Column, int],
    choice: Mapping[str, Option],
) -> list[Node]:
    """The nodes of one pool that hold anything."""
    here = {name: option for name, option in choice.items() if option.pool == pool.name}
    cut = _instances(pool, program, by_name, here)
    wholes = [
        (name, option.gpus)
        for name, option in here.items()
        if option.gpus
        for _ in range(option.replicas)
    ]
    # Largest first fills nodes without gaps where sizes divide each other; else patterns say how.
    pieces = sorted(wholes, key=lambda piece: -piece[1])
    room = _rooms(pool, program, by_name)
    whole: list[list[tuple[str, int]]] = [[] for _ in room]
    cuts: list[list[tuple[Instance, ...]]] = [[] for _ in room]
    for piece in pieces:
        place = _place(pool, room, piece[1])
        whole[place].append(piece)
    for gpu in cut:
        cuts[_place(pool, room, 1)].append(gpu)
    rows = zip(whole, cuts, strict=True)
    return [Node(pool.name, tuple(w), tuple(c)) for w, c in rows if w or c]


def _rooms(pool: Pool, program: Program, by_name: Mapping[Column, int]) -> list[dict[int, int]]:
    """For each node how many pieces of each size it takes; of size 0: GPUs for any pieces."""
    if pool.name not in program.fillings:
        return [{0: pool.node_gpus} for _ in range(pool.nodes)]
    sizes, fillings = program.fillings[pool.name]
    return [
        dict(zip(sizes, filling, strict=True))
        for index, filling in enumerate(fillings)
        for _ in range(by_name["fill", pool.name, str(index)])
    ]


def _place(pool: Pool, room: list[dict[int, int]], size: int) -> int:
    """The first node that has room for a piece of that size, from now on without it."""
    for place, left in enumerate(room):
        if left.get(size, 0) > 0:
            left[size] -= 1
            return place
        if left.get(0, 0) >= size:
            left[0] -= size
            return place
    raise Wrong(f"no node of {pool.name} has room for {size} GPUs")


def _instances(
    pool: Pool,
    program: Program,
    by_name: Mapping[Column, int],
    here: Mapping[str, Option],
) -> list[tuple[Instance, ...]]:
    """The GPUs that are cut, each with the instances on it; empty ones are left out."""
    waiting = {
        profile: [
            name
            for name, option in here.items()
            if option.profile == profile
            for _ in range(option.replicas)
        ]
        for profile in {option.profile for option in here.values() if option.profile}
    }
    _, cuts = program.cuts[pool.name]
    gpus = []
    for index, cut in enumerate(cuts):
        for _ in range(by_name["cut", pool.name, str(index)]):
            gpu = tuple(
                Instance(waiting[profile].pop(0), profile, start)
                for profile, start in cut.places
                if waiting.get(profile)
            )
            gpus += [gpu] if gpu else []
    left = [name for names in waiting.values() for name in names]
    if left:
        raise Wrong(f"{len(left)} instances in {pool.name} have no place")
    return gpus


def verify(fleet: Fleet, found: Placed) -> None:
    """Nothing where every replica stands where it may and the cost is exact; else Wrong."""
    for workload in fleet.workloads:
        option = found.choice[workload.name]
        if option not in workload.options:
            raise Wrong(f"{workload.name} has an option that is none of its own")
        standing = _standing(found.nodes, workload.name, option)
        if standing != option.replicas:
            raise Wrong(f"{workload.name} has {standing} of {option.replicas} replicas")
    for pool in fleet.pools:
        nodes = [node for node in found.nodes if node.pool == pool.name]
        if len(nodes) > pool.nodes:
            raise Wrong(f"{pool.name} has {pool.nodes} nodes, {len(nodes)} are in use")
        for node in nodes:
            if node.gpus > pool.node_gpus:
                raise Wrong(f"a node of {pool.name} has {pool.node_gpus} GPUs, not {node.gpus}")
            for gpu in node.cut:
                _verify_cut(pool, gpu)
    cost = sum((fleet.pool(node.pool).price * node.gpus for node in found.nodes), Fraction(0))
    if cost != found.cost:
        raise Wrong(f"the cost is {cost}, not {found.cost}")
    if fleet.budget is not None and cost > fleet.budget:
        raise Wrong(f"the cost {cost} is above the budget {fleet.budget}")


def _standing(nodes: Sequence[Node], name: str, option: Option) -> int:
    """The replicas of a workload that stand where its option says, each of the right size."""
    mine = [node for node in nodes if node.pool == option.pool]
    whole = sum(piece == (name, option.gpus) for node in mine for piece in node.whole)
    instances = [row for node in mine for gpu in node.cut for row in gpu if row.workload == name]
    if option.gpus:
        return whole
    return sum(row.profile == option.profile for row in instances)


def _verify_cut(pool: Pool, gpu: Sequence[Instance]) -> None:
    """Nothing where the instances stand on the GPU without touching each other; else Wrong."""
    profiles = [pool.profile(row.profile) for row in gpu]
    taken: set[int] = set()
    for row, profile in zip(gpu, profiles, strict=True):
        units = set(range(row.start, row.start + profile.size))
        if row.start not in profile.starts or max(units) >= pool.units or units & taken:
            raise Wrong(f"{row.profile} cannot begin at {row.start} on a GPU of {pool.name}")
        taken |= units
        if sum(other.profile == row.profile for other in gpu) > profile.most:
            raise Wrong(f"more than {profile.most} of {row.profile} on one GPU")
    if sum(profile.slices for profile in profiles) > pool.slices:
        raise Wrong(f"more than {pool.slices} compute slices on a GPU of {pool.name}")
    if sum(profile.media for profile in profiles) > 1:
        raise Wrong("more than one instance with media engines on a GPU")
