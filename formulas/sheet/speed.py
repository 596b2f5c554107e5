"""Speed: decode is bound by bytes read per step, prefill by FLOPs; the ridge says which applies."""

from __future__ import annotations

from formulas.conditions import dense, one_gpu
from formulas.expressions import smallest
from formulas.formula import formula
from formulas.quantities import FLOP_PER_MULTIPLY_ADD
from formulas.tensors import total

SECTION = "speed"


@formula(
    id="decode_step_bound",
    gives="step_time",
    section=SECTION,
    chapter=6,
    relation=">=",
    kind="model",
    rank=0,
    holds_when="every weight is read once in a step (dense, one GPU)",
    valid=(one_gpu, dense),
    letters={
        "weight_bytes": r"\text{bytes of weights read}",
        "memory_bandwidth": r"\text{memory bandwidth}",
    },
)
def decode_step_bound_time(weight_bytes, memory_bandwidth):
    """No step is faster than reading the weights once."""
    return weight_bytes / memory_bandwidth


@formula(
    id="decode_step_bound",
    gives="sequence_token_rate",
    section=SECTION,
    chapter=6,
    relation="<=",
    kind="model",
    rank=0,
    holds_when="every weight is read once in a step (dense, one GPU)",
    valid=(one_gpu, dense),
    letters={
        "sequence_token_rate": r"\text{tok/s per sequence}",
        "weight_bytes": r"\text{weight bytes}",
        "memory_bandwidth": r"\text{bandwidth}",
    },
)
def decode_step_bound_rate(weight_bytes, memory_bandwidth):
    """No sequence is faster than one token for each reading of the weights."""
    return memory_bandwidth / weight_bytes


@formula(
    id="decode_step_kv",
    gives="step_time",
    section=SECTION,
    chapter=12,
    relation="≈",
    rank=1,
    holds_when="memory-bound decode on one GPU; context is the mean over the batch",
    valid=(one_gpu, dense),
    letters={
        "weight_bytes": r"\text{weight bytes}",
        "kv_bytes_per_token": r"\text{KV bytes/token}",
        "memory_bandwidth": r"\text{memory bandwidth}",
    },
)
def decode_step_kv(weight_bytes, batch, context_tokens, kv_bytes_per_token, memory_bandwidth):
    """The weights are shared by the batch; the cache is read for every sequence."""
    return (weight_bytes + batch * context_tokens * kv_bytes_per_token) / memory_bandwidth


@formula(
    id="decode_step_kv",
    gives="step_time",
    section=SECTION,
    chapter=12,
    relation="≈",
    rank=1,
    only_with=("decode_step_kv.context_lengths",),
    holds_when="memory-bound decode on one GPU; each sequence has its own length",
    valid=(one_gpu, dense),
    letters={
        "weight_bytes": r"\text{weight bytes}",
        "kv_bytes_per_token": r"\text{KV bytes/token}",
        "memory_bandwidth": r"\text{memory bandwidth}",
    },
    variant="sum",
)
def uneven_decode_step(weight_bytes, context_lengths, kv_bytes_per_token, memory_bandwidth):
    """The weights are shared by the batch; each sequence's own cache is read."""
    kv_bytes = total(context_lengths, lambda s: context_lengths[s] * kv_bytes_per_token, index="s")
    return (weight_bytes + kv_bytes) / memory_bandwidth


@formula(
    section=SECTION,
    chapter=8,
    letters={"flops": r"\text{FLOPs performed}", "bytes_moved": r"\text{bytes moved to/from HBM}"},
)
def arithmetic_intensity(flops, bytes_moved):
    """Work for each byte that crosses the memory bus."""
    return flops / bytes_moved


@formula(
    id="roofline",
    gives="attainable_flops",
    section=SECTION,
    chapter=8,
    letters={"attainable_flops": r"\text{attainable FLOP/s}", "memory_bandwidth": "B"},
)
def roofline(peak_flops, memory_bandwidth, arithmetic_intensity):
    """The lower of the compute roof and the memory roof."""
    return smallest(peak_flops, memory_bandwidth * arithmetic_intensity)


@formula(
    id="ridge_point",
    gives="ridge_intensity",
    section=SECTION,
    chapter=8,
    letters={"memory_bandwidth": "B"},
)
def ridge_point(peak_flops, memory_bandwidth):
    """Below it an operation is memory-bound, above it compute-bound."""
    return peak_flops / memory_bandwidth


@formula(
    section=SECTION,
    chapter=8,
    relation="≈",
    cancels=("d_model",),
    holds_when="the weights dominate the bytes moved (batch far below the hidden size)",
    letters={"d_model": "d", "bytes_per_weight": r"\text{bytes per weight}"},
)
def decode_matmul_intensity(batch, d_model, bytes_per_weight):
    """The batch in BF16, twice the batch in FP8; the hidden size cancels."""
    mac = FLOP_PER_MULTIPLY_ADD.symbol
    return mac * batch * d_model**2 / (bytes_per_weight * d_model**2)


@formula(
    section=SECTION,
    chapter=8,
    relation="≈",
    holds_when="decode: every sequence brings its own cache, so the batch does not matter",
    letters={"kv_bytes_per_element": r"\text{bytes per element}"},
)
def decode_attention_intensity(gqa_group_size, kv_bytes_per_element):
    """Query heads that share a KV head use each cached element together."""
    return FLOP_PER_MULTIPLY_ADD.symbol * gqa_group_size / kv_bytes_per_element


@formula(
    id="prefill_flops",
    gives="prefill_flops",
    section=SECTION,
    relation="≈",
    holds_when="prompts short enough that attention over them is small",
    letters={"prefill_flops": r"\text{prefill FLOPs}", "active_params": r"N_\text{params}"},
)
def prefill_work(active_params, prompt_tokens):
    """Work to prefill a prompt, without the quadratic term of attention."""
    return FLOP_PER_MULTIPLY_ADD.symbol * active_params * prompt_tokens


@formula(
    id="prefill_flops",
    gives="prefill_time",
    section=SECTION,
    relation="≈",
    holds_when="compute-bound prefill on one GPU",
    valid=(one_gpu,),
    letters={
        "prefill_time": r"\text{prefill time}",
        "prefill_flops": r"\text{prefill FLOPs}",
        "peak_flops": r"\text{peak FLOPs}",
    },
)
def prefill_time(prefill_flops, peak_flops, mfu):
    """The work over the achieved rate."""
    return prefill_flops / (peak_flops * mfu)


@formula(
    id="utilization",
    gives="mbu",
    section=SECTION,
    letters={
        "achieved_bandwidth": r"\text{achieved bytes/s}",
        "memory_bandwidth": r"\text{peak bandwidth}",
    },
)
def bandwidth_utilization(achieved_bandwidth, memory_bandwidth):
    """Share of the bandwidth that is reached; the measure of decode."""
    return achieved_bandwidth / memory_bandwidth


@formula(
    id="utilization",
    gives="mfu",
    section=SECTION,
    letters={"achieved_flops": r"\text{achieved FLOPs/s}", "peak_flops": r"\text{peak FLOPs}"},
)
def flops_utilization(achieved_flops, peak_flops):
    """Share of the compute rate that is reached; the measure of prefill."""
    return achieved_flops / peak_flops
