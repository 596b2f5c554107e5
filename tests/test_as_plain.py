"""Formulas as one line of text, in names and in letters."""

from __future__ import annotations

from typing import Any

import pytest
import sympy

from derive.as_plain import plain, relation_plain
from derive.letters import letter_of, unicode_letter
from derive.plain_styles import LETTERS
from formulas.catalogue import catalogue
from formulas.fold import NoRule
from formulas.formula import VOCABULARY, Relation

EVERY = [*catalogue().relations.values(), *catalogue().defaults.values()]
LINES = {
    "ring_all_reduce": (
        "all_reduce_time = 2 (ring_gpus - 1) link_latency"
        " + (2 (ring_gpus - 1) / ring_gpus) (message_bytes / link_bandwidth)",
        "T_ring = 2(N − 1)α + 2(N − 1)/N · S/β",
    ),
    "rope_frequency": (
        "rope_theta = rope_base^(-2 rope_pair / d_head)",
        "θ_i = base^(−2 i / d_head)",
    ),
    "flops_per_token": (
        "flops_per_token ≈ 2 active_params + 4 n_layers context_tokens d_attn",
        "FLOPs per token ≈ 2 N_active + 4 L n d_attn",
    ),
    "startup_probe_budget": (
        "failure_threshold probe_period > download_time + load_time + compile_time",
        "failureThreshold × periodSeconds > worst-case download + load + compile time",
    ),
    "decode_step_bound.step_time": (
        "step_time >= weight_bytes / memory_bandwidth",
        "t_step ≥ bytes of weights read / memory bandwidth",
    ),
    "kv_transfer": (
        "kv_transfer_time ≈ prompt_tokens kv_bytes_per_token / transfer_bandwidth",
        "t_transfer ≈ n_prompt × (KV bytes/token) / link bandwidth",
    ),
    "agent_task_latency": (
        "agent_task_latency ≈ turns · (ttft + turn_decode_time) + tool_time",
        "task latency ≈ turns × (TTFT + short decode) + tool time",
    ),
    "cost_per_million_tokens": (
        "cost_per_million_tokens = n_gpus price_per_gpu_hour / (output_token_rate · 3600 / 10^6)",
        "cost per M tokens = GPUs × price per GPU-hour / (output tokens per second × 3600 / 10⁶)",
    ),
    "roofline": (
        "attainable_flops = min(peak_flops, memory_bandwidth arithmetic_intensity)",
        "attainable FLOP/s = min(P, B I)",
    ),
    "replicas": (
        "replicas = ceil(arrival_rate / (replica_request_rate target_utilization))",
        "replicas = ⌈λ / ((req/s per replica) × target utilisation)⌉",
    ),
    "deployment.micro_batch": (
        "micro_batch = max(1, batch / (dp pp))",
        "b_micro = max(1, b / (DP × PP))",
    ),
    "deployment.stage_send_time": (
        "stage_send_time = {link_latency + message_bytes / link_bandwidth if pp > 1, else 0}",
        "t_send = {α + S/β if PP > 1, else 0}",
    ),
}


def symbol(name: str) -> Any:
    return VOCABULARY[name].symbol


@pytest.mark.parametrize("key", LINES)
def test_relations(key: str) -> None:
    relation = catalogue().relations[key]
    names, letters = LINES[key]
    assert relation_plain(relation, letters=False) == names
    assert relation_plain(relation, letters=True) == letters


@pytest.mark.parametrize("relation", EVERY, ids=lambda relation: f"{relation.id}-{relation.gives}")
def test_every_relation_prints_on_one_line(relation: Relation) -> None:
    for line in (
        relation_plain(relation, letters=False),
        relation_plain(relation, letters=True),
        plain(relation.expr),
        plain(relation.value, style=LETTERS),
    ):
        assert "\n" not in line
        assert "\\" not in line
        assert "- -" not in line
        assert "+ -" not in line


