"""What is assumed where nobody states it: one-way, shown with every answer that used it.

Mbu, mfu, link_latency and step_overhead were fitted once on public serving measurements of dense
models, with these very relations: the error of TPOT is 0.14 on the 360 rows of known precision.
"""

from __future__ import annotations

from sympy import Rational

from formulas.deployment.cache_defaults import ABSENT, OF_ENGINES
from formulas.deployment.calibrated_defaults import NEUTRAL
from formulas.expressions import smallest
from formulas.formula import assumption
from formulas.quantities import RUNTIME_OVERHEAD_CAP


@assumption
def expert_params():
    """A model is dense where nothing says otherwise."""
    return 0


@assumption
def n_moe_layers():
    """A dense model has no layer with routed experts."""
    return 0


@assumption
def n_experts():
    """A dense model is one expert that every token uses."""
    return 1


@assumption
def experts_per_token():
    """A dense model is one expert that every token uses."""
    return 1


@assumption
def wide_params():
    """Every weight is stored in the same format."""
    return 0


@assumption
def mig_instances():
    """Replicas use whole GPUs."""
    return 0


@assumption
def prefix_hit_rate():
    """No prompt is cached already."""
    return 0


@assumption
def pp():
    """One pipeline stage."""
    return 1


@assumption
def dp():
    """One attention rank."""
    return 1


@assumption
def ep():
    """Experts are sharded by TP."""
    return 1


@assumption
def tp():
    """One GPU, or of N GPUs the largest power of two that the model and the node allow."""
    return 1


@assumption
def bytes_per_weight():
    """Weights in BF16."""
    return 2


@assumption
def kv_bytes_per_element():
    """A cache in BF16."""
    return 2


@assumption
def mean_context_tokens(context_tokens):
    """Only a context was spoken of: every step attends over all of it."""
    return context_tokens


@assumption
def prompt_tokens(context_tokens):
    """Only a context was spoken of: the longest prompt that fits."""
    return context_tokens


@assumption
def prefill_interference():
    """Only a context was spoken of: no prefill of others between the steps."""
    return 0


@assumption
def gpu_memory_utilization():
    """What engines take unless told otherwise."""
    return Rational(90, 100)


@assumption
def runtime_overhead(vram_bytes):
    """The smaller of 4 GB and a tenth of the memory."""
    return smallest(RUNTIME_OVERHEAD_CAP.symbol, vram_bytes / 10)


@assumption
def target_utilization():
    """Headroom of three tenths."""
    return Rational(70, 100)


@assumption
def mbu():
    """Fitted on public measurements."""
    return Rational(80, 100)


@assumption
def mfu():
    """Fitted on public measurements."""
    return Rational(60, 100)


@assumption
def link_latency():
    """Fitted on public measurements: one hop of a ring."""
    return Rational(1, 10**6)


@assumption
def step_overhead():
    """Fitted on public measurements."""
    return Rational(35, 10**4)


@assumption
def batch(requests_in_flight, replicas):
    """The requests in flight, spread over the replicas."""
    return requests_in_flight / replicas


@assumption
def arrival_rate(replica_request_rate, target_utilization):
    """The rate that one replica carries at its target."""
    return replica_request_rate * target_utilization


# The order of trust, the firmest first: where a stated fact and assumptions cannot hold together,
# the last of those that it needs is withdrawn.
DEFAULTS = (
    expert_params,
    n_moe_layers,
    n_experts,
    experts_per_token,
    *ABSENT,
    *NEUTRAL,
    wide_params,
    mig_instances,
    prefix_hit_rate,
    pp,
    dp,
    ep,
    tp,
    bytes_per_weight,
    kv_bytes_per_element,
    *OF_ENGINES,
    mean_context_tokens,
    prompt_tokens,
    prefill_interference,
    gpu_memory_utilization,
    runtime_overhead,
    target_utilization,
    mbu,
    mfu,
    link_latency,
    step_overhead,
    batch,
    arrival_rate,
)
# Only where neither prompt nor output is stated or asked.
OF_CONTEXT_ALONE = (mean_context_tokens, prompt_tokens, prefill_interference)
SPEAKS_OF_CONTEXT = frozenset(("prompt_tokens", "output_tokens"))
# Only for a model without routed experts.
OF_DENSE_MODELS = (n_moe_layers, n_experts, experts_per_token)
# What facts mean that leave it out, rather than a guess: never withdrawn. A model without experts
# is dense, a question of a context alone is read as one.
STRUCTURAL = frozenset(
    row.gives
    for row in (
        expert_params,
        *OF_DENSE_MODELS,
        *ABSENT,
        *NEUTRAL,
        wide_params,
        mig_instances,
        prefix_hit_rate,
        *OF_CONTEXT_ALONE,
    )
)
# The absence of something is not inferred from a result either.
NEVER_INFERRED = frozenset(row.gives for row in ABSENT)
# The absence of something, which nobody would think to state.
SILENT = frozenset(("mig_instances", *(row.gives for row in (*ABSENT, *NEUTRAL))))
