"""The vocabulary of caches as engines allot them: layers by kind, pages, groups and budgets.

A row is name, letter (LaTeX, unique), unit (of the contract), domain, meaning, and the tag it is printed with.
"""
# ruff: noqa: E501  (one quantity, one line: the table is read down its columns)

from __future__ import annotations

from formulas.quantity import (
    ATTAINED,
    COUNT,
    COUNT_OR_NONE,
    FROM_ONE,
    NOT_NEGATIVE,
    ONE,
    POSITIVE,
    ZERO,
    Domain,
    subject,
)

ON_OR_OFF = Domain(ZERO, ONE, whole=True, choices=(ZERO, ONE))

# What a model's config.json says, or a person states.
OF_MODEL = subject("cache", (
    ("full_layers", r"n_\text{full layers}", "1", COUNT_OR_NONE, "layers that cache every token", "layers"),
    ("window_layers", r"n_\text{window layers}", "1", COUNT_OR_NONE, "layers that cache the last tokens only", "layers"),
    ("state_layers", r"n_\text{state layers}", "1", COUNT_OR_NONE, "layers that keep a state of fixed size", "layers"),
    ("drafter_layers", r"n_\text{draft layers}", "1", COUNT_OR_NONE, "layers of a drafter that cache every token as the model's own do", "layers"),
    ("other_drafter_layers", r"n_\text{other layers}", "1", COUNT_OR_NONE, "layers of a drafter that cache every token in a format of their own", "layers"),
    ("sliding_window", r"n_\text{window}", "1", COUNT, "last tokens that a windowed layer attends over", "tok"),
    ("full_kv_heads", r"h_\text{full}", "1", COUNT, "key/value heads of a layer that caches every token"),
    ("window_kv_heads", r"h_\text{window}", "1", COUNT, "key/value heads of a windowed layer"),
    ("full_head_elements", r"e_\text{full}", "1", COUNT, "cached elements of one token and head in a layer that caches every token"),
    ("window_head_elements", r"e_\text{window}", "1", COUNT, "cached elements of one token and head in a windowed layer"),
    ("indexer_layers", r"n_\text{index layers}", "1", COUNT_OR_NONE, "layers that also cache the key of an indexer", "layers"),
    ("index_bytes_per_token", r"b_\text{index}", "byte", POSITIVE, "bytes of the indexer's key of one token in one layer"),
    ("index_topk", r"n_\text{picked}", "1", COUNT, "cached tokens that sparse attention reads", "tok"),
    ("ssm_elements", r"e_\text{ssm}", "1", COUNT, "elements of one layer's recurrent state of one sequence"),
    ("ssm_bytes_per_element", r"b_\text{ssm}", "byte", POSITIVE, "stored size of one element of a recurrent state"),
    ("conv_channels", r"c_\text{conv}", "1", COUNT_OR_NONE, "channels of a recurrent layer's short convolution"),
    ("conv_kernel", r"k_\text{conv}", "1", COUNT, "tokens that the short convolution spans"),
    ("kv_code_bytes", r"b_\text{code}", "byte", POSITIVE, "bytes of a cached element without its scale"),
    ("kv_scale_bytes", r"b_\text{scale}", "byte", POSITIVE, "bytes of the scale that one head's key or value of a token carries"),
    ("latent_scale_group", r"n_\text{scaled}", "1", COUNT, "latent elements that share one scale"),
    ("tower_params", r"N_\text{tower}", "1", COUNT_OR_NONE, "parameters of towers for images or sound, which stay in BF16", "params"),
    ("duplicated_params", r"N_\text{twice}", "1", COUNT_OR_NONE, "parameters that the engine holds a second time, in BF16", "params"),
    ("replicated_weight_bytes", r"W_\text{copied}", "byte", NOT_NEGATIVE, "bytes of weights that every GPU of TP holds in full"),
    ("expert_padding", r"f_\text{pad}", "1", POSITIVE, "stored size of the routed experts over what their parameters take"),
))

# How an engine is set, and what it was seen to take.
OF_ENGINE = subject("cache", (
    ("speculative_tokens", r"k_\text{spec}", "1", COUNT_OR_NONE, "tokens that a drafter proposes for one step", "tok"),
    ("prefix_caching", r"p_\text{prefix}", "1", ON_OR_OFF, "1 where prefix caching is on, 0 where it is off"),
    ("max_batched_tokens", r"n_\text{batched}", "1", COUNT, "tokens that one step of the engine may process at most", "tok"),
    ("dcp", r"\text{DCP}", "1", FROM_ONE, "GPUs over which decode context parallelism spreads the tokens"),
    ("activation_peak", r"M_\text{act}", "byte", NOT_NEGATIVE, "peak of activations that the engine measured when it started"),
    ("non_torch_bytes", r"M_\text{other}", "byte", NOT_NEGATIVE, "memory in use outside the allocator: context, collectives, other processes"),
    ("cuda_graph_bytes", r"M_\text{graphs}", "byte", NOT_NEGATIVE, "memory of CUDA graphs that is taken from the budget"),
    ("free_memory", r"M_\text{free}", "byte", POSITIVE, "memory that is free on each GPU when the engine starts"),
    ("mem_fraction_static", r"u_\text{static}", "1", ATTAINED, "share of the free memory for weights and cache (SGLang)"),
    ("free_memory_after_load", r"M_\text{loaded}", "byte", POSITIVE, "memory that is free on each GPU once the weights are loaded"),
    ("free_gpu_memory_fraction", r"u_\text{free}", "1", ATTAINED, "share of what is free after loading for the cache (TensorRT-LLM)"),
    ("state_slots", r"n_\text{slots}", "1", COUNT, "sequences whose recurrent states have a place, where states have a pool of their own", "seq"),
    ("token_pool_bytes", r"M_\text{tokens}", "byte", NOT_NEGATIVE, "memory of each GPU for layers that cache every token, where states have a pool of their own"),
))