@pytest.mark.parametrize("relation", EVERY, ids=lambda relation: f"{relation.id}-{relation.gives}")
def test_a_letter_stands_for_one_quantity(relation: Relation) -> None:
    names = dict.fromkeys((relation.gives, *relation.inputs, *relation.cancels))
    letters = [unicode_letter(letter_of(symbol(name), relation.letters)) for name in names]
    assert len(set(letters)) == len(letters)


@pytest.mark.parametrize("relation", EVERY, ids=lambda relation: f"{relation.id}-{relation.gives}")
def test_names_are_those_of_the_quantities(relation: Relation) -> None:
    line = relation_plain(relation, letters=False)
    for name in relation.inputs:
        assert VOCABULARY[name].short_name in line


def test_letters_are_unique_and_free_of_latex() -> None:
    shown: dict[str, str] = {}
    for quantity in catalogue().quantities.values():
        letter = unicode_letter(quantity.letter)
        assert not set(letter) & set("\\{}$^")
        if "." not in quantity.name:
            assert shown.setdefault(letter, quantity.name) == quantity.name


@pytest.mark.parametrize(
    ("letter", "shown"),
    [
        (r"\alpha_\text{acc}", "α_acc"),
        (r"n_\text{kv heads}", "n_kv_heads"),
        (r"\hat{w}", "ŵ"),
        (r"\bar{n}", "n̄"),
        (r"\Delta t", "Δt"),
        (r"\text{SLO}_\text{TTFT}", "SLO_TTFT"),
        (r"\mathbb{E}[\text{tokens}]", "E[tokens]"),
        (r"P(\text{accept } x)", "P(accept x)"),
        (r"I^{\star}", "I⋆"),
        (r"\max|w|", "max |w|"),
        (r"4\,\mathrm{GB}", "4 GB"),
        (r"\frac{\text{adapter params}}{\text{matrix params}}", "adapter params / matrix params"),
        ("h_{i-1}", "h_(i−1)"),
        ("x'", "x′"),
    ],
)
def test_letters_in_unicode(letter: str, shown: str) -> None:
    assert unicode_letter(letter) == shown


A, B, K = symbol("batch"), symbol("message_bytes"), symbol("draft_tokens")
EXPRESSIONS = [
    (A**2 / B, "batch^2 / message_bytes", "b²/S"),
    (A**-K, "batch^(-draft_tokens)", "b^(−k)"),
    (sympy.exp(-A), "exp(-batch)", "e^(−b)"),
    (sympy.sqrt(A + 1), "sqrt(1 + batch)", "√(1 + b)"),
    (sympy.Integer(4 * 10**9), "4e9", "4 · 10⁹"),
    (sympy.Integer(131072), "131072", "131\u2009072"),
    (sympy.Float("0.00012346", 40), "1.235e-4", "1.235 · 10⁻⁴"),
    (sympy.Float("42695.3", 40), "4.27e4", "4.27 · 10⁴"),
    (-sympy.oo, "-infinity", "−∞"),
    (sympy.And(A >= 1, sympy.Ne(B, 2)), "batch >= 1 and message_bytes != 2", "b ≥ 1 and S ≠ 2"),
    (sympy.floor(A / B), "floor(batch / message_bytes)", "⌊b/S⌋"),
    (2 * sympy.Abs(symbol("weight")), "2 abs(weight)", "2 |w|"),
]


@pytest.mark.parametrize(
    ("expr", "names", "letters"), EXPRESSIONS, ids=[row[1] for row in EXPRESSIONS]
)
def test_expressions(expr: Any, names: str, letters: str) -> None:
    assert plain(expr) == names
    assert plain(expr, style=LETTERS) == letters


def test_names_can_be_given() -> None:
    assert plain(A * B, lambda node: node.name.upper()) == "BATCH MESSAGE_BYTES"


def test_an_unknown_class_is_refused() -> None:
    with pytest.raises(NoRule):
        plain(sympy.sin(A))
