"""Prefill, latencies, replicas, GPUs and cost."""

from __future__ import annotations

from formulas.conditions import shared_gpus, uniform_cache, whole_gpus
from formulas.expressions import ceiling, largest, where
from formulas.formula import definition
from formulas.quantities import (
    ACTIVATION_BYTES,
    FLOP_PER_ATTENDED_ELEMENT,
    FLOP_PER_MLA_ELEMENT,
    FLOP_PER_MULTIPLY_ADD,
    SECONDS_PER_HOUR,
    TOKENS_PER_MILLION,
)
from formulas.sheet.scaling import ring_all_reduce


@definition()
def rope_angle(token_position, rope_theta):
    """Rotation of one pair at a position."""
    return token_position * rope_theta


@definition(valid=(uniform_cache,), unless=("kv_lora_rank",))
def attn_flops_prefill(n_heads, d_head):
    """Attention work per layer and attended pair."""
    return FLOP_PER_ATTENDED_ELEMENT.symbol * n_heads * d_head


@definition(
    id="deployment.attn_flops_prefill.mla",
    gives="attn_flops_prefill",
    valid=(uniform_cache,),
    only_with=("kv_lora_rank",),
)
def attn_flops_prefill_mla(n_heads, qk_nope_head_dim, qk_rope_head_dim, v_head_dim):
    """Attention work per layer and attended pair, with the heads expanded from the latent."""
    return (
        FLOP_PER_MLA_ELEMENT.symbol * n_heads * (qk_nope_head_dim + qk_rope_head_dim + v_head_dim)
    )


@definition()
def cached_prompt_tokens(prefix_hit_rate, prompt_tokens):
    """Prompt tokens whose cache exists already."""
    return prefix_hit_rate * prompt_tokens


@definition(kind="model")
def prefill_flops(active_params, prompt_tokens, cached_prompt_tokens, n_layers, attn_flops_prefill):
    """Work to prefill what is not cached: the weights per token, attention per causal pair."""
    weights = FLOP_PER_MULTIPLY_ADD.symbol * active_params * (prompt_tokens - cached_prompt_tokens)
    pairs = (prompt_tokens**2 - cached_prompt_tokens**2) / 2
    return weights + n_layers * attn_flops_prefill * pairs


@definition(kind="model")
def prefill_all_reduce_time(
    tp, link_latency, prompt_tokens, cached_prompt_tokens, d_model, link_bandwidth
):
    """Ring all-reduce of the activations of a whole prompt; nothing at TP 1."""
    size = ACTIVATION_BYTES.symbol * (prompt_tokens - cached_prompt_tokens) * d_model
    return where(tp > 1, ring_all_reduce(tp, link_latency, size, link_bandwidth))


@definition(kind="model", holds_when="one prompt crosses the pipeline stages in turn")
def prefill_time(prefill_flops, tp, peak_flops, mfu, n_layers, prefill_all_reduce_time):
    """The work over the achieved rate of the TP group, and two all-reduces in every layer."""
    compute = prefill_flops / (tp * peak_flops * mfu)
    return compute + where(tp > 1, 2 * n_layers * prefill_all_reduce_time)


@definition(kind="model", holds_when="no queueing")
def ttft(prefill_time, pp, weight_bytes_per_gpu, memory_bandwidth, mbu, step_overhead):
    """Prefill, and no faster than reading the weights once."""
    return (
        largest(prefill_time, pp * weight_bytes_per_gpu / (memory_bandwidth * mbu)) + step_overhead
    )


@definition(kind="model", holds_when="at saturation: prefills are spread over one's own tokens")
def prefill_interference(micro_batch, prefill_time, output_tokens):
    """Prefill of the other sequences, for each of one's own tokens."""
    return micro_batch * prefill_time / output_tokens


@definition(kind="model", holds_when="the mean, at saturation; chunking spreads the stalls")
def tpot(step_time, prefill_interference):
    """A decode step, and the share of the others' prefill."""
    return step_time + prefill_interference


@definition()
def itl(tpot):
    """The gap between two tokens, on average."""
    return tpot


@definition(kind="model", holds_when="no queueing")
def time_in_system(e2e_latency):
    """Time that a request spends inside."""
    return e2e_latency


@definition(kind="model")
def replica_request_rate(output_tokens, step_time, micro_batch, prefill_time, batch):
    """Requests per second that one replica completes while it is busy."""
    return 1 / ((output_tokens * step_time + micro_batch * prefill_time) / batch)


@definition(valid=(whole_gpus,))
def n_gpus(replicas, gpus_per_replica):
    """Every replica has its own GPUs."""
    return replicas * gpus_per_replica


@definition(id="deployment.n_gpus.mig", gives="n_gpus", valid=(shared_gpus,))
def n_gpus_mig(replicas, mig_instances):
    """Every replica has its own MIG instance."""
    return ceiling(replicas / mig_instances)


@definition()
def cost_per_hour(n_gpus, price_per_gpu_hour):
    """Price of all GPUs for an hour."""
    return n_gpus * price_per_gpu_hour


@definition()
def output_token_rate(arrival_rate, output_tokens):
    """Output tokens per second, over all replicas."""
    return arrival_rate * output_tokens


@definition()
def cost_per_million_tokens(cost_per_hour, output_token_rate):
    """What an hour costs, over its output tokens in millions."""
    per_hour = output_token_rate * SECONDS_PER_HOUR.symbol
    return cost_per_hour / (per_hour / TOKENS_PER_MILLION.symbol)


@definition()
def decode_concurrency(arrival_rate, output_tokens, itl):
    """Requests that decode at once, on average."""
    return arrival_rate * output_tokens * itl


@definition()
def sequence_token_rate(tpot):
    """What one sequence sees while it decodes."""
    return 1 / tpot


@definition()
def total_token_rate(output_token_rate, arrival_rate, prompt_tokens):
    """Output and prompt tokens together."""
    return output_token_rate + arrival_rate * prompt_tokens


@definition()
def completed_requests(arrival_rate, time_window):
    """Requests that a stable system completes in the time over which they are counted."""
    return arrival_rate * time_window


@definition(id="deployment.requests_decoding", gives="requests_in_flight", relation=">=", rank=0)
def requests_decoding(decode_concurrency):
    """The requests that decode are inside."""
    return decode_concurrency
