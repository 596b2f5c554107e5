"""The deployment model once more, from the contract alone, in plain Python.

Nothing here knows sympy or the product. Numbers may be floats or Fractions; with Fractions every
ceiling and floor is exact. A quantity is looked up in the facts first, then computed, then assumed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

Number = Any
Lookup = Callable[[str], Number]

BYTES = {
    "bf16": Fraction(2),
    "fp8": Fraction(1),
    "int8": Fraction(1),
    "int4": Fraction(1, 2) + Fraction(16, 8 * 128),
    "nvfp4": Fraction(1, 2) + Fraction(8, 8 * 16),
    "mxfp4": Fraction(1, 2) + Fraction(8, 8 * 32),
}
CONTEXTS = ("prompt_tokens", "output_tokens", "context_tokens")


class NotKnown(Exception):
    """The facts do not determine the quantity."""


class Model:
    """One deployment: facts, what is asked beside them, and the values that follow.

    `assumed` collects the defaults that any value looked up so far has used.
    """

    def __init__(
        self, facts: Mapping[str, Number], asked: Iterable[str] = (), defaults: bool = True
    ) -> None:
        self.facts = dict(facts)
        self.mentioned = {*facts, *asked}
        self.defaults = defaults
        self.assumed: set[str] = set()
        self._known: dict[str, Number] = {}
        self._busy: set[str] = set()

    def __getitem__(self, name: str) -> Number:
        if name in self.facts:
            return self.facts[name]
        if name in self._known:
            return self._known[name]
        if name in self._busy:
            raise NotKnown(name)
        self._busy.add(name)
        try:
            self._known[name] = self._value(name)
        finally:
            self._busy.discard(name)
        return self._known[name]

    def has(self, name: str) -> bool:
        """Whether the facts and defaults determine the quantity."""
        try:
            self[name]
        except (NotKnown, ZeroDivisionError):
            return False
        return True

    def constraints(self) -> dict[str, bool | None]:
        """Every standing constraint: whether it holds, None where its quantities are not known."""
        found: dict[str, bool | None] = {}
        for name, condition in CONSTRAINTS.items():
            try:
                found[name] = bool(condition(self))
            except (NotKnown, ZeroDivisionError):
                found[name] = None
        return found

    def broken(self) -> set[str]:
        """The names of the standing constraints that do not hold."""
        return {name for name, holds in self.constraints().items() if holds is False}

    @property
    def is_mla(self) -> bool:
        return "kv_lora_rank" in self.facts

    @property
    def context_alone(self) -> bool:
        """Rule (3): neither prompt nor output is stated or asked."""
        return not self.mentioned & {"prompt_tokens", "output_tokens"}

    def _value(self, name: str) -> Number:
        if self.context_alone and name in CONTEXT_ALONE:
            value = CONTEXT_ALONE[name](self)
            self.assumed.add(name)
            return value
        if name in CONTEXTS:
            return self._third_of_contexts(name)
        if name in DERIVED:
            try:
                return DERIVED[name](self)
            except NotKnown:
                if name not in DEFAULTS:
                    raise
        if self.defaults and name in DEFAULTS:
            value = DEFAULTS[name](self)
            self.assumed.add(name)
            return value
        raise NotKnown(name)

    def _third_of_contexts(self, name: str) -> Number:
        known = {other: self.facts[other] for other in CONTEXTS if other in self.facts}
        if len(known) < 2:
            raise NotKnown(name)
        if name == "context_tokens":
            return known["prompt_tokens"] + known["output_tokens"]
        return known["context_tokens"] - sum(v for n, v in known.items() if n != "context_tokens")


def _ceil(value: Number) -> int:
    return math.ceil(value)


def _ring(gpus: Number, latency: Lookup, size: Lookup, bandwidth: Lookup) -> Number:
    """2 (N - 1) steps, each a hop and an N-th of the message; no link is asked for at N = 1."""
    if gpus <= 1:
        return 0
    return 2 * (gpus - 1) * (latency() + size() / gpus / bandwidth())


def _touched(m: Model) -> Number:
    missed = 1 - Fraction(m["experts_per_token"]) / Fraction(m["n_experts"])
    rows = m["micro_batch"] * m["dp"]
    if isinstance(rows, Fraction) and rows.denominator == 1:
        rows = int(rows)
    # Exact powers of a thousand sequences have thousands of digits; a float is good to 1e-16.
    return 1 - float(missed) ** float(rows)


def _all_to_all(m: Model) -> Number:
    if m["dp"] <= 1:
        return 0
    volume = m["micro_batch"] / m["tp"] * m["experts_per_token"] * 2 * m["d_model"]
    return 2 * (m["link_latency"] + (m["ep"] - 1) / m["ep"] * volume / m["link_bandwidth"])


def _step_time(m: Model) -> Number:
    stage = max(m["stage_memory_time"], m["stage_compute_time"])
    total = m["pp"] * (stage + m["stage_send_time"] + m["step_overhead"])
    total += m["all_reduces_per_step"] * m["all_reduce_time"]
    return total + (m["n_moe_layers"] * m["all_to_all_time"] if m["n_moe_layers"] else 0)


def _prefill_flops(m: Model) -> Number:
    new = m["prompt_tokens"] - m["cached_prompt_tokens"]
    pairs = (m["prompt_tokens"] ** 2 - m["cached_prompt_tokens"] ** 2) / 2
    return 2 * m["active_params"] * new + m["n_layers"] * m["attn_flops_prefill"] * pairs


def _prefill_time(m: Model) -> Number:
    compute = m["prefill_flops"] / (m["tp"] * m["peak_flops"] * m["mfu"])
    return compute + 2 * m["n_layers"] * m["prefill_all_reduce_time"]


def _ttft(m: Model) -> Number:
    reading = m["pp"] * m["weight_bytes_per_gpu"] / (m["memory_bandwidth"] * m["mbu"])
    return max(m["prefill_time"], reading) + m["step_overhead"]


def _max_sequences(m: Model) -> Number:
    room = m["memory_budget"] - m["weight_bytes_per_gpu"] - m["runtime_overhead"]
    one = m["context_tokens"] * m["kv_bytes_per_token_per_gpu"]
    return max(0, math.floor(room / one)) * m["dp"]


def _n_gpus(m: Model) -> Number:
    if "mig_instances" in m.facts:
        return _ceil(Fraction(m["replicas"]) / m["mig_instances"])
    return m["replicas"] * m["gpus_per_replica"]


def _attn_decode(m: Model) -> Number:
    if m.is_mla:
        return 2 * m["n_heads"] * (2 * m["kv_lora_rank"] + m["qk_rope_head_dim"])
    return 4 * m["n_heads"] * m["d_head"]


def _attn_prefill(m: Model) -> Number:
    if m.is_mla:
        width = m["qk_nope_head_dim"] + m["qk_rope_head_dim"] + m["v_head_dim"]
        return 2 * m["n_heads"] * width
    return 4 * m["n_heads"] * m["d_head"]


def _kv_elements(m: Model) -> Number:
    if m.is_mla:
        return m["n_layers"] * (m["kv_lora_rank"] + m["qk_rope_head_dim"])
    return 2 * m["n_layers"] * m["n_kv_heads"] * m["d_head"]


def _service_time(m: Model) -> Number:
    return m["output_tokens"] * m["step_time"] + m["micro_batch"] * m["prefill_time"]


DERIVED: Mapping[str, Callable[[Model], Number]] = {
    "gpus_per_replica": lambda m: m["tp"] * m["dp"] * m["pp"],
    "stage_share": lambda m: Fraction(_ceil(Fraction(m["n_layers"]) / m["pp"])) / m["n_layers"],
    "memory_budget": lambda m: m["gpu_memory_utilization"] * m["vram_bytes"],
    "kv_elements_per_token": _kv_elements,
    "kv_bytes_per_token": lambda m: m["kv_elements_per_token"] * m["kv_bytes_per_element"],
    "kv_bytes_per_token_per_gpu": lambda m: (
        m["kv_bytes_per_token"] * m["stage_share"] / min(m["tp"], m["n_kv_heads"])
    ),
    "weight_bytes": lambda m: (
        m["bytes_per_weight"] * (m["n_params"] - m["wide_params"]) + 2 * m["wide_params"]
    ),
    "expert_weight_bytes": lambda m: m["bytes_per_weight"] * m["expert_params"],
    "dense_bytes_per_gpu": lambda m: (
        (m["weight_bytes"] - m["expert_weight_bytes"]) * m["stage_share"] / m["tp"]
    ),
    "expert_bytes_per_gpu": lambda m: (
        m["expert_weight_bytes"] * m["stage_share"] / (m["tp"] * m["dp"])
    ),
    "weight_bytes_per_gpu": lambda m: m["dense_bytes_per_gpu"] + m["expert_bytes_per_gpu"],
    "mean_context_tokens": lambda m: m["prompt_tokens"] + m["output_tokens"] / Fraction(2),
    "kv_bytes_per_gpu": lambda m: (
        m["batch"] / Fraction(m["dp"]) * m["context_tokens"] * m["kv_bytes_per_token_per_gpu"]
    ),
    "memory_used_per_gpu": lambda m: (
        m["weight_bytes_per_gpu"] + m["kv_bytes_per_gpu"] + m["runtime_overhead"]
    ),
    "micro_batch": lambda m: max(1, m["batch"] / Fraction(m["dp"] * m["pp"])),
    "experts_touched_fraction": _touched,
    "weight_bytes_read_per_gpu": lambda m: (
        m["dense_bytes_per_gpu"] + m["experts_touched_fraction"] * m["expert_bytes_per_gpu"]
    ),
    "kv_bytes_read_per_gpu": lambda m: (
        m["micro_batch"] * m["mean_context_tokens"] * m["kv_bytes_per_token_per_gpu"]
    ),
    "attn_flops_decode": _attn_decode,
    "attn_flops_prefill": _attn_prefill,
    "flops_per_token": lambda m: (
        2 * m["active_params"] + m["n_layers"] * m["mean_context_tokens"] * m["attn_flops_decode"]
    ),
    "stage_memory_time": lambda m: (
        (m["weight_bytes_read_per_gpu"] + m["kv_bytes_read_per_gpu"])
        / (m["memory_bandwidth"] * m["mbu"])
    ),
    "stage_compute_time": lambda m: (
        m["micro_batch"]
        * m["flops_per_token"]
        * m["stage_share"]
        / (m["tp"] * m["peak_flops"] * m["mfu"])
    ),
    "message_bytes": lambda m: 2 * m["micro_batch"] * m["d_model"],
    "all_reduce_time": lambda m: _ring(
        m["tp"], lambda: m["link_latency"], lambda: m["message_bytes"], lambda: m["link_bandwidth"]
    ),
    "all_reduces_per_step": lambda m: 2 * m["n_layers"] - (m["n_moe_layers"] if m["dp"] > 1 else 0),
    "all_to_all_time": _all_to_all,
    "stage_send_time": lambda m: (
        m["link_latency"] + m["message_bytes"] / m["link_bandwidth"] if m["pp"] > 1 else 0
    ),
    "step_time": _step_time,
    "cached_prompt_tokens": lambda m: m["prefix_hit_rate"] * m["prompt_tokens"],
    "prefill_flops": _prefill_flops,
    "prefill_all_reduce_time": lambda m: _ring(
        m["tp"],
        lambda: m["link_latency"],
        lambda: 2 * (m["prompt_tokens"] - m["cached_prompt_tokens"]) * m["d_model"],
        lambda: m["link_bandwidth"],
    ),
    "prefill_time": _prefill_time,
    "ttft": _ttft,
    "prefill_interference": lambda m: m["micro_batch"] * m["prefill_time"] / m["output_tokens"],
    "tpot": lambda m: m["step_time"] + m["prefill_interference"],
    "itl": lambda m: m["tpot"],
    "e2e_latency": lambda m: m["ttft"] + (m["output_tokens"] - 1) * m["tpot"],
    "time_in_system": lambda m: m["e2e_latency"],
    "replica_request_rate": lambda m: 1 / (_service_time(m) / m["batch"]),
    "replicas": lambda m: _ceil(
        m["arrival_rate"] / (m["replica_request_rate"] * m["target_utilization"])
    ),
    "n_gpus": _n_gpus,
    "cost_per_hour": lambda m: m["n_gpus"] * m["price_per_gpu_hour"],
    "output_token_rate": lambda m: m["arrival_rate"] * m["output_tokens"],
    "cost_per_million_tokens": lambda m: (
        m["cost_per_hour"] / (m["output_token_rate"] * 3600 / Fraction(10**6))
    ),
    "decode_concurrency": lambda m: m["arrival_rate"] * m["output_tokens"] * m["itl"],
    "max_sequences": _max_sequences,
}

CONTEXT_ALONE: Mapping[str, Callable[[Model], Number]] = {
    "mean_context_tokens": lambda m: m["context_tokens"],
    "prompt_tokens": lambda m: m["context_tokens"],
    "prefill_interference": lambda _: 0,
}


def _only_dense(value: Callable[[Model], Number]) -> Callable[[Model], Number]:
    def default(m: Model) -> Number:
        if m["expert_params"] != 0:
            raise NotKnown("a mixture of experts has its own")
        return value(m)

    return default


DEFAULTS: Mapping[str, Callable[[Model], Number]] = {
    "expert_params": lambda _: 0,
    "n_moe_layers": _only_dense(lambda _: 0),
    "n_experts": _only_dense(lambda _: 1),
    "experts_per_token": _only_dense(lambda _: 1),
    "active_params": _only_dense(lambda m: m["n_params"]),
    "wide_params": lambda _: 0,
    "tp": lambda _: 1,
    "pp": lambda _: 1,
    "dp": lambda _: 1,
    "ep": lambda _: 1,
    "bytes_per_weight": lambda _: 2,
    "kv_bytes_per_element": lambda _: 2,
    "prefix_hit_rate": lambda _: 0,
    "gpu_memory_utilization": lambda _: Fraction(9, 10),
    "mbu": lambda _: Fraction(8, 10),
    "mfu": lambda _: Fraction(6, 10),
    "link_latency": lambda _: Fraction(1, 10**6),
    "step_overhead": lambda _: Fraction(35, 10**4),
    "runtime_overhead": lambda m: min(4 * 10**9, m["vram_bytes"] / Fraction(10)),
    "target_utilization": lambda _: Fraction(7, 10),
    "arrival_rate": lambda m: m["replica_request_rate"] * m["target_utilization"],
    "batch": lambda m: m["requests_in_flight"] / Fraction(m["replicas"]),
}

CONSTRAINTS: Mapping[str, Callable[[Model], bool]] = {
    "memory": lambda m: m["memory_used_per_gpu"] <= m["memory_budget"],
    "replica_size": lambda m: m["gpus_per_replica"] <= m["available_gpus"],
    "fleet_size": lambda m: m["n_gpus"] <= m["available_gpus"],
    "max_context": lambda m: m["context_tokens"] <= m["max_position_embeddings"],
    "expert_parallel": lambda m: m["dp"] == m["ep"] == 1 or m["ep"] == m["tp"] * m["dp"],
    "dense_parallel": lambda m: m["expert_params"] > 0 or m["dp"] == m["ep"] == 1,
    "heads_divide": lambda m: m["n_heads"] % m["tp"] == 0,
    "kv_heads_divide": lambda m: m["n_kv_heads"] % m["tp"] == 0 or m["tp"] % m["n_kv_heads"] == 0,
    "stages_fit": lambda m: m["pp"] <= m["n_layers"],
    "experts_divide": lambda m: m["n_experts"] % m["ep"] == 0,
    "batch_divides": lambda m: (
        m["batch"] <= m["dp"] * m["pp"] or m["batch"] % (m["dp"] * m["pp"]) == 0
    ),
    "node_size": lambda m: m["tp"] * m["dp"] <= m["node_gpus"],
    "batch_limit": lambda m: m["batch"] <= m["max_batch"],
    "ttft_level": lambda m: m["ttft"] <= m["ttft_slo"],
    "tpot_level": lambda m: m["tpot"] <= m["tpot_slo"],
    "mig_single": lambda m: (
        m.facts.get("mig_instances", 0) == 0 or m["tp"] == m["pp"] == m["dp"] == m["ep"] == 1
    ),
}


def largest_tp(available: int, facts: Mapping[str, Number]) -> int:
    """The assumed tp of N GPUs: the largest power of two that every constraint on tp allows."""
    best, candidate = 1, 1
    while candidate <= min(available, facts.get("node_gpus", available)):
        trial = Model({**facts, "tp": candidate, "available_gpus": available})
        names = ("heads_divide", "kv_heads_divide", "node_size", "replica_size")
        if not trial.broken() & set(names):
            best = candidate
        candidate *= 2
    return best
