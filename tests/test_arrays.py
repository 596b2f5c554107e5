"""The matrix and indexed formulas as expressions: limits, equal forms, chains, printing, units."""

from __future__ import annotations

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from formulas.errors import CatalogueError
from formulas.formula import VOCABULARY, Relation, formula, free_names, parameters
from formulas.sheet import engine, faster, model, production, speed
from formulas.sheet.faster import quant_scale
from formulas.sheet.speed import decode_step_kv
from formulas.tensors import (
    BlockHash,
    Entries,
    MatrixFunction,
    MaxOver,
    Softmax,
    entries,
    largest_of,
    total,
)

MODULES = (model, engine, faster, production, speed)
RELATIONS = [
    relation
    for module in MODULES
    for relation in vars(module).values()
    if isinstance(relation, Relation)
    and relation.body.__module__ == module.__name__
    and (relation.is_array or relation.gives == "block_slot")
]
NAMES = [f"{r.id}:{r.gives}" for r in RELATIONS]


def explicit(*numbers: object) -> sympy.Array:
    return sympy.Array(numbers)


def built(expr: sympy.Basic) -> sympy.Basic:
    """The expression with sympy's evaluation applied to every node."""
    return expr.func(*map(built, expr.args)).doit() if expr.args else expr


def symbol(name: str) -> sympy.Basic:
    return VOCABULARY[name].symbol


def test_every_entry_on_arrays_is_declared() -> None:
    assert {r.id for r in RELATIONS} == {
        "attention", "decoder_layer", "softmax_temperature", "constrained_decoding",
        "locked_batch_utilization", "paged_block_lookup", "prefix_block_hash",
        "speculative_acceptance", "integer_quantization", "lora_forward", "goodput",
        "decode_step_kv",
    }  # fmt: skip


@pytest.mark.parametrize("relation", RELATIONS, ids=NAMES)
def test_prints_and_names_its_inputs(relation: Relation) -> None:
    assert isinstance(relation.expr, sympy.Basic)
    assert sympy.latex(relation.expr)
    assert sympy.latex(relation.written)
    assert set(relation.inputs) == free_names(relation.expr) & set(VOCABULARY)


@pytest.mark.parametrize("relation", RELATIONS, ids=NAMES)
def test_what_is_printed_is_what_is_computed(relation: Relation) -> None:
    assert built(relation.written) == built(relation.expr)


def test_matrix_sums_print_in_the_order_of_the_sheet() -> None:
    x = symbol("decoder_layer.x")
    layer = model.after_attention.written
    assert layer.args == (x, MatrixFunction("Attention", MatrixFunction("RMSNorm", x)))
    scores, mask = model.attention.written.args[0].matrix.args
    assert mask == symbol("attention.M")
    assert symbol("attention.Q") in scores.args


def test_units_of_arrays_are_checked() -> None:
    def goodput(request_ttfts, time_window):  # type: ignore[no-untyped-def]
        return total(request_ttfts, lambda j: request_ttfts[j]) * time_window

    with pytest.raises(CatalogueError, match="goodput is in 1/s, but the right side is in second"):
        formula(id="goodput", gives="goodput")(goodput)


def test_an_index_with_a_unit_is_refused() -> None:
    def physical_block(block_table, time_window):  # type: ignore[no-untyped-def]
        return block_table[time_window]

    with pytest.raises(CatalogueError, match="time_window is in s, but only a pure number"):
        formula(id="paged_block_lookup", gives="physical_block")(physical_block)


def test_an_unused_array_is_refused() -> None:
    def locked_batch_utilization(output_lengths, batch):  # type: ignore[no-untyped-def]
        # The dimension of the array is called batch too; it is no use of the quantity.
        return total(output_lengths, lambda i: output_lengths[i]) / output_lengths.shape[0]

    with pytest.raises(CatalogueError, match=r"takes \['batch'\] but never uses it"):
        formula(id="locked_batch_utilization", gives="useful_fraction")(locked_batch_utilization)


# -- softmax


