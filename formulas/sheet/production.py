"""Production: from service levels and traffic to replicas and cost per million tokens."""

from __future__ import annotations

from formulas.conditions import one_gpu
from formulas.expressions import both, ceiling, where
from formulas.formula import formula
from formulas.quantities import SECONDS_PER_HOUR, TOKENS_PER_MILLION
from formulas.tensors import total

SECTION = "production"


@formula(
    section=SECTION,
    chapter=25,
    holds_when="at least two output tokens; the mean of one request",
    same_as="e2e_latency",
)
def tpot(e2e_latency, ttft, output_tokens):
    """The time after the first token, spread over the tokens that follow it."""
    return (e2e_latency - ttft) / (output_tokens - 1)


@formula(
    section=SECTION,
    chapter=25,
    relation="≈",
    kind="identity",
    holds_when="at least two output tokens",
    same_as="tpot",
)
def e2e_latency(ttft, output_tokens, tpot):
    """The first token, then one TPOT for each that follows."""
    return ttft + (output_tokens - 1) * tpot


@formula(
    section=SECTION,
    holds_when="counted over one window; capacity is the knee of this curve, not peak throughput",
)
def goodput(request_ttfts, request_tpots, ttft_slo, tpot_slo, time_window):
    """Requests per second that met every service level."""
    met = total(
        request_ttfts,
        lambda j: where(both(request_ttfts[j] <= ttft_slo, request_tpots[j] <= tpot_slo), 1),
    )
    return met / time_window


@formula(
    id="littles_law",
    gives="requests_in_flight",
    section=SECTION,
    holds_when="a stable system, over a long time",
    letters={"time_in_system": "W"},
)
def littles_law(arrival_rate, time_in_system):
    """Requests inside are the arrival rate times the time that each stays."""
    return arrival_rate * time_in_system


@formula(
    section=SECTION,
    chapter=29,
    kind="model",
    holds_when="one replica is one GPU, always busy; the batch is capped by memory and TPOT",
    valid=(one_gpu,),
    letters={"step_time": r"t_\text{step}(B)", "batch": "B"},
)
def replica_request_rate(output_tokens, step_time, batch, prefill_time):
    """A request costs its share of its decode steps, and its own prefill."""
    return 1 / (output_tokens * step_time / batch + prefill_time)


@formula(
    section=SECTION,
    letters={"replicas": r"\text{replicas}", "target_utilization": r"\text{target utilisation}"},
)
def replicas(arrival_rate, replica_request_rate, target_utilization):
    """Whole replicas that carry the peak rate with headroom."""
    return ceiling(arrival_rate / (replica_request_rate * target_utilization))


@formula(
    section=SECTION,
    chapter=29,
    letters={
        "cost_per_million_tokens": r"\text{cost per M tokens}",
        "n_gpus": r"\text{GPUs}",
        "price_per_gpu_hour": r"\text{price per GPU-hour}",
        "output_token_rate": r"\text{output tokens per second}",
    },
)
def cost_per_million_tokens(n_gpus, price_per_gpu_hour, output_token_rate):
    """What the GPUs cost in an hour, over the tokens of that hour in millions."""
    per_hour = output_token_rate * SECONDS_PER_HOUR.symbol
    return n_gpus * price_per_gpu_hour / (per_hour / TOKENS_PER_MILLION.symbol)
