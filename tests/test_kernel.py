"""Kernels agree with plain numpy and plain Python, and say what is wrong with arrays."""

from __future__ import annotations

import hashlib
import math
import subprocess
import sys
import time
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from sympy.core.symbol import Str

from formulas.errors import Problem
from formulas.formula import VOCABULARY, Relation
from formulas.sheet.engine import (
    block_slot,
    locked_batch_utilization,
    physical_block,
    prefix_block_hash,
)
from formulas.sheet.faster import (
    acceptance_over_vocabulary,
    constrained_decoding,
    dequantized_weights,
    group_scale,
    lora_output,
    masked_logits,
    merged_weight,
    quantized_weights,
    residual_distribution,
)
from formulas.sheet.model import (
    after_attention,
    attention,
    layer_output,
    softmax_temperature,
)
from formulas.sheet.production import goodput
from formulas.sheet.scaling import ring_all_reduce
from formulas.sheet.speed import uneven_decode_step
from formulas.tensors import Entries, entries, total
from solvers.array_values import MOST_ELEMENTS
from solvers.block_hash import encode
from solvers.kernel import array_value, kernel, lower
from solvers.numpy_printer import ArrayPrinter

INF = float("inf")
SEEDS = range(5)


def value(relation: Relation, **given: object) -> object:
    """What the relation gives, from inputs by their short names."""
    own = {f"{relation.id}.{name}": v for name, v in given.items()}
    return array_value(
        relation, {k if k in VOCABULARY else k.rpartition(".")[2]: v for k, v in own.items()}
    )


def exact(array: np.ndarray) -> object:
    """The array as the questions bring it: nested tuples of exact numbers."""
    if array.ndim:
        return tuple(exact(row) for row in array)
    return float(array) if math.isinf(array) else Fraction(float(array))


# -- attention


def plain_attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, m: np.ndarray
) -> list[list[float]]:
    rows = []
    for i in range(len(q)):
        scores = [
            sum(a * b for a, b in zip(q[i], k[j], strict=True)) / math.sqrt(q.shape[1]) + m[i][j]
            for j in range(len(k))
        ]
        weights = [math.exp(s) for s in scores]
        shares = [w / sum(weights) for w in weights]
        rows.append([sum(s * v[j][c] for j, s in enumerate(shares)) for c in range(v.shape[1])])
    return rows


@pytest.mark.parametrize("seed", SEEDS)
def test_attention_agrees_with_loops(seed: int) -> None:
    random = np.random.default_rng(seed)
    n_q, n_k, d_k, d_v = random.integers(1, 9, size=4)
    q, k, v = (random.normal(size=s) for s in ((n_q, d_k), (n_k, d_k), (n_k, d_v)))
    mask = np.where(random.random((n_q, n_k)) < 0.4, -INF, 0.0)
    mask[:, 0] = 0
    got = value(attention, Q=exact(q), K=exact(k), V=exact(v), M=exact(mask), d_k=int(d_k))
    assert np.allclose(got, plain_attention(q, k, v, mask), rtol=1e-12, atol=1e-14)


def test_causal_attention_never_looks_ahead() -> None:
    random = np.random.default_rng(0)
    q, k, v = (random.normal(size=(6, 4)) for _ in range(3))
    mask = np.triu(np.full((6, 6), -INF), 1)
    inputs = {f"attention.{n}": a for n, a in zip("QKVM", (q, k, v, mask), strict=True)}
    before = kernel(attention)(**inputs, **{"attention.d_k": 4})
    v[4:] += 100
    after = kernel(attention)(**inputs, **{"attention.d_k": 4})
    assert (before[:4] == after[:4]).all()
    assert (before[4:] != after[4:]).all()


def test_large_scores_do_not_overflow() -> None:
    got = value(attention, Q=[[1e4]], K=[[1e4], [-1e4]], V=[[1], [2]], M=[[0, 0]], d_k=1)
    assert got == [[1.0]]


def test_a_row_that_is_masked_everywhere_is_a_problem() -> None:
    with pytest.raises(Problem, match="row 2 is masked everywhere") as caught:
        value(attention, Q=[[1], [1]], K=[[1]], V=[[1]], M=[[0], [-INF]], d_k=1)
    assert caught.value.kind == "domain"


# -- decoder layers