DERIVED = subject("cache", (
    ("full_token_bytes", r"\tau_\text{full}", "byte", POSITIVE, "bytes of one token in one layer that caches every token, on each GPU"),
    ("window_token_bytes", r"\tau_\text{window}", "byte", POSITIVE, "bytes of one token in one windowed layer, on each GPU"),
    ("growing_bytes_per_token", r"\kappa_\text{grow}", "byte", NOT_NEGATIVE, "bytes that one more token costs each GPU however long the sequence is", "B/tok"),
    ("ssm_state_bytes", r"\sigma_\text{ssm}", "byte", NOT_NEGATIVE, "bytes of one layer's recurrent state of one sequence, on each GPU"),
    ("conv_state_bytes", r"\sigma_\text{conv}", "byte", NOT_NEGATIVE, "bytes of one layer's convolution state of one sequence, on each GPU"),
    ("state_bytes", r"\sigma_\text{state}", "byte", NOT_NEGATIVE, "bytes of one layer's states of one sequence, on each GPU"),
    ("stage_full_layers", r"g_\text{full}", "1", COUNT_OR_NONE, "layers of the longest stage that cache every token", "layers"),
    ("stage_window_layers", r"g_\text{window}", "1", COUNT_OR_NONE, "windowed layers of the longest stage", "layers"),
    ("stage_state_layers", r"g_\text{state}", "1", COUNT_OR_NONE, "layers with a state in the longest stage", "layers"),
    ("most_of_a_kind", r"g_\text{most}", "1", COUNT, "layers of the kind that has most of them", "layers"),
    ("fewest_of_a_kind", r"g_\text{fewest}", "1", COUNT, "layers of the kind that has fewest of them", "layers"),
    ("group_layers", r"g_\text{group}", "1", COUNT, "layers of one cache group", "layers"),
    ("full_groups", r"n_\text{full groups}", "1", COUNT_OR_NONE, "cache groups of layers that cache every token"),
    ("window_groups", r"n_\text{window groups}", "1", COUNT_OR_NONE, "cache groups of windowed layers"),
    ("state_groups", r"n_\text{state groups}", "1", COUNT_OR_NONE, "cache groups of layers with a state"),
    ("page_bytes", r"S_\text{page}", "byte", POSITIVE, "bytes of one layer's page, the same in every layer"),
    ("full_block_tokens", r"B_\text{full}", "1", COUNT, "tokens of one page in a layer that caches every token", "tok"),
    ("window_block_tokens", r"B_\text{window}", "1", COUNT, "tokens of one page in a windowed layer", "tok"),
    ("state_copies", r"n_\text{states}", "1", COUNT, "copies of a layer's state that one sequence holds"),
    ("request_blocks", r"n_\text{req blocks}", "1", COUNT_OR_NONE, "blocks that one sequence of full length holds"),
    ("request_cache_bytes", r"K_\text{req}", "byte", NOT_NEGATIVE, "bytes that one sequence of full length holds on each GPU"),
    ("kv_cache_tokens_old_log", r"n_\text{old log}", "1", COUNT_OR_NONE, "size of the cache as vLLM printed it for mixed layers before 2026: tokens of one group", "tok"),
    ("state_pool_bytes", r"M_\text{states}", "byte", NOT_NEGATIVE, "memory of each GPU for recurrent states that have a pool of their own"),
    ("token_pool_tokens", r"n_\text{pool}", "1", NOT_NEGATIVE, "tokens that the pool of the layers that cache every token holds", "tok"),
))

# What an engine checks before it starts.
CHECKED = subject("cache", (
    ("vision_heads", r"n_\text{vision}", "1", COUNT, "heads of one layer of the tower for images"),
    ("vocab_multiple", r"m_\text{vocab}", "1", COUNT, "what the engine pads the vocabulary to a multiple of; 1 where it does not", "tok"),
    ("quant_block", r"b_\text{block}", "1", COUNT, "columns of a weight that share one scale"),
    ("dense_width", r"d_\text{ff}", "1", COUNT, "width of a dense MLP"),
    ("expert_width", r"d_\text{expert}", "1", COUNT, "width of one routed expert"),
    ("compute_capability", r"cc", "1", POSITIVE, "compute capability of the GPU"),
    ("needed_capability", r"cc_\text{needed}", "1", POSITIVE, "compute capability that the engine's kernels for these weights need"),
))

CACHE = (*OF_MODEL, *OF_ENGINE, *DERIVED, *CHECKED)

CACHE_ALIASES = {
    "max_num_batched_tokens": "max_batched_tokens",
    "num_speculative_tokens": "speculative_tokens",
    "decode_context_parallel_size": "dcp",
    "non_torch": "non_torch_bytes", "cuda_graphs": "cuda_graph_bytes",
    "num_gpu_blocks": "kv_cache_blocks", "max_total_num_tokens": "token_pool_tokens",
    "max_concurrency": "cache_concurrency", "kv_cache_memory": "kv_cache_bytes_per_gpu",
    "kv_cache_memory_bytes": "kv_cache_bytes_per_gpu",
}  # fmt: skip
