"""Documents to be tested: of the golden questions, and of every kind of answer."""

from __future__ import annotations

import os
import shutil
from functools import cache

import pytest

from derive.conversation import Conversation
from derive.paper import Paper
from derive.session import Reply, Session
from tests.transcripts import questions

_DENSE = "model llama-3.1-70b, gpu 8 x h100-sxm, tp = 8, batch = 32"
QUESTIONS = (
    f"max context given {_DENSE}, tpot <= 30 ms",
    f"context given {_DENSE}, tpot = 20 ms",
    f"context given {_DENSE}, tpot <= 20 ms",
    f"max context given {_DENSE}, tpot <= 5 ms",
    f"kv_bytes_per_gpu / weight_bytes_per_gpu given {_DENSE}, context = 8k",
    "max batch given model deepseek-v3, gpu 8 x h200-sxm, prompt = 2k, output = 500, tpot <= 50 ms",
    "max batch given model llama-3.1-8b, gpu h100-sxm, context = 8k, tpot <= 12 ms",
    "batch given model llama-3.1-8b, gpu h100-sxm, context = 8k, tpot = 12 ms",
    "min tpot given model llama-3.1-70b, gpu 8 x h100-sxm, batch = 32, context = 32Ki over tp, "
    "kv_dtype",
    "tpot given model llama-3.1-8b, gpu h100-sxm, batch = 16, context = 8k",
    "tpot given model gpt-oss-120b, gpu h100-sxm, batch = 16, context = 8k",
    "min memory_bandwidth given model llama-3.1-8b, gpu h100-sxm, batch = 8, context = 8k, "
    "memory_bandwidth <= 9 TB/s, tpot <= 12 ms",
    "n_layers given kv_bytes_per_token = 131072, n_kv_heads = 8, d_head = 128, kv_dtype = bf16",
    "ring_gpus given all_reduce_time = 2 ms, link_latency = 2 us, message_bytes = 5 MB, "
    "link_bandwidth = 100 GB/s",
    "cost_per_million_tokens given n_gpus = 2, price = $2.50/h, output_token_rate = 1500 tok/s",
    "tpot given batch = 3",
    "max context given batch = 32",
    "tpot given step_time = 3 ms, tpot = 5 ms, prefill_interference = 0 s",
)


@cache
def replies() -> dict[str, Reply]:
    """The answers to the questions above and to those of the golden transcripts, by question."""
    found = {question: Session().ask(question) for question in QUESTIONS}
    for conversation, line in questions():
        outcome = _said(conversation, line)
        if outcome is not None:
            found.setdefault(f"transcript: {line} ({len(found)})", outcome)
    return found


def _said(conversation: Conversation, line: str) -> Reply | None:
    return conversation.say(line)[1].reply


@cache
def papers() -> dict[str, Paper]:
    """Their derivations."""
    return {question: reply.derivation() for question, reply in replies().items()}


def needs(program: str) -> str:
    """The path of a program; without it the test is skipped, but in CI it fails."""
    found = shutil.which(program)
    if found is None:
        reason = f"{program} is not installed"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found