def chance(logits: sympy.Array, temperature: object, position: int) -> sympy.Expr:
    return model.softmax_temperature(logits, temperature, position).doit()


def test_softmax_is_greedy_at_temperature_zero() -> None:
    t = symbol("temperature")
    logits = explicit(2, 5, sympy.Rational(9, 2), -1)
    limits = [sympy.limit(chance(logits, t, k), t, 0, "+") for k in range(4)]
    assert limits == [0, 1, 0, 0]


def test_softmax_shares_a_tie_at_temperature_zero() -> None:
    t = symbol("temperature")
    limits = [sympy.limit(chance(explicit(3, 1, 3), t, k), t, 0, "+") for k in range(3)]
    assert limits == [sympy.Rational(1, 2), 0, sympy.Rational(1, 2)]


def test_softmax_is_uniform_at_infinite_temperature() -> None:
    t = symbol("temperature")
    limits = [sympy.limit(chance(explicit(2, 5, 4, -1), t, k), t, sympy.oo) for k in range(4)]
    assert limits == [sympy.Rational(1, 4)] * 4


def test_softmax_at_one_is_the_models_own_distribution() -> None:
    z = sympy.symbols("z0:3", real=True)
    own = [sympy.exp(x) / sum(map(sympy.exp, z)) for x in z]
    assert [chance(explicit(*z), 1, k) for k in range(3)] == own
    assert sympy.simplify(sum(own)) == 1


def test_a_masked_token_has_no_chance_at_any_temperature() -> None:
    t = symbol("temperature")
    masked = faster.masked_logits(explicit(2, 5, 4), explicit(1, 0, 1))
    assert [masked[k].doit() for k in range(3)] == [2, -sympy.oo, 4]
    z = explicit(*(masked[k].doit() for k in range(3)))
    assert faster.constrained_decoding(z, t, 1).doit() == 0
    assert sympy.limit(faster.constrained_decoding(z, t, 2).doit(), t, 0, "+") == 1


def test_a_row_of_the_matrix_softmax_is_the_indexed_softmax() -> None:
    scores = sympy.Matrix([[1, 2, 4], [0, sympy.log(3), -1]])
    rows = Softmax(sympy.ImmutableMatrix(scores)).as_explicit().doit()
    for i in range(2):
        indexed = [chance(explicit(*scores.row(i)), 1, j) for j in range(3)]
        assert [sympy.simplify(rows[i, j] - indexed[j]) for j in range(3)] == [0, 0, 0]


# -- attention and LoRA


def test_attention_has_the_shape_of_queries_by_values() -> None:
    assert model.attention.expr.shape == tuple(
        symbol(f"attention.{name}").shape[side] for name, side in (("Q", 0), ("V", 1))
    )


def test_the_two_forms_of_lora_are_equal() -> None:
    w, a, b, x = (symbol(f"lora_forward.{name}") for name in "WABx")
    alpha, rank = symbol("lora_alpha"), symbol("lora_rank")
    merged = faster.merged_weight(w, a, b, alpha, rank)
    apart = faster.lora_output(x, w, a, b, alpha, rank)
    assert (x * merged.T).doit().expand() == apart.doit().expand()


def test_layers_share_one_object_for_equal_parts() -> None:
    x = symbol("decoder_layer.x")
    first, second = (
        model.layer_output(model.after_attention(x)) for _ in range(2)
    )  # two builds of the same layer
    functions = [sorted(e.atoms(MatrixFunction), key=str) for e in (first, second)]
    assert all(one is other for one, other in zip(*functions, strict=True))
    assert first.free_symbols == x.free_symbols


# -- sums, maxima and tables


def test_useful_fraction_depends_on_the_spread_only() -> None:
    scale = sympy.Symbol("s", positive=True)
    lengths = [sympy.Integer(n) for n in (3, 1, 2)]
    plain = engine.locked_batch_utilization(explicit(*lengths)).doit()
    scaled = engine.locked_batch_utilization(explicit(*(scale * n for n in lengths))).doit()
    assert plain == sympy.Rational(2, 3)
    assert sympy.simplify(scaled) == plain


