"""The vocabulary: every scalar quantity once, grouped by subject. Arrays are in `formulas.arrays`.

A row is name, letter (LaTeX, unique), unit (of the contract), domain, meaning, and the tag it is printed with.
"""
# ruff: noqa: E501  (one quantity, one line: the table is read down its columns)

from __future__ import annotations

from formulas.burst_quantities import SPEED_OF_BURSTS
from formulas.cache_quantities import CACHE, CACHE_ALIASES
from formulas.quantity import (
    ATTAINED,
    COUNT,
    COUNT_OR_NONE,
    FROM_ONE,
    FROM_TWO,
    INTEGER,
    NOT_NEGATIVE,
    POSITIVE,
    POWERS_OF_TWO,
    REAL,
    SHARE,
    Domain,
    Quantity,
    constant,
    subject,
)
from formulas.speed_quantities import SPEED_OF_ENGINES
from formulas.storage import BYTES_PER_ELEMENT

_FORMATS = Domain(POSITIVE.low, low_open=True, choices=tuple(sorted(set(BYTES_PER_ELEMENT.values()))))

FLOP_PER_MULTIPLY_ADD = constant("flop_per_multiply_add", 2, "FLOP", "2", "one multiply and one add for a parameter")
FLOP_PER_ATTENDED_ELEMENT = constant("flop_per_attended_element", 4, "FLOP", "4", "score and value, a multiply and an add each")
FLOP_PER_CAUSAL_PAIR = constant("flop_per_causal_pair", 2, "FLOP", "2", "4 for an attended pair, of which causality leaves half")
FLOP_PER_MLA_ELEMENT = constant("flop_per_mla_element", 2, "FLOP", "2", "a multiply and an add for an element of a latent head")
ACTIVATION_BYTES = constant("activation_bytes", 2, "byte", "2", "bytes of a BF16 activation element")
WIDE_WEIGHT_BYTES = constant("wide_weight_bytes", 2, "byte", "2", "bytes of a weight that stays in BF16")
RUNTIME_OVERHEAD_CAP = constant("runtime_overhead_cap", 4 * 10**9, "byte", r"4\,\mathrm{GB}", "what an engine needs at most besides weights and cache")
SECONDS_PER_HOUR = constant("seconds_per_hour", 3600, "s/h", "3600", "seconds in an hour")
TOKENS_PER_MILLION = constant("tokens_per_million", 10**6, "1", "10^6", "tokens in a million")

CONSTANTS = (
    FLOP_PER_MULTIPLY_ADD,
    FLOP_PER_ATTENDED_ELEMENT,
    FLOP_PER_CAUSAL_PAIR,
    FLOP_PER_MLA_ELEMENT,
    ACTIVATION_BYTES,
    WIDE_WEIGHT_BYTES,
    RUNTIME_OVERHEAD_CAP,
    SECONDS_PER_HOUR,
    TOKENS_PER_MILLION,
)

