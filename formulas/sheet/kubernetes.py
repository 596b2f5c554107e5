"""Running on Kubernetes: getting weights into memory, and the signals worth knowing."""

from __future__ import annotations

from formulas.formula import formula

SECTION = "kubernetes"


@formula(
    id="weight_load_time",
    gives="weight_load_time",
    section=SECTION,
    chapter=36,
    relation="≈",
    letters={
        "weight_load_time": r"t_\text{load}",
        "checkpoint_bytes": r"\text{checkpoint bytes}",
        "replica_bandwidth": r"\text{bandwidth per replica}",
    },
)
def weight_load_time(checkpoint_bytes, replica_bandwidth):
    """The checkpoint at the bandwidth that one replica gets."""
    return checkpoint_bytes / replica_bandwidth


@formula(
    id="weight_load_time",
    gives="replica_bandwidth",
    section=SECTION,
    chapter=36,
    holds_when="a shared source (hub, gateway, file server) splits its bandwidth evenly",
    letters={
        "replica_bandwidth": r"\text{bandwidth per replica}",
        "source_bandwidth": r"\text{shared source bandwidth}",
        "replicas_starting": r"\text{replicas starting together}",
    },
)
def replica_bandwidth(source_bandwidth, replicas_starting):
    """Replicas that start together share the source."""
    return source_bandwidth / replicas_starting


@formula(
    id="startup_probe_budget",
    gives="probe_ok",
    section=SECTION,
    chapter=28,
    relation=">",
    holds_when="readiness passes only after warm-up",
    letters={
        "download_time": r"\text{worst-case download}",
        "load_time": r"\text{load}",
        "compile_time": r"\text{compile time}",
    },
)
def startup_probe_budget(failure_threshold, probe_period, download_time, load_time, compile_time):
    """The probe must wait longer than the slowest start."""
    return failure_threshold * probe_period > download_time + load_time + compile_time


@formula(
    section=SECTION,
    chapter=37,
    letters={
        "prefix_hit_rate": r"\text{prefix hit rate}",
        "prefix_hits_rate": r"\text{rate of prefix cache hits}",
        "prefix_queries_rate": r"\text{rate of prefix cache queries}",
    },
)
def prefix_hit_rate(prefix_hits_rate, prefix_queries_rate):
    """A sudden drop means more prefill for every request."""
    return prefix_hits_rate / prefix_queries_rate
