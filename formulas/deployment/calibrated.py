"""The deployment model with what measurements add to it.

These take the place of the plain definitions where one of the constants is stated or a profile
gives them, and are the plain ones again where every constant is neutral.
"""

from __future__ import annotations

from typing import Any

from formulas.expressions import largest, where
from formulas.formula import definition
from formulas.quantities import ACTIVATION_BYTES, FLOP_PER_MULTIPLY_ADD
from formulas.sheet.scaling import alpha_beta_transfer, ring_all_reduce
from formulas.speed_quantities import CONSTANTS_OF_SPEED

NAMES = tuple(quantity.name for quantity in CONSTANTS_OF_SPEED)


def calibrated(gives: str, **declared: Any) -> Any:
    """A definition that takes part where a constant of speed is known."""
    identity = f"deployment.{gives}.calibrated"
    return definition(
        **{
            "id": identity,
            "gives": gives,
            "kind": "model",
            "rank": 5,
            "any_with": NAMES,
            **declared,
        }
    )


@definition()
def active_expert_params(expert_params, experts_per_token, n_experts):
    """Parameters of the routed experts that one token uses."""
    return expert_params * experts_per_token / n_experts


@definition()
def expert_load(ep, expert_imbalance):
    """Where experts are split by TP every GPU has a part of each, and no GPU has more to do."""
    return where(ep > 1, expert_imbalance, 1)


@definition()
def expert_flops_factor(expert_load, expert_mfu_share):
    """The busiest GPU decides, at the rate of the experts' smaller matmuls."""
    return expert_load / expert_mfu_share


@definition(unless=("kv_lora_rank",))
def launch_time(n_layers, layer_overhead, n_moe_layers, expert_overhead):
    """Every layer, and what layers with experts cost on top."""
    return n_layers * layer_overhead + n_moe_layers * expert_overhead


@definition(id="deployment.launch_time.mla", gives="launch_time", only_with=("kv_lora_rank",))
def launch_time_mla(n_layers, layer_overhead, latent_overhead, n_moe_layers, expert_overhead):
    """Every layer of latent attention, and what layers with experts cost on top."""
    return n_layers * (layer_overhead + latent_overhead) + n_moe_layers * expert_overhead


@calibrated("stage_memory_time")
def stage_memory_time(
    dense_bytes_per_gpu,
    expert_read_factor,
    expert_load,
    experts_touched_fraction,
    expert_bytes_per_gpu,
    kv_read_factor,
    kv_bytes_read_per_gpu,
    memory_bandwidth,
    mbu,
):
    """Experts and cache are read at rates of their own."""
    experts = expert_read_factor * expert_load * experts_touched_fraction * expert_bytes_per_gpu
    cache = kv_read_factor * kv_bytes_read_per_gpu
    return (dense_bytes_per_gpu + experts + cache) / (memory_bandwidth * mbu)


@calibrated("stage_compute_time")
def stage_compute_time(
    micro_batch,
    flops_per_token,
    active_expert_params,
    expert_flops_factor,
    stage_share,
    tp,
    peak_flops,
    mfu,
):
    """The experts' matmuls run at a rate of their own."""
    experts = FLOP_PER_MULTIPLY_ADD.symbol * active_expert_params * (expert_flops_factor - 1)
    return micro_batch * (flops_per_token + experts) * stage_share / (tp * peak_flops * mfu)


@calibrated("all_reduce_time", unless=("ring_gpus",))
def all_reduce_time(
    tp, link_latency, message_bytes, link_bandwidth, link_share, collective_overhead
):
    """Ring all-reduce at the achieved bandwidth, and what starting it costs; nothing at TP 1."""
    ring = ring_all_reduce(tp, link_latency, message_bytes, link_bandwidth * link_share)
    return where(tp > 1, ring + collective_overhead)