MODEL = subject("model", (
    ("n_layers", r"n_\text{layers}", "1", COUNT, "decoder layers", "layers"),
    ("d_model", r"d_\text{model}", "1", COUNT, "width of the residual stream"),
    ("n_heads", r"n_\text{heads}", "1", COUNT, "query heads of one layer"),
    ("n_kv_heads", r"n_\text{kv heads}", "1", COUNT, "key/value heads of one layer; 1 for MLA"),
    ("d_head", r"d_\text{head}", "1", COUNT, "elements of one head"),
    ("d_attn", r"d_\text{attn}", "1", COUNT, "elements of all query heads of one layer"),
    ("gqa_group_size", "g", "1", POSITIVE, "query heads that share one key/value head"),
    ("kv_lora_rank", r"r_\text{kv}", "1", COUNT, "elements of the compressed MLA latent"),
    ("qk_rope_head_dim", r"d_\text{rope}", "1", COUNT, "rotated elements of an MLA key"),
    ("qk_nope_head_dim", r"d_\text{nope}", "1", COUNT, "unrotated elements of an MLA key head"),
    ("v_head_dim", r"d_\text{v}", "1", COUNT, "elements of an MLA value head"),
    ("n_params", r"N_\text{params}", "1", COUNT, "parameters of the model", "params"),
    ("active_params", r"N_\text{active}", "1", COUNT, "parameters used for one token", "params"),
    ("wide_params", r"N_\text{wide}", "1", COUNT_OR_NONE, "parameters that a weight-only format leaves in BF16", "params"),
    ("embedding_params", r"N_\text{emb}", "1", COUNT, "parameters of the embedding and the head", "params"),
    ("expert_params", r"N_\text{experts}", "1", COUNT_OR_NONE, "parameters inside routed experts, over all layers", "params"),
    ("n_experts", "E", "1", COUNT, "routed experts of one layer"),
    ("experts_per_token", r"k_\text{e}", "1", COUNT, "routed experts that one token uses"),
    ("n_moe_layers", r"n_\text{moe}", "1", COUNT_OR_NONE, "layers with routed experts", "layers"),
    ("windowed_layers", r"n_\text{win}", "1", COUNT_OR_NONE, "layers that do not cache every token in full", "layers"),
    ("max_position_embeddings", r"n_\text{max}", "1", COUNT, "longest context that the model was made for", "tok"),
    ("vocab_size", r"n_\text{vocab}", "1", COUNT, "entries of the vocabulary", "tok"),
    ("rope_base", r"\text{base}", "1", POSITIVE, "base of the rotary frequencies"),
    ("rope_pair", "i", "1", COUNT_OR_NONE, "index of a rotated pair, from 0 to d_head/2 - 1"),
    ("rope_theta", r"\theta_i", "rad/token", POSITIVE, "rotation of one pair for one position"),
    ("rope_angle", r"\phi_i", "rad", NOT_NEGATIVE, "rotation of one pair at a position"),
    ("temperature", r"T_\text{temp}", "1", POSITIVE, "sampling temperature"),
    ("token_probability", r"p_i", "1", SHARE, "probability of one token"),
    ("flops_per_token", r"F_\text{token}", "FLOP", NOT_NEGATIVE, "work to decode one token"),
))

MEMORY = subject("memory", (
    ("kv_bytes_per_element", r"b_\text{kv}", "byte", _FORMATS, "stored size of one cached element"),
    ("kv_elements_per_token", r"e_\text{kv}", "1", COUNT, "cached elements of one token, over all layers"),
    ("kv_bytes_per_token", r"\kappa", "byte", POSITIVE, "bytes that one more cached token costs, over all layers", "B/tok"),
    ("bytes_per_weight", r"b_\text{w}", "byte", _FORMATS, "stored size of one weight"),
    ("weight_bytes", "W", "byte", POSITIVE, "bytes of all weights"),
    ("vram_bytes", r"M_\text{vram}", "byte", POSITIVE, "memory of one GPU"),
    ("gpu_memory_utilization", "u", "1", ATTAINED, "share of the memory that the engine may take"),
    ("memory_budget", r"M_\text{budget}", "byte", POSITIVE, "memory of one GPU that the engine may take"),
    ("runtime_overhead", r"M_\text{over}", "byte", NOT_NEGATIVE, "what the engine spends per GPU besides weights and cache"),
    ("context_tokens", "n", "1", COUNT_OR_NONE, "tokens that memory must hold for one sequence", "tok"),
    ("max_sequences", r"n_\text{seq}", "1", NOT_NEGATIVE, "sequences that fit in memory at once", "seq"),
))