def test_a_stack_of_layers_is_a_loop_over_them() -> None:
    layers, width = 80, 16
    random = np.random.default_rng(1)
    start = random.normal(size=(5, width))
    weights = {
        f"{name} {layer}": random.normal(size=(width, width)) / width
        for layer in range(layers)
        for name in ("Attention", "MLP")
    }
    functions = {name: (lambda x, w=w: np.tanh(x @ w)) for name, w in weights.items()}

    def norm(x: np.ndarray) -> np.ndarray:
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-5)

    x = VOCABULARY["decoder_layer.x"].symbol
    stack = x
    for layer in range(layers):
        names = {Str(name): Str(f"{name} {layer}") for name in ("Attention", "MLP")}
        stack = layer_output(after_attention(x)).xreplace(names).xreplace({x: stack})
    (got,) = lower([stack], [x])(start, functions={"RMSNorm": norm, **functions})

    expected = start
    for layer in range(layers):
        h = expected + functions[f"Attention {layer}"](norm(expected))
        expected = h + functions[f"MLP {layer}"](norm(h))
    assert np.allclose(got, expected, rtol=1e-9, atol=1e-12)
    assert not np.allclose(got, start)


def test_rms_norm_has_a_meaning_and_the_others_are_asked_for() -> None:
    x = np.array([[3.0, 4.0], [0.0, 0.0]])
    got = kernel(after_attention)(**{"decoder_layer.x": x}, Attention=lambda m: 2 * m)
    normed = x / np.sqrt(np.array([[12.5], [0.0]]) + 1e-5)
    assert np.allclose(got, x + 2 * normed, rtol=1e-12)
    with pytest.raises(Problem, match="needs Attention") as caught:
        value(after_attention, x=[[1]])
    assert "Attention=..." in caught.value.help[0]


# -- softmax and masks


@pytest.mark.parametrize("seed", SEEDS)
def test_token_probability_agrees_with_numpy(seed: int) -> None:
    random = np.random.default_rng(seed)
    logits, temperature = random.normal(size=50) * 5, random.uniform(0.3, 3)
    powers = np.exp(logits / temperature)
    for i in (0, 17, 49):
        got = value(softmax_temperature, logits=exact(logits), temperature=temperature, i=i)
        assert got == pytest.approx(powers[i] / powers.sum(), rel=1e-12)


def test_a_whole_vocabulary_with_a_low_temperature() -> None:
    logits = np.random.default_rng(0).normal(size=128_256) * 20
    best = int(logits.argmax())
    inputs = {"softmax_temperature.logits": logits, "temperature": 0.01}
    function = kernel(softmax_temperature)
    started = time.perf_counter()
    assert function(**inputs, **{"softmax_temperature.i": best}) == pytest.approx(1)
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize("seed", SEEDS)
def test_constrained_decoding_is_softmax_over_what_is_allowed(seed: int) -> None:
    random = np.random.default_rng(seed)
    logits, allowed = random.normal(size=30), random.random(30) < 0.3
    allowed[3] = True
    masked = value(masked_logits, logits=exact(logits), allowed=[bool(a) for a in allowed])
    assert masked == [float(z) if a else -INF for z, a in zip(logits, allowed, strict=True)]
    powers = {k: math.exp(logits[k] / 0.7) for k in range(30) if allowed[k]}
    for i in range(30):
        got = value(constrained_decoding, masked_logits=masked, temperature=0.7, i=i)
        expected = powers.get(i, 0) / sum(powers.values())
        assert got == pytest.approx(expected, rel=1e-12, abs=0)


def test_nothing_allowed_is_a_problem() -> None:
    with pytest.raises(Problem, match="every entry is masked"):
        value(constrained_decoding, masked_logits=[-INF, -INF], temperature=1, i=0)


# -- tables and lengths


