"""Bursts, against a simulation of continuous batching step by step.

The simulation knows one request after the other: who waits, who prefills which chunk, who decodes,
what the cache holds. Only what a step costs is shared with the formulas: the time of a decode step
at a batch, and of a prompt's prefill.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from derive import Session

# Dense and bound by memory, so that a step costs a fixed part and one for each sequence.
MODEL: dict[str, Any] = {
    "n_layers": 32, "d_model": 4096, "n_heads": 32, "n_kv_heads": 8, "d_head": 128,
    "n_params": 8 * 10**9, "memory_bandwidth": 2 * 10**12, "peak_flops": 10**15, "mbu": 0.8,
    "mfu": 0.5, "tp": 1, "bytes_per_weight": 2, "kv_bytes_per_element": 2,
    "sequence_overhead": 2e-5,
}  # fmt: skip
# Whole batches, whole chunks and chance.
NEAR = 0.06
KINDS = ("alike", "even", "memoryless")


@dataclass(frozen=True)
class Burst:
    requests: int
    prompt: int
    output: int
    max_batch: int
    budget: int
    cache: int

    def facts(self, **more: Any) -> dict[str, Any]:
        return {
            **MODEL, "prompt_tokens": self.prompt, "output_tokens": self.output,
            "burst_requests": self.requests, "max_batch": self.max_batch,
            "max_batched_tokens": self.budget, "kv_cache_tokens": self.cache, **more,
        }  # fmt: skip


@dataclass(frozen=True)
class Costs:
    step: Callable[[int], float]
    prompt_token: float


@dataclass
class Engine:
    """First come, first served; a step decodes, then prefills with what is left of its tokens.

    With `reserve` a sequence is admitted where the cache has room for one of mean length; without,
    where it has room for its prompt, and the last that came is preempted where the cache is full.
    """

    burst: Burst
    costs: Costs
    lengths: Sequence[int]
    reserve: bool
    now: float = 0.0
    waiting: list[int] = field(default_factory=list)
    chunk: list[int] = field(default_factory=list)
    running: list[int] = field(default_factory=list)
    made: list[int] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    last: list[float] = field(default_factory=list)

    def run(self) -> tuple[float, float]:
        """The time until the last token, and the mean over requests of their time per token."""
        count = self.burst.requests
        self.waiting = list(range(count))
        self.made, self.first, self.last = [0] * count, [0.0] * count, [0.0] * count
        while self.waiting or self.chunk or self.running:
            self.advance()
        gaps = [
            (self.last[i] - self.first[i]) / (self.lengths[i] - 1)
            for i in range(count) if self.lengths[i] > 1
        ]  # fmt: skip
        return self.now, statistics.fmean(gaps)

    def advance(self) -> None:
        if not self.reserve:
            while self.held() + len(self.running) > self.burst.cache:
                self.waiting.insert(0, self.running.pop())
        budget, started = self.burst.budget - len(self.running), []
        taken = 0
        while budget > 0 and (self.chunk or self.admits(len(started))):
            if not self.chunk:
                one = self.waiting.pop(0)
                self.chunk = [one, self.burst.prompt + self.made[one]]
            part = min(budget, self.chunk[1])
            self.chunk[1] -= part
            budget, taken = budget - part, taken + part
            if not self.chunk[1]:
                started.append(self.chunk[0])
                self.running.append(self.chunk[0])
                self.chunk = []
        decoding = len(self.running) - len(started)
        self.now += self.costs.step(decoding) if decoding else 0.0
        self.now += taken * self.costs.prompt_token
        for one in self.running:
            self.first[one] = self.first[one] if self.made[one] else self.now
            self.made[one] += 1
            self.last[one] = self.now
        self.running = [one for one in self.running if self.made[one] < self.lengths[one]]

    def held(self) -> int:
        inside = self.running + self.chunk[:1]
        return sum(self.burst.prompt + self.made[one] for one in inside)

    def admits(self, started: int) -> bool:
        if not self.waiting or len(self.running) >= self.burst.max_batch:
            return False
        if self.reserve:
            places = self.burst.cache // (self.burst.prompt + self.burst.output)
            return len(self.running) < max(1, places)
        room = self.burst.cache - self.held() - len(self.running) + started
        return self.burst.prompt + self.made[self.waiting[0]] <= room


def costs_of(burst: Burst) -> Costs:
    """From two batches, between which a step bound by memory is on a line."""

    def ask(find: str, batch: int) -> float:
        facts = {k: v for k, v in burst.facts().items() if k in MODEL or k.endswith("put_tokens")}
        facts |= {"prompt_tokens": burst.prompt, "batch": batch}
        return float(Session(**facts).ask(find).value)

    one, many = ask("step_time", 1), ask("step_time", 33)
    each = (many - one) / 32
    return Costs(lambda n: one + (n - 1) * each, ask("prefill_time", 1) / burst.prompt)


def lengths_of(kind: str, mean: int, count: int, chance: random.Random) -> list[int]:
    if kind == "alike":
        return [mean] * count
    if kind == "even":
        return [chance.randint(2, 2 * mean - 2) for _ in range(count)]
    return [2 + int(chance.expovariate(1 / (mean - 1.5))) for _ in range(count)]


def drawn(seed: int, batches: tuple[int, ...]) -> Burst:
    chance = random.Random(seed)
    requests, batch = chance.choice((80, 150, 300)), chance.choice(batches)
    prompt, output = chance.choice((100, 300, 1000)), chance.choice((60, 120, 200))
    full = min(requests, batch) * (prompt + output)
    cache = chance.choice((2 * full, int(chance.uniform(0.3, 0.8) * full)))
    # The longest output has to fit.
    cache = max(cache, prompt + 15 * output)
    return Burst(requests, prompt, output, batch, chance.choice((512, 2048, 8192)), cache)


def simulated(burst: Burst, costs: Costs, kind: str, reserve: bool) -> tuple[float, float]:
    """The means of several runs: duration and TPOT."""
    chance = random.Random(burst.requests + burst.prompt)
    runs = [
        Engine(burst, costs, lengths_of(kind, burst.output, burst.requests, chance), reserve).run()
        for _ in range(1 if kind == "alike" else 6)
    ]
    return statistics.fmean(r[0] for r in runs), statistics.fmean(r[1] for r in runs)


def near(low: float, value: float, high: float) -> bool:
    return low * (1 - NEAR) <= value <= high * (1 + NEAR)


def answered(burst: Burst, find: str, **more: Any) -> tuple[float, float]:
    found = Session(**burst.facts(**more)).ask(find).to_dict()
    assert found["status"] == "ok", found
    ends = found.get("low", found["value"]), found.get("high", found["value"])
    return float(ends[0]), float(ends[1])


@pytest.mark.parametrize("seed", range(8))
def test_a_simulated_burst_lies_within_the_answer(seed: int) -> None:
    burst = drawn(seed, (16, 64, 256))
    costs = costs_of(burst)
    durations = answered(burst, "burst_duration", reserved_share=1)
    tpots = answered(burst, "burst_tpot", reserved_share=1)
    for kind in KINDS:
        duration, tpot = simulated(burst, costs, kind, reserve=True)
        assert near(durations[0], duration, durations[1]), (kind, durations, duration, burst)
        assert near(tpots[0], tpot, tpots[1]), (kind, tpots, tpot, burst)


@pytest.mark.parametrize("seed", range(6))
def test_preempted_requests_wait_as_long_as_is_answered(seed: int) -> None:
    """Many in a cache, so that their ages are near the mean. What prefilling again costs the whole
    burst is left out, and not compared.
    """
    burst = drawn(seed, (64, 128, 256))
    costs = costs_of(burst)
    least, _ = answered(burst, "burst_duration")
    tpots = answered(burst, "burst_tpot")
    for kind in KINDS:
        duration, tpot = simulated(burst, costs, kind, reserve=False)
        assert near(tpots[0], tpot, tpots[1]), (kind, tpots, tpot, burst)
        assert least * (1 - NEAR) <= duration


def test_throughput_is_all_tokens_over_all_time() -> None:
    burst = Burst(200, 300, 100, 64, 2048, 10**6)
    low, high = answered(burst, "burst_duration", length_variation=1)
    rates = answered(burst, "burst_token_rate", length_variation=1)
    assert rates == pytest.approx((200 * 100 / high, 200 * 100 / low))


def test_one_request_is_served_alone() -> None:
    facts = {**MODEL, "prompt_tokens": 1000, "output_tokens": 100, "max_batch": 8}
    alone = Session(**facts, batch=1)
    steps = float(alone.ask("step_time").value) * 100 + float(alone.ask("prefill_time").value)
    burst = Burst(1, 1000, 100, 8, 8192, 10**5)
    low, high = answered(burst, "burst_duration")
    assert (low, high) == pytest.approx((steps, steps))


def test_many_requests_come_at_the_rate_of_a_full_replica() -> None:
    burst = Burst(10**9, 500, 100, 64, 8192, 10**7)
    low, high = answered(burst, "burst_token_rate")
    steady = Session(
        **{**MODEL, "prompt_tokens": 500, "output_tokens": 100, "batch": 64}
    ).ask("replica_request_rate")  # fmt: skip
    assert (
        low == pytest.approx(high, rel=1e-4) == pytest.approx(100 * float(steady.value), rel=1e-4)
    )


def test_what_is_left_open_is_told_and_can_be_stated() -> None:
    burst = Burst(100, 500, 100, 64, 8192, 10**7)
    told = Session(**burst.facts()).ask("burst_tpot").to_dict()
    assert any("length_variation = 0..1" in note for note in told["notes"])
    stated = (
        Session(**burst.facts(length_variation=1, reserved_share=1)).ask("burst_tpot").to_dict()
    )
    assert stated["kind"] == "exact"
    assert told["low"] < told["high"]
    assert stated["value"] == pytest.approx(told["high"])


def test_how_many_requests_a_time_allows() -> None:
    """The largest burst that is done in time is done in time, and one request more is not."""
    facts = Burst(1, 500, 100, 64, 8192, 10**6).facts(length_variation=1, reserved_share=1)
    del facts["burst_requests"]
    most = Session(**facts).max("burst_requests", given="burst_duration <= 60 s").value
    times = [
        float(Session(**facts, burst_requests=most + more).ask("burst_duration").value)
        for more in (0, 1)
    ]
    assert times[0] <= 60 < times[1]


def test_a_limit_whose_direction_is_not_proved_is_not_called_no_limit() -> None:
    facts = Burst(1, 500, 100, 64, 8192, 10**6).facts(reserved_share=1)
    del facts["burst_requests"]
    found = Session(**facts).max("burst_requests", given="burst_duration <= 60 s").to_dict()
    assert found["status"] == "unproved"
    assert "state one value" in found["message"]