SPEED = subject("speed", (
    ("memory_bandwidth", r"B_\text{mem}", "byte/s", POSITIVE, "peak memory bandwidth of one GPU"),
    ("peak_flops", "P", "FLOP/s", POSITIVE, "peak rate of one GPU at the precision of the matmuls"),
    ("step_time", r"t_\text{step}", "s", POSITIVE, "time of one decode step"),
    ("sequence_token_rate", r"r_\text{seq}", "1/s", POSITIVE, "tokens per second of one sequence", "tok/s"),
    ("batch", "b", "1", FROM_ONE, "sequences that decode together in one replica", "seq"),
    ("flops", "F", "FLOP", POSITIVE, "work that is done"),
    ("bytes_moved", r"S_\text{hbm}", "byte", POSITIVE, "bytes moved to and from memory"),
    ("arithmetic_intensity", "I", "FLOP/byte", POSITIVE, "work for each byte moved"),
    ("attainable_flops", r"F_\text{max}", "FLOP/s", POSITIVE, "rate that the roofline allows"),
    ("ridge_intensity", r"I^{\star}", "FLOP/byte", POSITIVE, "intensity at which memory and compute take equally long"),
    ("decode_matmul_intensity", r"I_\text{decode}", "FLOP/byte", POSITIVE, "intensity of the weight matmuls of a decode step"),
    ("decode_attention_intensity", r"I_\text{attn}", "FLOP/byte", POSITIVE, "intensity of attention in a decode step"),
    ("prompt_tokens", r"n_\text{prompt}", "1", COUNT_OR_NONE, "tokens of the prompt", "tok"),
    ("prefill_flops", r"F_\text{prefill}", "FLOP", NOT_NEGATIVE, "work to prefill one prompt"),
    ("prefill_time", r"t_\text{prefill}", "s", NOT_NEGATIVE, "time to prefill one prompt"),
    ("mbu", r"\text{MBU}", "1", ATTAINED, "achieved share of peak bandwidth in decode"),
    ("mfu", r"\text{MFU}", "1", ATTAINED, "achieved share of peak rate in prefill and compute-bound decode"),
    ("achieved_bandwidth", r"B_\text{achieved}", "byte/s", POSITIVE, "bytes moved per second"),
    ("achieved_flops", r"P_\text{achieved}", "FLOP/s", POSITIVE, "work done per second"),
))

ENGINE = subject("engine", (
    ("useful_fraction", r"\eta_\text{slot}", "1", SHARE, "share of slot-time of a locked batch that makes tokens"),
    ("token_position", "t", "1", COUNT_OR_NONE, "position of a token in its sequence", "tok"),
    ("block_size", r"B_\text{block}", "1", COUNT, "tokens of one cache block", "tok"),
    ("physical_block", r"j_\text{block}", "1", COUNT_OR_NONE, "number of a cache block in memory"),
    ("block_slot", r"j_\text{slot}", "1", COUNT_OR_NONE, "slot of a token inside its block"),
    ("token_budget", r"n_\text{budget}", "1", COUNT, "tokens that one engine step may process", "tok"),
    ("decoding_sequences", r"n_\text{decoding}", "1", COUNT_OR_NONE, "running sequences, which are served first", "seq"),
    ("chunk_tokens", r"n_\text{chunk}", "1", COUNT, "prompt tokens that one step prefills", "tok"),
    ("prefill_iterations", r"n_\text{iter}", "1", COUNT_OR_NONE, "steps that prefill one prompt"),
    ("tier_bandwidth", r"B_\text{tier}", "byte/s", POSITIVE, "bandwidth of a slower cache tier"),
    ("reload_time", r"t_\text{reload}", "s", NOT_NEGATIVE, "time to reload a cached prompt from a slower tier"),
    ("recompute_time", r"t_\text{recompute}", "s", NOT_NEGATIVE, "time to prefill the prompt again"),
))

