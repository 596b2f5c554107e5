"""The vocabulary of a burst: requests that are all submitted at once, and served until none is left.

A row is name, letter (LaTeX, unique), unit, domain, meaning, and the tag it is printed with.
"""
# ruff: noqa: E501  (one quantity, one line: the table is read down its columns)

from __future__ import annotations

from formulas.quantity import FROM_ONE, NOT_NEGATIVE, POSITIVE, SHARE, subject

# What nobody can tell from the means of a benchmark: how lengths are spread, how the engine admits.
UNKNOWN_OF_BURSTS = subject("burst", (
    ("length_variation", r"v_\text{out}", "1", SHARE, "variation of output lengths, as the square of deviation over mean: 0 all alike, 1 memoryless"),
    ("reserved_share", r"\eta_\text{res}", "1", SHARE, "share of its output for which a sequence needs cache to be admitted: 1 none is ever preempted, 0 the prompt alone"),
))

OF_BURSTS = subject("burst", (
    ("burst_requests", r"N_\text{burst}", "1", FROM_ONE, "requests that are submitted at once", "req"),
    ("admission_tokens", r"n_\text{admit}", "1", POSITIVE, "cached tokens that a sequence needs to be admitted", "tok"),
    ("resident_tokens", r"n_\text{resident}", "1", POSITIVE, "cached tokens of a sequence while it decodes, on average", "tok"),
    ("cached_sequences", r"n_\text{cached seq}", "1", POSITIVE, "sequences that the cache of a replica has room to admit", "seq"),
    ("fed_sequences", r"n_\text{fed}", "1", POSITIVE, "sequences that decode at once where prefill takes all that decoding leaves of each step", "seq"),
    ("admitted_sequences", r"n_\text{admitted}", "1", POSITIVE, "sequences of a burst that are inside at once, preempted ones among them", "seq"),
    ("running_sequences", r"n_\text{running}", "1", POSITIVE, "sequences of a burst that decode at once while others wait", "seq"),
    ("prefill_wave_time", r"t_\text{wave}", "s", NOT_NEGATIVE, "time to prefill as many prompts as decode at once"),
    ("prefill_wave_steps", r"n_\text{wave}", "1", POSITIVE, "steps that prefill as many prompts as decode at once"),
    ("drain_outputs", r"n_\text{drain}", "1", NOT_NEGATIVE, "mean outputs that pass while the last sequences end, one place after the other"),
    ("short_output_excess", r"f_\text{short}", "1", NOT_NEGATIVE, "prefills of a first wave that the mean of means counts on top, over those met by half"),
    ("burst_interference", r"t_\text{burst interference}", "s", NOT_NEGATIVE, "prefill of the others between two tokens of a burst's request, on average"),
    ("burst_duration", r"t_\text{burst}", "s", POSITIVE, "time from the submission of a burst to its last token"),
    ("burst_token_rate", r"r_\text{burst}", "1/s", POSITIVE, "output tokens per second of a burst, over its whole duration", "tok/s"),
    ("burst_tpot", r"\text{TPOT}_\text{burst}", "s", POSITIVE, "time per output token of a burst's requests, the mean of their means"),
))

SPEED_OF_BURSTS = (*UNKNOWN_OF_BURSTS, *OF_BURSTS)
