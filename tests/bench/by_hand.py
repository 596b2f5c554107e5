"""The deployment model as people write it in numpy, and every point of a space tried with it.

It is written from the contract and knows nothing of the product: what the search is measured
against, and what has to find the same. Bytes, seconds, dollars an hour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy

LATENCY, OVERHEAD, MBU, MFU, SHARE, UTILIZATION = 1e-6, 35e-4, 0.8, 0.6, 0.9, 0.7
BYTES = {"bf16": 2.0, "fp8": 1.0, "int4": 0.5 + 16 / 8 / 128, "nvfp4": 0.5 + 8 / 8 / 16}
NAMES = ("gpu", "tp", "pp", "weight_dtype", "kv_dtype", "batch")


@dataclass(frozen=True)
class Work:
    """A dense model, what is asked of it, and the limits."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    head: int
    params: float
    wide: float
    prompt: float
    output: float
    rate: float
    tpot: float
    ttft: float


@dataclass(frozen=True)
class Card:
    """A GPU; `flops` by weight format, `stored` the formats in which it cannot multiply."""

    name: str
    vram: float
    bandwidth: float
    flops: Mapping[str, float]
    stored: frozenset[str]
    domain: int
    inside: float
    outside: float
    price: float


@dataclass(frozen=True)
class Space:
    """Every combination of these, with every batch from 1 on."""

    cards: Sequence[Card]
    tp: Sequence[int]
    pp: Sequence[int]
    weights: Sequence[str]
    caches: Sequence[str]
    batch: int

    @property
    def lists(self) -> tuple[Sequence[Any], ...]:
        """The choices beside the batch."""
        return self.cards, self.tp, self.pp, self.weights, self.caches

    @property
    def size(self) -> int:
        """How many points it has."""
        return prod(map(len, self.lists)) * self.batch


@dataclass(frozen=True)
class Line:
    """What the batch B meets: it needs B `cache` of `room` bytes. With M the larger of B and pp, a
    token takes max(`read` + `read_each` M, `compute` M) + `fixed` + `each` M.
    """

    room: Any
    cache: Any
    read: Any
    read_each: Any
    compute: Any
    fixed: Any
    each: Any
    ttft: Any
    price: Any


def divides(w: Work, tp: int) -> bool:
    """Whether so many GPUs can share the heads."""
    return w.heads % tp == 0 and (w.kv_heads % tp == 0 or tp % w.kv_heads == 0)


def line_of(w: Work, c: Card, tp: int, pp: Any, weight: str, cache: str) -> Line:
    """The line of one choice; `pp` may be an array."""
    share = numpy.ceil(w.layers / pp) / w.layers
    wide = w.wide if weight in c.stored else 0.0
    weights = (BYTES[weight] * (w.params - wide) + 2 * wide) * share / tp
    token = 2 * w.layers * w.kv_heads * w.head * BYTES[cache] * share / min(tp, w.kv_heads)
    attention = 4 * w.heads * w.head
    link = c.inside if tp <= c.domain else c.outside
    hops = 2 * (tp - 1) * 2 * w.layers
    speed = tp * c.flops[weight] * MFU
    flops = 2 * w.params * w.prompt + w.layers * attention * w.prompt**2 / 2
    prefill = flops / speed + hops * (LATENCY + 2 * w.prompt * w.width / tp / link)
    reading = pp * weights / (c.bandwidth * MBU)
    mean = w.prompt + w.output / 2
    sends = numpy.where(pp > 1, 1.0, 0.0)
    return Line(
        room=SHARE * c.vram - min(4e9, c.vram / 10) - weights,
        cache=(w.prompt + w.output) * token,
        read=reading,
        read_each=mean * token / (c.bandwidth * MBU),
        compute=(2 * w.params + w.layers * mean * attention) * share / speed,
        fixed=pp * (OVERHEAD + sends * LATENCY) + hops * LATENCY,
        each=2 * w.width / link * (sends + hops / tp / pp) + prefill / w.output / pp,
        ttft=numpy.maximum(prefill, reading) + OVERHEAD,
        price=tp * pp * c.price,
    )


def costs(w: Work, line: Line, pp: Any, batch: Any, whole: Any) -> Any:
    """Dollars an hour at each batch, infinite where a limit is broken; `whole` are those of the
    grid.
    """
    most = numpy.maximum(batch, pp)
    token = numpy.maximum(line.read + line.read_each * most, line.compute * most)
    token += line.fixed + line.each * most
    replicas = numpy.ceil(w.rate / UTILIZATION * w.output * token / batch)
    good = whole & (batch * line.cache <= line.room) & (token <= w.tpot) & (line.ttft <= w.ttft)
    return numpy.where(good, replicas * line.price, numpy.inf)


def enumerated(w: Work, space: Space) -> tuple[float, dict[str, Any]]:
    """The least cost of all and the first point that has it, chunk by chunk: pp x batch."""
    pp = numpy.array(space.pp, float)[:, None]
    batch = numpy.arange(1.0, space.batch + 1)[None, :]
    whole = (batch <= pp) | (batch % pp == 0)
    best: float = numpy.inf
    point: dict[str, Any] = {}
    for card in space.cards:
        for tp in filter(lambda tp: divides(w, tp), space.tp):
            for weight in space.weights:
                for cache in space.caches:
                    line = line_of(w, card, tp, pp, weight, cache)
                    found = costs(w, line, pp, batch, whole)
                    place = int(found.argmin())
                    if found.flat[place] < best:
                        row, column = divmod(place, space.batch)
                        best = float(found[row, column])
                        choice = (card.name, tp, space.pp[row], weight, cache, column + 1)
                        point = dict(zip(NAMES, choice, strict=True))
    return best, point