FASTER = subject("faster", (
    ("target_probability", "p", "1", SHARE, "probability that the target model gives a token"),
    ("draft_probability", "q", "1", ATTAINED, "probability that the draft model gave the token"),
    ("accept_probability", r"P_\text{accept}", "1", SHARE, "probability that a drafted token is kept"),
    ("acceptance_rate", r"\alpha_\text{acc}", "1", ATTAINED, "probability that a draft token is accepted"),
    ("draft_tokens", "k", "1", COUNT, "tokens drafted for one target pass", "tok"),
    ("expected_tokens", r"\mathbb{E}_\text{tokens}", "1", POSITIVE, "tokens of one target pass, on average", "tok"),
    ("draft_cost_fraction", "c", "1", NOT_NEGATIVE, "cost of a draft step as a fraction of a target step"),
    ("speculative_speedup", r"s_\text{spec}", "1", POSITIVE, "speed against decoding without a draft"),
    ("weight", "w", "1", REAL, "one weight"),
    ("weight_absmax", r"\max|w|", "1", POSITIVE, "largest magnitude of the weights that share a scale"),
    ("quant_bits", r"b_\text{q}", "1", FROM_TWO, "bits of a quantized weight"),
    ("quant_scale", "s", "1", POSITIVE, "step of the grid that the weights are rounded to"),
    ("quantized_weight", r"q_\text{w}", "1", INTEGER, "the weight as a whole number of steps"),
    ("dequantized_weight", r"\hat{w}", "1", REAL, "the weight that the stored number stands for"),
    ("lora_rank", "r", "1", COUNT, "rank of the adapter"),
    ("lora_alpha", r"\alpha_\text{lora}", "1", POSITIVE, "strength of the adapter"),
    ("lora_fraction", r"f_\text{lora}", "1", POSITIVE, "parameters of an adapter over those of its matrix"),
))

SCALING = subject("scaling", (
    ("link_latency", r"\alpha", "s", NOT_NEGATIVE, "fixed latency of one message over one hop"),
    ("link_bandwidth", r"\beta", "byte/s", POSITIVE, "bandwidth of the link, per direction"),
    ("message_bytes", "S", "byte", NOT_NEGATIVE, "size of one message"),
    ("transfer_time", r"T_\text{msg}", "s", NOT_NEGATIVE, "time of one message"),
    ("ring_gpus", "N", "1", FROM_ONE, "GPUs in a ring", "GPUs"),
    ("all_reduce_time", r"t_\text{all-reduce}", "s", NOT_NEGATIVE, "time of one all-reduce"),
    ("algorithm_bandwidth", r"\text{algbw}", "byte/s", POSITIVE, "message size over time of a collective"),
    ("bus_bandwidth", r"\text{busbw}", "byte/s", NOT_NEGATIVE, "traffic of each GPU's link in an all-reduce"),
    ("all_reduces_per_step", r"n_\text{all-reduce}", "1", COUNT_OR_NONE, "all-reduces of one decode step"),
    ("weight_bytes_read_per_gpu", r"W_\text{read}", "byte", POSITIVE, "weight bytes that each GPU reads in a step"),
    ("kv_bytes_read_per_gpu", r"K_\text{read}", "byte", NOT_NEGATIVE, "cache bytes that each GPU reads in a step"),
    ("pipeline_stages", r"P_\text{stages}", "1", FROM_ONE, "stages of the pipeline"),
    ("micro_batches", "M", "1", FROM_ONE, "micro-batches in flight"),
    ("bubble_fraction", r"f_\text{idle}", "1", SHARE, "share of stage time that is idle"),
    ("experts_touched_fraction", r"f_\text{touched}", "1", SHARE, "share of a layer's experts that a step reads"),
    ("transfer_bandwidth", r"B_\text{link}", "byte/s", POSITIVE, "bandwidth between prefill and decode workers"),
    ("kv_transfer_time", r"t_\text{transfer}", "s", NOT_NEGATIVE, "time to move a prompt's cache to a decode worker"),
))

