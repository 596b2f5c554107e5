"""Scaling out: links, collectives, tensor, pipeline and expert parallelism."""

from __future__ import annotations

from formulas.conditions import dense, one_stage
from formulas.formula import formula

SECTION = "scaling"


@formula(
    id="alpha_beta_transfer",
    gives="transfer_time",
    section=SECTION,
    chapter=21,
    holds_when="one message on an idle link; far below alpha beta bytes it is latency-bound",
    letters={"transfer_time": "T(S)"},
)
def alpha_beta_transfer(link_latency, message_bytes, link_bandwidth):
    """A fixed latency, and the bytes at the link's rate."""
    return link_latency + message_bytes / link_bandwidth


@formula(
    id="ring_all_reduce",
    gives="all_reduce_time",
    section=SECTION,
    chapter=21,
    holds_when="ring algorithm, full-duplex links, no reduction inside the switch",
    kind="model",
    letters={"all_reduce_time": r"T_\text{ring}"},
)
def ring_all_reduce(ring_gpus, link_latency, message_bytes, link_bandwidth):
    """Reduce-scatter, then all-gather: N - 1 steps each, moving S/N in every step."""
    return 2 * (ring_gpus - 1) * link_latency + (2 * (ring_gpus - 1) / ring_gpus) * (
        message_bytes / link_bandwidth
    )


@formula(
    id="bus_bandwidth",
    gives="algorithm_bandwidth",
    section=SECTION,
    chapter=21,
    letters={"all_reduce_time": r"\text{time}"},
)
def algorithm_bandwidth(message_bytes, all_reduce_time):
    """Message size over time."""
    return message_bytes / all_reduce_time


@formula(id="bus_bandwidth", gives="bus_bandwidth", section=SECTION, chapter=21)
def bus_bandwidth(algorithm_bandwidth, ring_gpus):
    """The traffic of each GPU's link, which compares directly with the link's bandwidth."""
    return algorithm_bandwidth * (2 * (ring_gpus - 1) / ring_gpus)


@formula(
    id="tp_all_reduces",
    gives="all_reduces_per_step",
    section=SECTION,
    chapter=22,
    holds_when="one after attention and one after the MLP of every layer",
    letters={"all_reduces_per_step": r"\text{all-reduces per decode step}"},
)
def tp_all_reduces(n_layers):
    """All-reduces of one decode step."""
    return 2 * n_layers


@formula(
    id="tp_decode_step",
    gives="step_time",
    section=SECTION,
    chapter=22,
    relation="≈",
    rank=2,
    holds_when="memory-bound decode of a dense model, tensor parallel only",
    valid=(one_stage, dense),
    letters={
        "weight_bytes_read_per_gpu": r"\text{weights}",
        "kv_bytes_read_per_gpu": r"\text{KV read per GPU}",
        "memory_bandwidth": r"\text{HBM bandwidth}",
    },
)
def tp_decode_step(
    weight_bytes_read_per_gpu, kv_bytes_read_per_gpu, memory_bandwidth, n_layers, all_reduce_time
):
    """The GPUs read their shares in parallel, and combine twice in every layer."""
    read = weight_bytes_read_per_gpu + kv_bytes_read_per_gpu
    return read / memory_bandwidth + 2 * n_layers * all_reduce_time


@formula(
    id="pipeline_bubble",
    gives="bubble_fraction",
    section=SECTION,
    chapter=22,
    letters={"bubble_fraction": r"\text{idle fraction}", "pipeline_stages": "P"},
)
def pipeline_bubble(pipeline_stages, micro_batches):
    """Stages wait while the pipeline fills and drains."""
    return (pipeline_stages - 1) / (micro_batches + pipeline_stages - 1)


@formula(
    id="moe_experts_touched",
    gives="experts_touched_fraction",
    section=SECTION,
    chapter=23,
    relation="≈",
    holds_when="uniform routing",
    letters={
        "experts_touched_fraction": r"\text{fraction of experts touched}",
        "experts_per_token": "k",
        "batch": r"\text{batch}",
    },
)
def moe_experts_touched(experts_per_token, n_experts, batch):
    """Share of a layer's experts that at least one token of the batch uses."""
    return 1 - (1 - experts_per_token / n_experts) ** batch


@formula(
    id="kv_transfer",
    gives="kv_transfer_time",
    section=SECTION,
    chapter=24,
    relation="≈",
    letters={
        "kv_bytes_per_token": r"\text{KV bytes/token}",
        "transfer_bandwidth": r"\text{link bandwidth}",
    },
)
def kv_transfer(prompt_tokens, kv_bytes_per_token, transfer_bandwidth):
    """Moving a prompt's cache from a prefill worker to a decode worker."""
    return prompt_tokens * kv_bytes_per_token / transfer_bandwidth