@calibrated("all_to_all_time", holds_when="several ranks; one rank replicates tokens over TP")
def all_to_all_time(
    dp,
    ep,
    tp,
    link_latency,
    exchange_overhead,
    micro_batch,
    experts_per_token,
    d_model,
    link_bandwidth,
    link_share,
):
    """Sending tokens to their experts and back, in one layer, and what starting it costs."""
    volume = (micro_batch / tp) * experts_per_token * ACTIVATION_BYTES.symbol * d_model
    sent = (ep - 1) / ep * volume / (link_bandwidth * link_share)
    return where(dp > 1, 2 * (link_latency + exchange_overhead + sent))


@calibrated("stage_send_time")
def stage_send_time(pp, link_latency, message_bytes, link_bandwidth, link_share):
    """Handing a micro-batch to the next stage at the achieved bandwidth; nothing at PP 1."""
    sent = alpha_beta_transfer(link_latency, message_bytes, link_bandwidth * link_share)
    return where(pp > 1, sent)


@calibrated("step_time")
def step_time(
    pp,
    stage_memory_time,
    stage_compute_time,
    stage_send_time,
    step_overhead,
    micro_batch,
    sequence_overhead,
    launch_time,
    all_reduces_per_step,
    all_reduce_time,
    n_moe_layers,
    all_to_all_time,
    decode_speedup,
):
    """The plain step, what its layers and sequences cost, and the tokens that it makes of each."""
    stage = largest(stage_memory_time, stage_compute_time) + stage_send_time + step_overhead
    step = (
        pp * (stage + micro_batch * sequence_overhead)
        + launch_time
        + all_reduces_per_step * all_reduce_time
        + where(n_moe_layers > 0, n_moe_layers * all_to_all_time)
    )
    return step / decode_speedup


@calibrated("prefill_all_reduce_time")
def prefill_all_reduce_time(
    tp,
    link_latency,
    prompt_tokens,
    cached_prompt_tokens,
    d_model,
    link_bandwidth,
    link_share,
    collective_overhead,
):
    """Ring all-reduce of a whole prompt at the achieved bandwidth; nothing at TP 1."""
    size = ACTIVATION_BYTES.symbol * (prompt_tokens - cached_prompt_tokens) * d_model
    ring = ring_all_reduce(tp, link_latency, size, link_bandwidth * link_share)
    return where(tp > 1, ring + collective_overhead)


@calibrated("prefill_time", holds_when="one prompt crosses the pipeline stages in turn")
def prefill_time(
    prefill_flops,
    active_expert_params,
    expert_flops_factor,
    prompt_tokens,
    cached_prompt_tokens,
    tp,
    peak_flops,
    mfu,
    n_layers,
    prefill_all_reduce_time,
    launch_time,
):
    """The plain prefill, with experts at a rate of their own and what the layers cost."""
    fresh = prompt_tokens - cached_prompt_tokens
    slower = active_expert_params * (expert_flops_factor - 1)
    experts = FLOP_PER_MULTIPLY_ADD.symbol * slower * fresh
    compute = (prefill_flops + experts) / (tp * peak_flops * mfu)
    return compute + where(tp > 1, 2 * n_layers * prefill_all_reduce_time) + launch_time


@calibrated("prefill_interference", holds_when="closed loop: as many requests are always inside")
def prefill_interference(waiting_share, micro_batch, prefill_time, output_tokens):
    """The others' prefills that fall between one's own tokens."""
    return (1 - waiting_share) * micro_batch * prefill_time / output_tokens


@calibrated("ttft", holds_when="closed loop with as many requests inside as decode, and no more")
def ttft(
    prefill_time,
    waiting_share,
    micro_batch,
    first_token_steps,
    step_time,
    first_token_overhead,
    pp,
    weight_bytes_per_gpu,
    memory_bandwidth,
    mbu,
    step_overhead,
):
    """One's own prefill after a share of the others', steps in between, and the server's part."""
    alone = largest(prefill_time, pp * weight_bytes_per_gpu / (memory_bandwidth * mbu))
    waited = waiting_share * (micro_batch - 1) * prefill_time
    return alone + waited + step_overhead + first_token_steps * step_time + first_token_overhead