def test_acceptance_is_one_minus_the_total_variation() -> None:
    p = [sympy.Rational(n, 10) for n in (5, 3, 2)]
    q = [sympy.Rational(n, 10) for n in (2, 2, 6)]
    rate = faster.acceptance_over_vocabulary(explicit(*p), explicit(*q)).doit()
    distance = sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
    assert rate == 1 - distance


def test_block_and_slot_give_the_position_back() -> None:
    table = explicit(40, 41, 42, 43)
    for position in range(16):
        block = engine.physical_block(sympy.Integer(position), 4, table)
        slot = engine.block_slot(sympy.Integer(position), 4)
        assert (block - 40) * 4 + slot == position


def test_the_sum_form_is_the_product_form_where_lengths_are_equal() -> None:
    weights, kv, bandwidth, n = (
        symbol(name)
        for name in ("weight_bytes", "kv_bytes_per_token", "memory_bandwidth", "context_tokens")
    )
    uneven = speed.uneven_decode_step(weights, explicit(n, n, n), kv, bandwidth).doit()
    assert sympy.simplify(uneven - decode_step_kv(weights, 3, n, kv, bandwidth)) == 0


def test_the_sum_form_waits_for_its_array() -> None:
    assert speed.uneven_decode_step.only_with == ("decode_step_kv.context_lengths",)


def test_the_scale_of_a_group_is_the_scale_of_its_largest_weight() -> None:
    scale = faster.group_scale(explicit(sympy.Rational(-7, 10), 0, sympy.Rational(1, 2)), 4)
    assert scale.doit() == quant_scale(sympy.Rational(7, 10), 4) == sympy.Rational(1, 10)


def test_a_bound_index_is_not_free_and_is_not_captured() -> None:
    p = symbol("speculative_acceptance.target_distribution")
    j = sympy.Symbol("j", integer=True, nonnegative=True)
    top = largest_of(p, lambda k: p[k])
    assert isinstance(top, MaxOver)
    assert j not in top.free_symbols
    assert top.subs(j, 3) == top
    shares = entries(p, lambda i: p[i] / total(p, lambda k: p[k]))
    assert isinstance(shares, Entries)
    assert shares[2] == p[2] / total(p, lambda k: p[k])
    with pytest.raises(ValueError, match="j would be bound"):
        shares[j]


# -- block hashes


def chain(tokens: list[int], size: int, keys: tuple[str, ...] = ()) -> list[sympy.Basic]:
    """The hash of each full block, as an expression."""
    hashes: list[sympy.Basic] = []
    parent: sympy.Basic = symbol("prefix_block_hash.parent_hash")
    extra = sympy.Tuple(*map(sympy.Symbol, keys))
    for start in range(0, len(tokens) - size + 1, size):
        block = sympy.Tuple(*tokens[start : start + size])
        parent = engine.prefix_block_hash(parent, block, extra)
        hashes.append(parent)
    return hashes


PROMPT = st.lists(st.integers(0, 1), max_size=12)


@given(PROMPT, PROMPT, PROMPT, st.integers(1, 4))
def test_two_chains_share_exactly_their_common_full_blocks(
    start: list[int], one: list[int], other: list[int], size: int
) -> None:
    first, second = start + one, start + other
    a, b = chain(first, size), chain(second, size)
    for i, left in enumerate(a):
        for j, right in enumerate(b):
            same = first[: (i + 1) * size] == second[: (j + 1) * size]
            assert (left == right) is same


def test_extra_keys_separate_equal_tokens() -> None:
    plain, adapted = chain([1, 2, 3, 4], 2), chain([1, 2, 3, 4], 2, ("adapter",))
    assert set(plain).isdisjoint(adapted)
    assert isinstance(plain[1], BlockHash)
    assert plain[1].parent == plain[0]


def test_parameters_are_the_arrays_of_their_own_formula() -> None:
    body = faster.lora_output.body
    assert parameters("lora_forward", body)[0] == "lora_forward.x"
    with pytest.raises(CatalogueError, match="no quantity 'x'"):
        parameters("goodput", body)