def test_every_position_finds_its_block() -> None:
    table = [63, 70, 29, 44]
    for position in range(4 * 16):
        inputs = {"token_position": position, "block_size": 16}
        block = value(physical_block, **inputs, block_table=table)
        slot = value(block_slot, **inputs)
        assert (block, slot) == (table[position // 16], position % 16)
        assert isinstance(block, int)
        assert isinstance(slot, int)


@pytest.mark.parametrize("position", [64, 1000])
def test_a_position_past_the_table_is_a_problem(position: int) -> None:
    with pytest.raises(Problem, match=r"block_table has 4 entries, from 0 to 3") as caught:
        value(physical_block, token_position=position, block_size=16, block_table=[1, 2, 3, 4])
    assert caught.value.kind == "domain"


@pytest.mark.parametrize("index", [-1, 2, 0.5])
def test_an_index_outside_the_vocabulary_is_a_problem(index: float) -> None:
    with pytest.raises(Problem):
        value(softmax_temperature, logits=[1, 2], temperature=1, i=index)


def test_a_negative_index_does_not_count_from_the_end() -> None:
    inputs = {"softmax_temperature.logits": [1, 2], "temperature": 1, "softmax_temperature.i": -1}
    with pytest.raises(Problem, match=r"there is no logits\[-1\]: logits has 2 entries"):
        kernel(softmax_temperature)(**inputs)


@given(st.lists(st.integers(1, 5000), min_size=1, max_size=30))
def test_useful_fraction_is_mean_over_longest(lengths: list[int]) -> None:
    got = value(locked_batch_utilization, output_lengths=lengths)
    assert got == pytest.approx(float(Fraction(sum(lengths), len(lengths) * max(lengths))))


def test_the_step_of_an_uneven_batch() -> None:
    lengths = [100, 0, 8192]
    got = value(
        uneven_decode_step,
        weight_bytes=16 * 10**9,
        context_lengths=lengths,
        kv_bytes_per_token=131072,
        memory_bandwidth=Fraction(3350 * 10**9),
    )
    assert got == pytest.approx((16e9 + 8292 * 131072) / 3.35e12)


def test_goodput_counts_both_levels_and_their_boundary() -> None:
    ttfts, tpots = [0.5, 0.51, 0.1, 0.2], [0.04, 0.01, 0.05, 0.02]
    levels = {"ttft_slo": Fraction("0.5"), "tpot_slo": Fraction("0.04"), "time_window": 8}
    got = value(goodput, request_ttfts=ttfts, request_tpots=tpots, **levels)
    assert got == 2 / 8


# -- speculative decoding


def distributions(seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    p, q = random.random((2, 40)) ** 4
    return p / p.sum(), q / q.sum()


@pytest.mark.parametrize("seed", SEEDS)
def test_acceptance_rate_is_one_minus_total_variation(seed: int) -> None:
    p, q = distributions(seed)
    given = {"target_distribution": exact(p), "draft_distribution": exact(q)}
    assert value(acceptance_over_vocabulary, **given) == pytest.approx(1 - abs(p - q).sum() / 2)


@pytest.mark.parametrize("seed", SEEDS)
def test_accepted_and_resampled_tokens_follow_the_target(seed: int) -> None:
    p, q = distributions(seed)
    given = {"target_distribution": exact(p), "draft_distribution": exact(q)}
    rate = value(acceptance_over_vocabulary, **given)
    residual = np.array(value(residual_distribution, **given))
    accepted = q * np.minimum(1, p / q)
    assert residual.sum() == pytest.approx(1)
    assert np.allclose(accepted + (1 - rate) * residual, p, rtol=1e-12, atol=1e-15)


def test_equal_distributions_leave_no_residual() -> None:
    given = {"target_distribution": [0.5, 0.5], "draft_distribution": [0.5, 0.5]}
    assert value(acceptance_over_vocabulary, **given) == 1
    with pytest.raises(Problem, match=r"residual_distribution\[0\] has no value"):
        value(residual_distribution, **given)


# -- quantization


@given(
    st.lists(st.floats(-100, 100, width=32), min_size=1, max_size=40).filter(any), st.integers(2, 8)
)
def test_a_quantized_group_is_within_half_a_step(weights: list[float], bits: int) -> None:
    scale = value(group_scale, weights=weights, quant_bits=bits)
    whole = value(quantized_weights, weights=weights, group_scale=scale)
    back = value(dequantized_weights, quantized_weights=whole, group_scale=scale)
    top = 2 ** (bits - 1) - 1
    assert scale == pytest.approx(max(map(abs, weights)) / top, rel=1e-14)
    assert all(isinstance(q, int) and abs(q) <= top for q in whole)
    assert whole == [round(w / scale) for w in weights]
    assert all(abs(w - b) <= scale / 2 * (1 + 1e-9) for w, b in zip(weights, back, strict=True))


def test_a_group_of_zeros_has_no_scale() -> None:
    with pytest.raises(Problem, match="must be > 0"):
        value(
            quantized_weights,
            weights=[0, 0],
            group_scale=value(group_scale, weights=[0, 0], quant_bits=4),
        )


# -- LoRA


@pytest.mark.parametrize("seed", SEEDS)
def test_lora_agrees_with_numpy_and_with_the_merged_weight(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, d_in, d_out, r = (int(k) for k in random.integers(1, 9, size=4))
    w, a, b, x = (random.normal(size=s) for s in ((d_out, d_in), (r, d_in), (d_out, r), (n, d_in)))
    given = {"W": exact(w), "A": exact(a), "B": exact(b), "lora_alpha": 16, "lora_rank": r}
    merged, output = value(merged_weight, **given), value(lora_output, x=exact(x), **given)
    assert np.allclose(merged, w + 16 / r * np.einsum("or,ri->oi", b, a), rtol=1e-12, atol=1e-14)
    assert np.allclose(output, x @ np.array(merged).T, rtol=1e-11, atol=1e-13)


# -- block hashes


def hashes(tokens: list[int], size: int, keys: object, **function: object) -> list[object]:
    chain: list[object] = []
    parent: object = "root"
    for start in range(0, len(tokens) - size + 1, size):
        parts = {"parent_hash": parent, "block_tokens": tuple(tokens[start : start + size])}
        given = {f"prefix_block_hash.{k}": v for k, v in {**parts, "extra_keys": keys}.items()}
        parent = kernel(prefix_block_hash)(**given, **function)
        chain.append(parent)
    return chain


def by_repr(*parts: object) -> bytes:
    return hashlib.sha256(repr(parts).encode()).digest()


PROMPT = st.lists(st.integers(0, 2), max_size=10)


@pytest.mark.parametrize("function", [{}, {"hash": by_repr}], ids=["default", "given"])
@given(start=PROMPT, one=PROMPT, other=PROMPT, size=st.integers(1, 4))
def test_prompts_share_exactly_their_common_full_blocks(
    function: dict[str, object], start: list[int], one: list[int], other: list[int], size: int
) -> None:
    first, second = start + one, start + other
    a, b = hashes(first, size, (), **function), hashes(second, size, (), **function)
    common = 0
    while (common + 1) * size <= min(len(first), len(second)) and (
        first[: (common + 1) * size] == second[: (common + 1) * size]
    ):
        common += 1
    assert a[:common] == b[:common]
    assert set(a[common:]).isdisjoint(b)


def test_a_block_hash_is_answered_in_hex() -> None:
    parts = {
        "parent_hash": "none",
        "block_tokens": (Fraction(1), Fraction(2)),
        "extra_keys": ["lora"],
    }
    got = value(prefix_block_hash, **parts)
    assert isinstance(got, str)
    assert len(bytes.fromhex(got)) == 32
    assert got == value(prefix_block_hash, **{**parts, "block_tokens": [1, 2.0]})
    assert got != value(prefix_block_hash, **{**parts, "extra_keys": []})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("ab", "c"), ("a", "bc")),
        ((12, 3), (1, 23)),
        (((1,), 2), (1, (2,))),
        ((), ((),)),
        ("1", 1),
        (True, 1),
        (None, "None"),
        (b"a", "a"),
        (Fraction(1, 3), "1/3"),
        (0.1, Fraction(1, 10)),
        (-INF, INF),
    ],
)
def test_different_values_have_different_encodings(one: object, other: object) -> None:
    assert encode(one) != encode(other)


NESTED = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("1:sl", max_size=3),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=6,
)


