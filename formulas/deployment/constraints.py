"""Constraints that always hold for a deployment that works."""

from __future__ import annotations

from formulas.deployment.engine_constraints import OF_ENGINES, WHERE_STATED
from formulas.expressions import both, either, equal, remainder
from formulas.formula import condition


@condition
def memory(memory_used_per_gpu, memory_budget):
    """What is in use fits in the budget."""
    return memory_used_per_gpu <= memory_budget


@condition
def replica_size(gpus_per_replica, available_gpus):
    """One replica needs no more GPUs than there are."""
    return gpus_per_replica <= available_gpus


@condition
def fleet_size(n_gpus, available_gpus):
    """All replicas need no more GPUs than there are."""
    return n_gpus <= available_gpus


@condition
def max_context(context_tokens, max_position_embeddings):
    """The model was made for contexts up to its own maximum."""
    return context_tokens <= max_position_embeddings


@condition
def expert_parallel(dp, ep, tp):
    """Experts are sharded by TP, or each GPU holds whole experts."""
    return either(both(equal(dp, 1), equal(ep, 1)), equal(ep, tp * dp))


@condition
def dense_parallel(expert_params, dp, ep):
    """A dense model has neither attention ranks nor expert parallelism."""
    return either(expert_params > 0, both(equal(dp, 1), equal(ep, 1)))


@condition
def heads_divide(n_heads, tp):
    """TP divides the query heads."""
    return equal(remainder(n_heads, tp), 0)


@condition
def kv_heads_divide(n_kv_heads, tp):
    """TP divides the KV heads, or replicates them evenly."""
    return either(equal(remainder(n_kv_heads, tp), 0), equal(remainder(tp, n_kv_heads), 0))


@condition
def stages_fit(pp, n_layers):
    """Every pipeline stage has a layer."""
    return pp <= n_layers


@condition
def experts_divide(n_experts, ep):
    """EP divides the experts."""
    return equal(remainder(n_experts, ep), 0)


@condition
def batch_divides(batch, dp, pp):
    """A batch beyond the ranks and stages is split evenly over them."""
    ranks = dp * pp
    return either(equal(ranks, 1), batch <= ranks, equal(remainder(batch, ranks), 0))


@condition
def node_size(tp, dp, node_gpus):
    """One engine stage stays inside one scale-up domain."""
    return tp * dp <= node_gpus


@condition
def mig_single(mig_instances, tp, pp, dp, ep):
    """A replica on a MIG instance is one instance."""
    return either(
        equal(mig_instances, 0), both(equal(tp, 1), equal(pp, 1), equal(dp, 1), equal(ep, 1))
    )


@condition
def batch_limit(batch, max_batch):
    """The engine decodes no more sequences than it is set to."""
    return batch <= max_batch


@condition
def ttft_level(ttft, ttft_slo):
    """The first token meets its service level."""
    return ttft <= ttft_slo


@condition
def tpot_level(tpot, tpot_slo):
    """The following tokens meet their service level."""
    return tpot <= tpot_slo


CONSTRAINTS = (
    memory,
    tpot_level,
    ttft_level,
    max_context,
    replica_size,
    fleet_size,
    node_size,
    heads_divide,
    kv_heads_divide,
    stages_fit,
    experts_divide,
    expert_parallel,
    dense_parallel,
    batch_divides,
    batch_limit,
    mig_single,
    *OF_ENGINES,
)
# Limits that are none where nobody states them.
OPTIONAL = frozenset(
    (
        "ttft_slo",
        "tpot_slo",
        "max_batch",
        "max_position_embeddings",
        "available_gpus",
        *WHERE_STATED,
    )
)
# Not checked where one of these is stated and no batch is spoken of: the engine has set the memory
# aside already, and the batch of a burst is a mean of what it admits.
SUPERSEDED = {
    "memory": frozenset(("kv_cache_bytes_per_gpu", "kv_cache_tokens", "burst_requests")),
    "batch_divides": frozenset(("burst_requests",)),
}
# Checked where its quantity can be derived, and no gap in the answer where it cannot.
WHERE_DERIVED = frozenset(("fleet_size",))
# A largest or smallest is a multiple of these, as the constraint asks where it is beyond them.
GRIDS = {"batch": (batch_divides, ("dp", "pp"))}
# How the parts fit together: true or false, with no room to speak of.
OF_STRUCTURE = frozenset(("replica_size", "node_size", "stages_fit"))
# What TP must meet by itself: the default takes the largest power of two that does.
OF_TP = (heads_divide, kv_heads_divide, node_size, replica_size)
