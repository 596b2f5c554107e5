"""A burst: requests that are submitted at once, as a benchmark without a rate does.

The engine admits what its limit and its cache allow, refills a place when a sequence ends, and
drains at the end. Between all outputs alike (length_variation 0) and memoryless ones (1) lie the
lengths that are new better than used: of such, memoryless ones take longest to drain. A sum over
a drain, 1 + 1/2 + ... + 1/n, is put at its bound 1 + ln n.
"""

from __future__ import annotations

from typing import Any

from sympy import Rational, log

from formulas.expressions import largest, smallest
from formulas.formula import definition

_HALF = Rational(1, 2)


def of_burst(**declared: Any) -> Any:
    """A definition that takes part where a burst is spoken of, an estimate like all of them."""
    return definition(**{"kind": "model", **declared})


@of_burst()
def admission_tokens(prompt_tokens, reserved_share, output_tokens):
    """The prompt, and the share of the output that is set aside for it."""
    return prompt_tokens + reserved_share * output_tokens


@of_burst()
def resident_tokens(prompt_tokens, reserved_share, output_tokens):
    """The prompt and half of the output on average, or more of it where more is set aside."""
    return prompt_tokens + largest(reserved_share, _HALF) * output_tokens


@of_burst()
def cached_sequences(dp, kv_cache_tokens, admission_tokens):
    """The tokens of all ranks' caches over those that a sequence needs to be admitted."""
    return dp * kv_cache_tokens / admission_tokens


@of_burst(holds_when="prompts fill what decoding leaves of a step's tokens")
def fed_sequences(dp, max_batched_tokens, output_tokens, prompt_tokens):
    """Sequences that decode when every step is full: each takes its prompt and output in turn."""
    return dp * max_batched_tokens * output_tokens / (prompt_tokens + output_tokens)


@of_burst()
def admitted_sequences(burst_requests, cached_sequences, fed_sequences):
    """No more than there are, than the cache admits, and than prefill hands over."""
    return smallest(burst_requests, cached_sequences, fed_sequences)


@of_burst(
    id="deployment.admitted_sequences.limited",
    gives="admitted_sequences",
    only_with=("max_batch",),
    rank=4,
)
def admitted_sequences_limited(burst_requests, max_batch, cached_sequences, fed_sequences):
    """No more than there are, than the engine is set to, the cache admits and prefill feeds."""
    return smallest(burst_requests, max_batch, cached_sequences, fed_sequences)


@of_burst()
def running_sequences(admitted_sequences, dp, kv_cache_tokens, resident_tokens):
    """Of those admitted, as many as the caches of all ranks hold while they grow."""
    return smallest(admitted_sequences, dp * kv_cache_tokens / resident_tokens)


@of_burst()
def drain_outputs(length_variation, running_sequences):
    """Memoryless lengths: the last of n to end takes as long as 1 + ln n mean outputs."""
    return length_variation * log(running_sequences)


@of_burst(
    id="deployment.batch.burst",
    gives="batch",
    only_with=("burst_requests",),
    unless=("burst_tpot",),
    holds_when="the mean over the time that a burst takes",
)
def batch_of_burst(burst_requests, running_sequences, drain_outputs):
    """All requests over the mean outputs that pass: with every place taken, and while it drains."""
    return burst_requests / (burst_requests / running_sequences + drain_outputs)


@of_burst()
def prefill_wave_steps(running_sequences, prompt_tokens, dp, max_batched_tokens):
    """The prompts' tokens over those that the steps of all ranks take."""
    return running_sequences * prompt_tokens / (dp * max_batched_tokens)


@of_burst(
    id="deployment.batch.burst_tpot",
    gives="batch",
    only_with=("burst_requests", "burst_tpot"),
    holds_when="the mean that a request of a burst meets while it decodes",
)
def batch_that_requests_meet(
    burst_requests, running_sequences, length_variation, prefill_wave_steps, output_tokens
):
    """Every place taken, but for those that fill or drain: of memoryless n they meet n ln 2."""
    drained = length_variation * (1 - log(2))
    filled = prefill_wave_steps / (3 * output_tokens)
    share = running_sequences / burst_requests
    return running_sequences * (1 - share * (drained + filled))


@of_burst()
def burst_duration(burst_requests, output_tokens, batch, step_time, prefill_time, dp, pp):
    """Steps for all tokens at the mean batch, and all prefills: ranks and stages side by side."""
    steps = burst_requests * output_tokens / batch
    return steps * step_time + burst_requests * prefill_time / (dp * pp)


@definition()
def burst_token_rate(burst_requests, output_tokens, burst_duration):
    """All output tokens over the whole time."""
    return burst_requests * output_tokens / burst_duration


@of_burst()
def prefill_wave_time(running_sequences, prefill_time, dp, pp):
    """Ranks prefill side by side, and stages one after the other."""
    return running_sequences * prefill_time / (dp * pp)


@of_burst()
def short_output_excess(length_variation, output_tokens, prefill_wave_steps):
    """Memoryless lengths: short ones that lie in the wave altogether raise the mean of means."""
    return length_variation * log(1 + 2 * output_tokens / prefill_wave_steps)


@of_burst(holds_when="first come, first served; a step decodes first and then prefills")
def burst_interference(
    prefill_wave_time,
    output_tokens,
    running_sequences,
    burst_requests,
    length_variation,
    prefill_wave_steps,
    short_output_excess,
):
    """The first wave is met by half on average, then the prefills of as many as run beside.

    Where all keep pace, those of one's own step are not met.
    """
    first = running_sequences / (2 * burst_requests)
    beside = 1 - (1 - length_variation) / largest(1, prefill_wave_steps)
    met = (1 - first) * beside + first * short_output_excess
    return prefill_wave_time / output_tokens * met


@of_burst()
def burst_tpot(admitted_sequences, running_sequences, step_time, burst_interference):
    """A step and the others' prefills, longer by the share of time that one is preempted."""
    return admitted_sequences / running_sequences * (step_time + burst_interference)