@given(NESTED, NESTED)
def test_encodings_are_equal_exactly_where_values_are(one: object, other: object) -> None:
    assert (encode(one) == encode(other)) is (repr(one) == repr(other))


def test_what_cannot_be_encoded_is_a_problem() -> None:
    with pytest.raises(Problem, match="no number, text or list"):
        encode({"a": 1})
    with pytest.raises(Problem, match="no number, text or list"):
        encode(float("nan"))


# -- what is wrong with an array

LORA = {"x": [[1, 1, 1, 1]], "W": [[1] * 4] * 3, "A": [[1] * 4] * 2, "B": [[1, 1]] * 3}
SCALES = {"lora_alpha": 8, "lora_rank": 2}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"A": [[1] * 5] * 2}, "x is 1 x 4 and A is 2 x 5: both have d_in"),
        ({"B": [[1, 1]] * 4}, "W is 3 x 4 and B is 4 x 2: both have d_out"),
        ({"B": [[1]] * 3}, "A is 2 x 4 and B is 3 x 1: both have r"),
        ({"lora_rank": 4}, "lora_rank is 4, but A is 2 x 4, so r is 2"),
        ({"W": [[1] * 4, [1] * 3, [1] * 4]}, "row 2 of W has 3 entries, and row 1 has 4"),
        ({"W": [1, 2, 3, 4]}, "W has the shape d_out x d_in, but it is given with fewer"),
        ({"W": [[[1]]]}, "W has the shape d_out x d_in, but it is given with more"),
        ({"lora_alpha": [1]}, "lora_alpha is one number, but it is given with more"),
        ({"W": []}, "W is empty"),
        ({"W": [[]]}, "W is empty"),
        ({"W": [["a"] * 4] * 3}, "W holds 'a', which is no number"),
        ({"W": [[INF] * 4] * 3}, "W holds inf"),
        ({"W": [[float("nan")] * 4] * 3}, "W holds nan"),
        ({"W": [[Fraction(10**400)] * 4] * 3}, "which is no number"),
        ({"W": [[-INF] * 4] * 3, "x": [[1, -1, 0, 0]]}, r"lora_output\[0, 0\] has no value"),
    ],
)
def test_wrong_arrays_are_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(Problem, match=message):
        value(lora_output, **{**LORA, **SCALES, **change})


