"""Which estimates are bounds once every efficiency in them is at its limit.

An audit of measured figures may not take an estimate for an equation: what the estimate leaves out,
or puts at a guess, would be called an error of whoever measured.
"""

from __future__ import annotations

# With every efficiency at 1 nothing is faster than this; all that is left out takes more time.
AT_BEST = frozenset(
    (
        "deployment.stage_memory_time",
        "deployment.stage_compute_time",
        "deployment.step_time",
        "deployment.tpot",
        "deployment.prefill_time",
        "deployment.ttft",
        "kv_offload.recompute_time",
    )
)
# What is left out is waiting, which takes more time as well.
WITHOUT_WAITING = frozenset(("deployment.time_in_system",))
# Where these are spoken of, a model has routed experts, however many parameters they have.
OF_EXPERTS = frozenset(("active_params", "n_experts", "experts_per_token", "n_moe_layers"))
