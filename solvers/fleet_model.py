"""A fleet, whatever solves it: pools of GPUs, workloads with their options, and where they go.

All of it is plain frozen data: an option of a workload is a number of replicas, each of so many
whole GPUs of one pool or of one MIG instance. Prices are exact, in USD for one GPU and hour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any


@dataclass(frozen=True, slots=True)
class Profile:
    """One way to cut a GPU: an instance begins at one of `starts` and takes `size` units of memory
    and `slices` of compute; at most `most` fit on one GPU.

    The media engines are one set: of profiles with `media` one instance fits.
    """

    name: str
    starts: tuple[int, ...]
    size: int
    slices: int
    most: int
    media: bool = False


@dataclass(frozen=True, slots=True)
class Pool:
    """Nodes of one kind: how many, the GPUs of each, their price, and how their GPUs are cut."""

    name: str
    nodes: int
    node_gpus: int
    price: Fraction
    gpu: str = ""
    profiles: tuple[Profile, ...] = ()
    units: int = 0
    slices: int = 0

    @property
    def gpus(self) -> int:
        """All GPUs of the pool."""
        return self.nodes * self.node_gpus

    def profile(self, name: str) -> Profile:
        """The profile of that name."""
        return next(profile for profile in self.profiles if profile.name == name)


@dataclass(frozen=True, slots=True)
class Option:
    """One way to serve a workload: replicas of `gpus` whole GPUs each, or of one MIG instance.

    `about` is what the option stands for; no solver looks at it.
    """

    pool: str
    replicas: int
    gpus: int = 0
    profile: str = ""
    about: Any = field(default=None, compare=False)

    @property
    def whole_gpus(self) -> int:
        """The whole GPUs of all its replicas; 0 for instances."""
        return self.replicas * self.gpus


@dataclass(frozen=True, slots=True)
class Workload:
    """One workload; exactly one of its options is to be taken."""

    name: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Fleet:
    """Everything that is to be placed, and where; `budget` is in USD/h, None for none."""

    pools: tuple[Pool, ...]
    workloads: tuple[Workload, ...]
    budget: Fraction | None = None

    def pool(self, name: str) -> Pool:
        """The pool of that name."""
        return next(pool for pool in self.pools if pool.name == name)


@dataclass(frozen=True, slots=True)
class Instance:
    """A MIG instance on a GPU: whose it is, its profile and its first unit of memory."""

    workload: str
    profile: str
    start: int


@dataclass(frozen=True, slots=True)
class Node:
    """What stands on one node: whole replicas as (workload, GPUs), and the GPUs that are cut."""

    pool: str
    whole: tuple[tuple[str, int], ...] = ()
    cut: tuple[tuple[Instance, ...], ...] = ()

    @property
    def gpus(self) -> int:
        """The GPUs in use."""
        return sum(gpus for _, gpus in self.whole) + len(self.cut)


@dataclass(frozen=True, slots=True)
class Placed:
    """An option for every workload, and every replica of it on a node; what it costs in USD/h."""

    choice: Mapping[str, Option]
    nodes: tuple[Node, ...]
    cost: Fraction

    def gpus(self, pools: Iterable[str]) -> int:
        """The GPUs in use in these pools."""
        names = set(pools)
        return sum(node.gpus for node in self.nodes if node.pool in names)