PRODUCTION = subject("production", (
    ("ttft", r"\text{TTFT}", "s", NOT_NEGATIVE, "time to first token, without queueing"),
    ("tpot", r"\text{TPOT}", "s", POSITIVE, "time per output token, the mean of a request"),
    ("itl", r"\text{ITL}", "s", NOT_NEGATIVE, "gap between two tokens"),
    ("e2e_latency", r"\text{E2E}", "s", NOT_NEGATIVE, "time from request to last token"),
    ("output_tokens", r"N_\text{out}", "1", COUNT, "tokens that a request generates", "tok"),
    ("ttft_slo", r"\text{SLO}_\text{TTFT}", "s", POSITIVE, "service level for the first token"),
    ("tpot_slo", r"\text{SLO}_\text{TPOT}", "s", POSITIVE, "service level for the following tokens"),
    ("time_window", r"\Delta t", "s", POSITIVE, "time over which requests are counted"),
    ("goodput", r"\text{goodput}", "1/s", NOT_NEGATIVE, "requests per second that met every service level", "req/s"),
    ("arrival_rate", r"\lambda", "1/s", POSITIVE, "requests per second", "req/s"),
    ("time_in_system", r"W_\text{sys}", "s", NOT_NEGATIVE, "time that a request spends inside"),
    ("requests_in_flight", "L", "1", NOT_NEGATIVE, "requests inside, on average", "req"),
    ("replica_request_rate", r"\text{req/s per replica}", "1/s", POSITIVE, "requests per second that one replica completes", "req/s"),
    ("target_utilization", r"u_\text{target}", "1", ATTAINED, "share of a replica's capacity that is planned for"),
    ("replicas", r"n_\text{replicas}", "1", COUNT, "replicas of the engine"),
    ("n_gpus", r"n_\text{GPUs}", "1", COUNT, "GPUs in use", "GPUs"),
    ("price_per_gpu_hour", r"\text{price}", "USD/h", NOT_NEGATIVE, "price of one GPU for an hour"),
    ("cost_per_hour", r"C_\text{hour}", "USD/h", NOT_NEGATIVE, "price of all GPUs for an hour"),
    ("output_token_rate", r"r_\text{out}", "1/s", POSITIVE, "output tokens per second, over all replicas", "tok/s"),
    ("total_token_rate", r"r_\text{total}", "1/s", POSITIVE, "prompt and output tokens per second, over all replicas", "tok/s"),
    ("completed_requests", r"n_\text{done}", "1", POSITIVE, "requests completed in the time that is looked at", "req"),
    ("cost_per_million_tokens", r"C_\text{M}", "USD", NOT_NEGATIVE, "cost of a million output tokens", "$/Mtok"),
    ("decode_concurrency", r"L_\text{decode}", "1", NOT_NEGATIVE, "requests that decode at once, on average", "req"),
))

KUBERNETES = subject("kubernetes", (
    ("checkpoint_bytes", r"S_\text{ckpt}", "byte", POSITIVE, "size of the checkpoint"),
    ("source_bandwidth", r"B_\text{source}", "byte/s", POSITIVE, "bandwidth of the shared source"),
    ("replicas_starting", r"n_\text{starting}", "1", COUNT, "replicas that start together"),
    ("replica_bandwidth", r"B_\text{replica}", "byte/s", POSITIVE, "share of the source's bandwidth of one replica"),
    ("weight_load_time", r"t_\text{weights}", "s", POSITIVE, "time to load the weights"),
    ("failure_threshold", r"\text{failureThreshold}", "1", COUNT, "failed probes that end a start"),
    ("probe_period", r"\text{periodSeconds}", "s", POSITIVE, "time between two probes"),
    ("download_time", r"t_\text{download}", "s", NOT_NEGATIVE, "worst-case download"),
    ("load_time", r"t_\text{load}", "s", NOT_NEGATIVE, "worst-case load into GPU memory"),
    ("compile_time", r"t_\text{compile}", "s", NOT_NEGATIVE, "worst-case compilation and warm-up"),
    ("probe_ok", r"\text{probe ok}", "bool", REAL, "whether the probe waits long enough"),
    ("prefix_hits_rate", r"r_\text{hits}", "1/s", NOT_NEGATIVE, "prefix-cache hits per second", "tok/s"),
    ("prefix_queries_rate", r"r_\text{queries}", "1/s", POSITIVE, "prefix-cache queries per second", "tok/s"),
    ("prefix_hit_rate", r"h_\text{prefix}", "1", SHARE, "share of prompt tokens whose cache exists already"),
))