def test_vectors_of_unequal_length_are_named() -> None:
    with pytest.raises(
        Problem, match="logits has length 2 and allowed has length 3: both have vocab"
    ):
        value(masked_logits, logits=[1, 2], allowed=[True, False, True])


def test_values_outside_their_domain_are_named() -> None:
    with pytest.raises(Problem, match="allowed holds 2, but it must be"):
        value(masked_logits, logits=[1, 2], allowed=[0, 2])
    with pytest.raises(Problem, match="temperature is 0, but it must be > 0"):
        value(softmax_temperature, logits=[1, 2], temperature=0, i=0)


def test_too_many_elements_are_refused_before_they_are_computed() -> None:
    with pytest.raises(Problem, match="2,000,000 is the most"):
        value(locked_batch_utilization, output_lengths=[1] * (MOST_ELEMENTS + 1))
    column, row = [[1]] * 30_000, [[1] * 30_000]
    # Each array is small; x A^T is not.
    given = {"x": column, "W": [[1]], "A": column, "B": row}
    with pytest.raises(Problem, match="takes arrays of 900,000,000 elements"):
        value(lora_output, **given, lora_alpha=1, lora_rank=30_000)


# -- the printer


def test_one_kernel_has_many_scalar_outputs() -> None:
    gpus, size = (VOCABULARY[n].symbol for n in ("ring_gpus", "message_bytes"))
    names = [VOCABULARY[n].symbol for n in ring_all_reduce.inputs]
    clipped = sympy.Piecewise((sympy.Min(size, 10**6), gpus > 4), (sympy.ceiling(size / 3), True))
    many = lower([ring_all_reduce.value, clipped], names)
    columns = {"ring_gpus": np.array([2.0, 8.0]), "message_bytes": np.array([1e7, 5e6])}
    arguments = {"link_latency": 1e-6, "link_bandwidth": 1e11, **columns}
    ring, other = many(*(arguments[n] for n in ring_all_reduce.inputs), functions={})
    n, s = columns["ring_gpus"], columns["message_bytes"]
    assert np.allclose(ring, 2 * (n - 1) * 1e-6 + 2 * (n - 1) / n * s / 1e11, rtol=1e-14)
    assert other.tolist() == [3333334, 1e6]


def test_a_node_without_a_rule_is_an_error() -> None:
    x = VOCABULARY["temperature"].symbol
    with pytest.raises(NotImplementedError):
        ArrayPrinter().doprint(sympy.Function("unheard_of")(x))


def test_a_sum_that_depends_on_an_outer_index_is_refused() -> None:
    p = VOCABULARY["speculative_acceptance.target_distribution"].symbol
    table = entries(p, lambda i: total(p, lambda j: p[j] * p[i]))
    assert isinstance(table, Entries)
    with pytest.raises(NotImplementedError, match="depends on the outer index i"):
        ArrayPrinter().doprint(table)


def test_kernels_are_kept() -> None:
    assert kernel(goodput) is kernel(goodput)


def test_a_wrong_argument_is_an_error() -> None:
    with pytest.raises(TypeError, match="takes no speed"):
        kernel(locked_batch_utilization)(
            **{"locked_batch_utilization.output_lengths": [1.0]}, speed=3
        )


def test_scalar_questions_do_not_import_numpy() -> None:
    code = (
        "import sys, solvers.kernel, formulas.catalogue\n"
        "formulas.catalogue.catalogue()\n"
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
