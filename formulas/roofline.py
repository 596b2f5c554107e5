"""Work that lies under a GPU's roofs: its intensity and its rate, as lines of the language.

Which work and which bytes are meant is stated; the sheet's line divides them. The times of a stage
are those at the rates reached, so that times and rates together are work and bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

INTENSITY = "arithmetic_intensity"
# What a GPU reaches of its roofs, as the deployment model has it.
REACHED = ("mfu * peak_flops", "mbu * memory_bandwidth")


@dataclass(frozen=True, slots=True)
class Work:
    """A kind of work: the question for its intensity and, where it has one, for its rate.

    `time` is what the rate cannot be told without. The sheet's line speaks of no model that has
    any of `unless`.
    """

    name: str
    intensity: str
    rate: str = ""
    time: str = ""
    note: str = ""
    unless: str = ""


WORKS = (
    Work(
        "decode step",
        f"{INTENSITY} given flops = {REACHED[0]} * stage_compute_time, "
        f"bytes_moved = {REACHED[1]} * stage_memory_time",
        f"pp * {REACHED[0]} * stage_compute_time / step_time",
        "step_time",
        "at the rate that is predicted; what has no prediction lies on the roof",
    ),
    Work("decode, weights", "decode_matmul_intensity", unless="expert_params"),
    Work("decode, attention", "decode_attention_intensity", unless="kv_lora_rank"),
    Work(
        "prefill",
        f"{INTENSITY} given flops = prefill_flops, bytes_moved = weight_bytes",
        "prefill_flops / (tp * ttft)",
        "ttft",
        "of one prompt, whose bytes are the weights, read once",
    ),
    Work("flops over bytes_moved", INTENSITY),
)
