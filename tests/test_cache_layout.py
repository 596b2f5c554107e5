"""The layout of mixed caches against a plain allocator, and steps that turn against a count."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
import sympy

from derive.session import Session
from formulas.catalogue import catalogue
from solvers.monotone import direction, turning
from tests.deployments import answers

SEED = 6
DEPLOYMENTS = 12
CONTEXT = catalogue().quantity("context_tokens").symbol


def drawn(choose: random.Random) -> dict[str, Any]:
    """Facts of one model with layers of two kinds or three."""
    full = choose.choice((1, 2, 4, 5, 10, 16))
    windows = choose.choice((0, 0, 3, 12, 25, 50))
    states = choose.choice((0, 12, 30, 48)) if windows == 0 or choose.random() < 0.3 else 0
    states = states or (0 if windows else 7)
    heads = choose.choice((1, 2, 4, 8))
    return {
        "n_layers": full + windows + states,
        "full_layers": full,
        "window_layers": windows,
        "state_layers": states,
        "drafter_layers": choose.choice((0, 0, 1)),
        "other_drafter_layers": choose.choice((0, 0, 0, 3)),
        "n_kv_heads": heads,
        "d_head": choose.choice((64, 128, 256)),
        "sliding_window": choose.choice((128, 1024)),
        "ssm_elements": 64 * choose.choice((4096, 16384)),
        "ssm_bytes_per_element": choose.choice((2, 4)),
        "conv_channels": 64 * choose.randint(10, 160),
        "conv_kernel": 4,
        "speculative_tokens": choose.choice((0, 0, 2, 4)),
        "prefix_caching": choose.choice((0, 1)),
        "max_batched_tokens": choose.choice((1024, 8192)),
        "tp": choose.choice((1, 2, 4, 8)),
        "kv_dtype": choose.choice(("bf16", "fp8")),
        "context_tokens": choose.randint(1, 200_000),
        "kv_cache_bytes_per_gpu": choose.randint(10**9, 10**11),
    }


def allotted(facts: dict[str, Any]) -> dict[str, int]:
    """Every layer, group and page one by one."""
    per_gpu = max(1, facts["n_kv_heads"] / facts["tp"])
    element = {"bf16": 2, "fp8": 1}[facts["kv_dtype"]]
    token = int(per_gpu * 2 * facts["d_head"] * element)
    kinds = {
        "full": facts["full_layers"] + facts["drafter_layers"],
        "window": facts["window_layers"],
        "state": facts["state_layers"],
        "other": facts["other_drafter_layers"],
    }
    there = [count for count in kinds.values() if count]
    size = max(there) if max(there) < 1.5 * min(there) else min(there)
    groups = {kind: len(range(0, count, size)) for kind, count in kinds.items()}
    state = Fraction(facts["ssm_elements"] * facts["ssm_bytes_per_element"], facts["tp"])
    kept = facts["conv_kernel"] - 1 + facts["speculative_tokens"]
    state += Fraction(facts["conv_channels"] * kept * 2, facts["tp"])
    block = 16
    while kinds["state"] and block * token < state:
        block += 16
    length = facts["context_tokens"]
    blocks = (groups["full"] + groups["other"]) * len(range(0, length, block))
    if groups["window"]:
        seen = min(facts["sliding_window"] - 1 + facts["max_batched_tokens"], length)
        blocks += groups["window"] * (len(range(0, seen, block)) + 1)
    copies = 1 + facts["prefix_caching"] + facts["speculative_tokens"]
    blocks += groups["state"] * copies
    pool = facts["kv_cache_bytes_per_gpu"] // (size * block * token)
    return {
        "group_layers": size,
        "full_block_tokens": block,
        "request_blocks": blocks,
        "kv_cache_blocks": pool,
        "kv_cache_tokens": math.floor(Fraction(pool, blocks) * length),
        "kv_cache_tokens_old_log": pool // sum(groups.values()) * block,
        "request_cache_bytes": blocks * size * block * token,
    }


def test_pages_and_groups_are_those_of_a_plain_allocator() -> None:
    choose = random.Random(SEED)
    rows = [drawn(choose) for _ in range(DEPLOYMENTS)]
    questions = [(name, row) for row in rows for name in allotted(row)]
    expected = [value for row in rows for value in allotted(row).values()]
    found = answers(questions)
    for (name, row), value, answer in zip(questions, expected, found, strict=True):
        assert answer.get("value") == value, (name, row, answer)


def test_the_longest_context_is_the_last_that_fits() -> None:
    choose = random.Random(SEED + 1)
    for _ in range(6):
        facts = drawn(choose)
        del facts["context_tokens"]
        longest = Session(**facts).max("context_tokens").value
        memory = facts["kv_cache_bytes_per_gpu"]
        fits = allotted({**facts, "context_tokens": longest})["request_cache_bytes"]
        beyond = allotted({**facts, "context_tokens": longest + 1})["request_cache_bytes"]
        assert fits <= memory < beyond


@pytest.mark.parametrize("model", ["deepseek-v3.2", "deepseek-v3", "llama-3.1-8b"])
def test_where_every_layer_grows_a_token_costs_what_grows(model: str) -> None:
    session = Session(model=model, tp=2, kv_dtype="bf16")
    cost = session.ask("kv_bytes_per_token_per_gpu").value
    assert session.ask("growing_bytes_per_token").value == cost


def test_a_uniform_model_has_no_groups_and_a_mixed_one_no_bytes_of_a_token() -> None:
    uniform = Session(n_layers=32, n_kv_heads=8, d_head=128, tp=1, context_tokens=4096)
    assert uniform.ask("request_blocks").status == "missing"
    mixed = Session(n_layers=34, window_layers=29, n_kv_heads=4, d_head=256, tp=1)
    reply = mixed.ask("kv_bytes_per_token_per_gpu")
    assert reply.status == "missing"
    assert "request_cache_bytes" in reply.to_dict()["message"]


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (CONTEXT, 1),
        (3 - CONTEXT, -1),
        (sympy.ceiling(CONTEXT / 16) + sympy.Min(CONTEXT, 100), 1),
        (5 / (CONTEXT + 1), -1),
        (CONTEXT - sympy.ceiling(CONTEXT / 16), None),
        (sympy.sin(CONTEXT), None),
        (CONTEXT**2 * CONTEXT.func("batch", positive=True), 1),
        (sympy.Integer(7), 0),
    ],
)
def test_directions(expr: Any, expected: int | None) -> None:
    assert direction(expr, CONTEXT) == expected


def limits() -> Iterator[tuple[Any, int]]:
    steps = 7 * sympy.ceiling(CONTEXT / 16) + 3 * sympy.ceiling(sympy.Min(CONTEXT, 50) / 8)
    for limit in (0, 6, 29, 30, 100, 500, 10**6):
        yield steps <= limit, limit
        yield steps > limit, limit


@pytest.mark.parametrize(("condition", "limit"), list(limits()))
def test_a_turn_is_where_counting_finds_it(condition: Any, limit: int) -> None:
    last = 2000
    holds = [bool(condition.subs(CONTEXT, n)) for n in range(last + 1)]
    turns = [n for n in range(last) if holds[n] != holds[n + 1]]
    found = turning(condition, CONTEXT, Fraction(0), Fraction(last), Fraction(1))
    assert found == ([Fraction(turns[0]), Fraction(turns[0] + 1)] if turns else []), limit