BEYOND = subject("beyond", (
    ("thinking_tokens", r"n_\text{thinking}", "1", COUNT_OR_NONE, "hidden tokens before the answer", "tok"),
    ("time_to_first_answer", r"t_\text{answer}", "s", NOT_NEGATIVE, "time to the first token of the answer"),
    ("turns", r"n_\text{turns}", "1", COUNT, "model calls of an agent's task"),
    ("turn_decode_time", r"t_\text{decode}", "s", NOT_NEGATIVE, "decode time of one turn"),
    ("tool_time", r"t_\text{tools}", "s", NOT_NEGATIVE, "time spent in tools"),
    ("agent_task_latency", r"t_\text{task}", "s", NOT_NEGATIVE, "time of an agent's task"),
    ("frames", r"n_\text{frames}", "1", COUNT, "video frames"),
    ("tokens_per_frame", r"\tau_\text{frame}", "1", COUNT, "tokens of one frame", "tok"),
    ("audio_tokens", r"n_\text{audio}", "1", COUNT_OR_NONE, "tokens of the sound track", "tok"),
    ("video_tokens", r"n_\text{video}", "1", COUNT, "tokens of a video", "tok"),
    ("n_vectors", r"N_\text{vectors}", "1", COUNT, "stored vectors"),
    ("vector_dims", r"\text{dims}", "1", COUNT, "dimensions of a vector"),
    ("bytes_per_dim", r"b_\text{dim}", "byte", POSITIVE, "stored size of one dimension"),
    ("vector_bytes", r"S_\text{vectors}", "byte", POSITIVE, "size of the raw vectors"),
))

DEPLOYMENT = subject("deployment", (
    ("tp", r"\text{TP}", "1", POWERS_OF_TWO, "tensor-parallel GPUs of one rank"),
    ("pp", r"\text{PP}", "1", POWERS_OF_TWO, "pipeline stages of one replica"),
    ("dp", r"\text{DP}", "1", POWERS_OF_TWO, "attention data-parallel ranks of one replica"),
    ("ep", r"\text{EP}", "1", POWERS_OF_TWO, "GPUs over which whole experts are spread"),
    ("node_gpus", r"n_\text{node}", "1", COUNT, "GPUs of one node", "GPUs"),
    ("available_gpus", r"n_\text{avail}", "1", COUNT, "GPUs that there are", "GPUs"),
    ("gpus_per_replica", r"n_\text{rep}", "1", COUNT, "GPUs of one replica", "GPUs"),
    ("mig_instances", r"n_\text{mig}", "1", COUNT_OR_NONE, "MIG instances of the profile on one GPU; 0 for whole GPUs"),
    ("scale_up_bandwidth", r"\beta_\text{up}", "byte/s", POSITIVE, "bandwidth of the GPU's scale-up link, per direction"),
    ("scale_up_domain_gpus", r"n_\text{up}", "1", COUNT_OR_NONE, "GPUs that the scale-up link joins", "GPUs"),
    ("pcie_bandwidth", r"\beta_\text{pcie}", "byte/s", POSITIVE, "bandwidth of the GPU's PCIe slot, per direction"),
    ("stage_share", r"\sigma", "1", SHARE, "share of the layers in the longest pipeline stage"),
    ("kv_bytes_per_token_per_gpu", r"\kappa_\text{gpu}", "byte", POSITIVE, "cache bytes of one token on each GPU", "B/tok"),
    ("expert_weight_bytes", r"W_\text{experts}", "byte", NOT_NEGATIVE, "bytes of all routed experts"),
    ("dense_bytes_per_gpu", r"W_\text{dense,gpu}", "byte", POSITIVE, "weight bytes outside routed experts on each GPU"),
    ("expert_bytes_per_gpu", r"W_\text{experts,gpu}", "byte", NOT_NEGATIVE, "bytes of routed experts on each GPU"),
    ("weight_bytes_per_gpu", r"W_\text{gpu}", "byte", POSITIVE, "weight bytes on each GPU"),
    ("mean_context_tokens", r"\bar{n}", "1", NOT_NEGATIVE, "cached tokens that a decode step attends over, on average", "tok"),
    ("kv_bytes_per_gpu", r"K_\text{gpu}", "byte", NOT_NEGATIVE, "cache bytes on each GPU"),
    ("kv_cache_bytes_per_gpu", r"K_\text{cache}", "byte", NOT_NEGATIVE, "memory of each GPU that is set aside for cache"),
    ("kv_cache_tokens", r"n_\text{cache}", "1", NOT_NEGATIVE, "tokens that the cache of one rank holds", "tok"),
    ("kv_cache_blocks", r"n_\text{blocks}", "1", NOT_NEGATIVE, "blocks that the cache of one rank holds"),
    ("cache_concurrency", r"n_\text{full}", "1", NOT_NEGATIVE, "sequences of full length that the cache of one rank holds", "seq"),
    ("memory_used_per_gpu", r"M_\text{used}", "byte", POSITIVE, "memory in use on each GPU"),
    ("micro_batch", r"b_\text{micro}", "1", POSITIVE, "sequences of one rank in one stage at a time", "seq"),
    ("attn_flops_decode", r"F_\text{attn,decode}", "FLOP", POSITIVE, "attention work per layer and cached token"),
    ("attn_flops_prefill", r"F_\text{attn,prefill}", "FLOP", POSITIVE, "attention work per layer and attended pair"),
    ("stage_memory_time", r"t_\text{memory}", "s", NOT_NEGATIVE, "time that one stage reads memory in a step"),
    ("stage_compute_time", r"t_\text{compute}", "s", NOT_NEGATIVE, "time that one stage computes in a step"),
    ("all_to_all_time", r"t_\text{all-to-all}", "s", NOT_NEGATIVE, "time to send tokens to their experts and back, in one layer"),
    ("stage_send_time", r"t_\text{send}", "s", NOT_NEGATIVE, "time to hand a micro-batch to the next stage"),
    ("step_overhead", r"t_\text{overhead}", "s", NOT_NEGATIVE, "what the engine spends on a step besides the GPU's work"),
    ("cached_prompt_tokens", r"n_\text{cached}", "1", NOT_NEGATIVE, "prompt tokens whose cache exists already", "tok"),
    ("prefill_all_reduce_time", r"t_\text{prefill all-reduce}", "s", NOT_NEGATIVE, "time of one all-reduce of a prefill"),
    ("prefill_interference", r"t_\text{interference}", "s", NOT_NEGATIVE, "prefill of the others, spread over one's own tokens"),
    ("max_batch", r"b_\text{max}", "1", COUNT, "largest batch that the engine is set to", "seq"),
))

