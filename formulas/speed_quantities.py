"""The vocabulary of measured speed: what engines lose to layers, experts, links and queues.

Every one of these is neutral unless somebody states it or names a profile that was fitted to
measurements. A row is name, letter (LaTeX, unique), unit, domain, meaning, and the tag it is printed with.
"""
# ruff: noqa: E501  (one quantity, one line: the table is read down its columns)

from __future__ import annotations

from formulas.quantity import ATTAINED, NOT_NEGATIVE, POSITIVE, SHARE, subject

# Constants of an engine on a GPU.
CONSTANTS_OF_SPEED = subject("calibration", (
    ("layer_overhead", r"t_\text{layer}", "s", NOT_NEGATIVE, "what every layer of a step costs besides reading, computing and sending"),
    ("latent_overhead", r"t_\text{latent}", "s", NOT_NEGATIVE, "what a layer of latent attention costs on top"),
    ("expert_overhead", r"t_\text{expert}", "s", NOT_NEGATIVE, "what a layer with routed experts costs on top: routing, sorting, launches"),
    ("sequence_overhead", r"t_\text{seq}", "s", NOT_NEGATIVE, "what every sequence of a step costs: sampling, scheduling, detokenizing"),
    ("collective_overhead", r"t_\text{collective}", "s", NOT_NEGATIVE, "fixed time of one all-reduce besides its hops"),
    ("exchange_overhead", r"t_\text{exchange}", "s", NOT_NEGATIVE, "fixed time of sending tokens to their experts, or back, in one layer"),
    ("link_share", r"\eta_\text{link}", "1", ATTAINED, "achieved share of the link's bandwidth in collectives"),
    ("expert_read_factor", r"f_\text{read}", "1", POSITIVE, "time to read the touched experts over what their bytes take"),
    ("expert_imbalance", r"f_\text{imbalance}", "1", POSITIVE, "load of the busiest GPU over the mean where each holds whole experts"),
    ("expert_mfu_share", r"\eta_\text{expert}", "1", ATTAINED, "rate of the experts' matmuls over that of the others"),
    ("kv_read_factor", r"f_\text{kv}", "1", POSITIVE, "time to read the cache over what its bytes take"),
    ("decode_speedup", r"s_\text{decode}", "1", POSITIVE, "tokens of a sequence in the time of one step: drafts that were accepted, steps that overlap"),
    ("waiting_share", r"\eta_\text{wait}", "1", SHARE, "share of the others' prefills that a request waits for before its first token, not between tokens"),
    ("first_token_steps", r"n_\text{first}", "1", NOT_NEGATIVE, "decode steps that pass before a first token"),
    ("first_token_overhead", r"t_\text{first}", "s", NOT_NEGATIVE, "what a first token costs besides prefill: the server, the tokenizer, the queue's clock"),
))

DERIVED_SPEED = subject("calibration", (
    ("active_expert_params", r"N_\text{active experts}", "1", NOT_NEGATIVE, "parameters of routed experts that one token uses", "params"),
    ("expert_load", r"f_\text{load}", "1", POSITIVE, "work of the busiest GPU's experts over the mean"),
    ("expert_flops_factor", r"f_\text{expert}", "1", POSITIVE, "time of the experts' matmuls over what their work takes at the rate of the others"),
    ("launch_time", r"t_\text{launch}", "s", NOT_NEGATIVE, "what all layers of a step cost besides reading, computing and sending"),
))

SPEED_OF_ENGINES = (*CONSTANTS_OF_SPEED, *DERIVED_SPEED)
