"""One decode step: what is read, computed and sent."""

from __future__ import annotations

from formulas.conditions import uniform_cache
from formulas.expressions import largest, where
from formulas.formula import definition
from formulas.quantities import (
    ACTIVATION_BYTES,
    FLOP_PER_ATTENDED_ELEMENT,
    FLOP_PER_MLA_ELEMENT,
    FLOP_PER_MULTIPLY_ADD,
)
from formulas.sheet.scaling import alpha_beta_transfer, moe_experts_touched, ring_all_reduce


@definition()
def link_bandwidth(tp, dp, scale_up_domain_gpus, scale_up_bandwidth, pcie_bandwidth):
    """The scale-up link where its domain holds the GPUs of one stage, else the PCIe slot."""
    return where(tp * dp <= scale_up_domain_gpus, scale_up_bandwidth, pcie_bandwidth)


@definition()
def micro_batch(batch, dp, pp):
    """Sequences of one rank in one stage at a time."""
    return largest(1, batch / (dp * pp))


@definition(kind="model")
def experts_touched_fraction(experts_per_token, n_experts, micro_batch, dp):
    """Share of a layer's experts that a step reads, over all ranks."""
    return moe_experts_touched(experts_per_token, n_experts, micro_batch * dp)


@definition()
def weight_bytes_read_per_gpu(dense_bytes_per_gpu, experts_touched_fraction, expert_bytes_per_gpu):
    """Weight bytes that each GPU reads in a step."""
    return dense_bytes_per_gpu + experts_touched_fraction * expert_bytes_per_gpu


@definition()
def kv_bytes_read_per_gpu(micro_batch, mean_context_tokens, kv_bytes_per_token_per_gpu):
    """Cache bytes that each GPU reads in a step."""
    return micro_batch * mean_context_tokens * kv_bytes_per_token_per_gpu


@definition(valid=(uniform_cache,), unless=("kv_lora_rank",))
def attn_flops_decode(n_heads, d_head):
    """Attention work per layer and cached token."""
    return FLOP_PER_ATTENDED_ELEMENT.symbol * n_heads * d_head


@definition(
    id="deployment.attn_flops_decode.mla",
    gives="attn_flops_decode",
    valid=(uniform_cache,),
    only_with=("kv_lora_rank",),
)
def attn_flops_decode_mla(n_heads, kv_lora_rank, qk_rope_head_dim):
    """Attention work per layer and cached token, over the compressed latent."""
    return FLOP_PER_MLA_ELEMENT.symbol * n_heads * (2 * kv_lora_rank + qk_rope_head_dim)


@definition(kind="model")
def flops_per_token(active_params, n_layers, mean_context_tokens, attn_flops_decode):
    """Work to decode one token at the mean context."""
    weights = FLOP_PER_MULTIPLY_ADD.symbol * active_params
    return weights + n_layers * mean_context_tokens * attn_flops_decode


@definition(kind="model")
def stage_memory_time(weight_bytes_read_per_gpu, kv_bytes_read_per_gpu, memory_bandwidth, mbu):
    """Time that one stage reads memory in a step."""
    return (weight_bytes_read_per_gpu + kv_bytes_read_per_gpu) / (memory_bandwidth * mbu)


@definition(kind="model")
def stage_compute_time(micro_batch, flops_per_token, stage_share, tp, peak_flops, mfu):
    """Time that one stage computes in a step."""
    return micro_batch * flops_per_token * stage_share / (tp * peak_flops * mfu)


@definition()
def message_bytes(micro_batch, d_model):
    """Size of one all-reduce: an activation for every sequence of the micro-batch."""
    return ACTIVATION_BYTES.symbol * micro_batch * d_model


# Where a ring is stated, the sheet's own line is meant.
@definition(kind="model", unless=("ring_gpus",))
def all_reduce_time(tp, link_latency, message_bytes, link_bandwidth):
    """Ring all-reduce with ring_gpus = tp; nothing at TP 1."""
    return where(tp > 1, ring_all_reduce(tp, link_latency, message_bytes, link_bandwidth))


@definition()
def all_reduces_per_step(n_layers, dp, n_moe_layers):
    """Two in every layer; with several ranks the experts exchange tokens instead."""
    return 2 * n_layers - where(dp > 1, n_moe_layers)


@definition(
    kind="model",
    holds_when="several ranks, an upper bound on the volume; one rank replicates tokens over TP",
)
def all_to_all_time(
    dp, ep, tp, link_latency, micro_batch, experts_per_token, d_model, link_bandwidth
):
    """Sending tokens to their experts and back, in one layer."""
    volume = (micro_batch / tp) * experts_per_token * ACTIVATION_BYTES.symbol * d_model
    return where(dp > 1, 2 * (link_latency + (ep - 1) / ep * volume / link_bandwidth))


@definition(kind="model")
def stage_send_time(pp, link_latency, message_bytes, link_bandwidth):
    """Handing a micro-batch to the next stage; nothing at PP 1."""
    return where(pp > 1, alpha_beta_transfer(link_latency, message_bytes, link_bandwidth))


@definition(kind="model")
def step_time(
    pp,
    stage_memory_time,
    stage_compute_time,
    stage_send_time,
    step_overhead,
    all_reduces_per_step,
    all_reduce_time,
    n_moe_layers,
    all_to_all_time,
):
    """The slower of memory and compute in every stage, and what is sent."""
    stage = largest(stage_memory_time, stage_compute_time) + stage_send_time + step_overhead
    return (
        pp * stage
        + all_reduces_per_step * all_reduce_time
        + where(n_moe_layers > 0, n_moe_layers * all_to_all_time)
    )