SCALARS: tuple[Quantity, ...] = (
    *MODEL, *MEMORY, *SPEED, *ENGINE, *FASTER, *SCALING, *PRODUCTION, *KUBERNETES, *BEYOND, *DEPLOYMENT, *CACHE,
    *SPEED_OF_ENGINES, *SPEED_OF_BURSTS,
)

ALIASES = {
    "context": "context_tokens", "ctx": "context_tokens", "max_model_len": "context_tokens",
    "prompt": "prompt_tokens", "isl": "prompt_tokens", "input": "prompt_tokens",
    "output": "output_tokens", "osl": "output_tokens",
    "bs": "batch", "batch_size": "batch", "users": "batch", "max_num_seqs": "max_batch",
    "price": "price_per_gpu_hour", "gpu_price": "price_per_gpu_hour", "rate": "arrival_rate",
    "bandwidth": "memory_bandwidth", "vram": "vram_bytes", "weights": "weight_bytes",
    "params": "n_params", "layers": "n_layers", "heads": "n_heads", "kv_heads": "n_kv_heads",
    "e2e": "e2e_latency", "latency": "e2e_latency", "concurrency": "requests_in_flight",
    "utilization": "gpu_memory_utilization", "mem_util": "gpu_memory_utilization",
    "n_gpu": "n_gpus", "gpus": "n_gpus", "kv_bytes": "kv_bytes_per_gpu",
    "mem_used": "memory_used_per_gpu", "memory_used": "memory_used_per_gpu",
    "tok_rate": "output_token_rate", "throughput": "output_token_rate",
    "cost": "cost_per_million_tokens", "alpha_link": "link_latency",
    "k_draft": "draft_tokens", "acceptance": "acceptance_rate", "thinking": "thinking_tokens",
    **CACHE_ALIASES,
}  # fmt: skip
