"""The reference numbers: all there, each with its source, and forty of them recomputed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import pytest

from formulas.errors import CatalogueError
from formulas.hardware import gpus, links
from formulas.models import models
from formulas.numbers import Figure, ReferenceNumber, numbers, reference_number
from formulas.tables import load
from solvers.recompute import check
from solvers.recompute.check import RECOMPUTATIONS, agrees, difference, recomputed, within
from solvers.recompute.figures import Several, calculated
from solvers.recompute.of_models import mlp_shares, thin_matrices

SHEET = """
vocabulary_size english_text_per_token llama31_layer_count llama31_8b_attention_heads
llama31_8b_embedding_table dense_parameter_split
llama31_8b_kv_per_token llama31_70b_kv_per_token 8b_weights_bf16 llama31_70b_weights_bf16
gqa_vs_mha_cache mla_cache gpu_memory_utilization
h100_bf16_compute h100_hbm_bandwidth h100_ridge_point batch1_decode_intensity h200_vs_h100
ridge_by_precision achieved_mbu flashattention_speedup cuda_graphs_speedup
kv_block_size contiguous_kv_utilization paged_kv_utilization prefix_caching_default
chunked_prefill_stall chat_token_budget fp8_kv_capacity
draft_length acceptance_rate_by_workload bf16_layout fp8_e4m3_layout int4_scale_granularity
low_precision_rate fp8_kv_cache lora_rank multi_lora_overhead
nvlink5 nvlink4 pcie_gen5_x16 infiniband h100_link_ratios llama31_tp_limit deepseek_v3_parameters
bf16_weight_memory pd_pool_utilization
percentiles fleet_percentile daily_cycle_cost p99_sample_size isl_osl_ratio prefix_routing_gain
autoscaling_signals eval_size
gpu_request_integer mig_slices h100_mig_profiles sharing_mechanism xid_cordon_and_drain
xid_check_application dcgm_gpu_util dcgm_roof_metrics oom_killed
reasoning_vs_chat_shape agent_model_calls tokens_per_image image_token_schemes
reranker_candidates vector_shrinking
"""
IN_ORDER = SHEET.split()
ALL = tuple(numbers().values())
VERIFIED = tuple(number for number in ALL if number.verified)


def by_id(number: ReferenceNumber) -> str:
    return number.id


def test_the_seventy_are_there_in_the_order_of_the_sheet() -> None:
    assert list(numbers()) == IN_ORDER
    assert len(IN_ORDER) == 70
    order = list(dict.fromkeys(number.section for number in ALL))
    sections = "model memory speed engine faster scaling production kubernetes beyond"
    assert " ".join(order) == sections


@pytest.mark.parametrize("number", ALL, ids=by_id)
def test_every_number_says_where_and_when_it_is_from(number: ReferenceNumber) -> None:
    assert number.source[0] == f"cheat sheet Token by Token, chapter {number.chapter}"
    assert all(number.source)
    assert len(set(number.source)) == len(number.source)
    assert number.as_of == "2026-11"
    assert number.about.endswith(".")
    assert set(number.units) == set(number.values)
    assert number.lists <= set(number.values)


def test_a_number_from_shipped_rows_has_their_sources() -> None:
    for row in (gpus()["h100-sxm-80gb"].row, links()["nvlink4"], links()["pcie5_x16"]):
        assert set(row["source"]) <= set(numbers()["h100_link_ratios"].source)
    assert set(models()["deepseek-v3"].source) <= set(numbers()["mla_cache"].source)


@pytest.mark.parametrize("key", ["source", "as_of", "about", "unit", "values", "chapter"])
def test_a_row_that_says_too_little_is_refused(key: str) -> None:
    row = dict(load("numbers.toml")["numbers"]["kv_block_size"])
    assert reference_number("kv_block_size", row) == numbers()["kv_block_size"]
    del row[key]
    with pytest.raises(CatalogueError, match=f"kv_block_size: no {key}"):
        reference_number("kv_block_size", row)


def test_an_empty_source_is_none() -> None:
    row = {**load("numbers.toml")["numbers"]["kv_block_size"], "source": []}
    with pytest.raises(CatalogueError, match="no source"):
        reference_number("kv_block_size", row)


def test_a_row_that_is_not_there_is_refused() -> None:
    row = {**load("numbers.toml")["numbers"]["kv_block_size"], "rows": ["gpus.h1000"]}
    with pytest.raises(CatalogueError, match=r"no row 'h1000' in gpus\.toml"):
        reference_number("kv_block_size", row)


# Read off the sheet by hand.
@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("llama31_8b_kv_per_token", "bytes", Fraction(128 * 1024)),
        ("llama31_70b_kv_per_token", "bytes_for_8192_tokens", Fraction(5 * 2**29)),
        ("llama31_70b_weights_bf16", "bytes", Fraction(141 * 10**9)),
        ("gqa_vs_mha_cache", "times_smaller", (Fraction(4), Fraction(16))),
        ("h100_ridge_point", "ridge", Fraction(295)),
        ("h200_vs_h100", "ratio", Fraction(143, 100)),
        ("ridge_by_precision", "rubin_fp4", Fraction(1800)),
        ("cuda_graphs_speedup", "eager_overhead_per_op", (Fraction(1, 10**5), Fraction(3, 10**5))),
        ("chunked_prefill_stall", "512", Fraction(45, 1000)),
        ("nvlink5", "bidirectional", Fraction(18 * 10**11)),
        ("isl_osl_ratio", "reasoning", (Fraction(1, 10), Fraction(1, 5))),
        ("h100_mig_profiles", "unsupported", ("L4", "L40S")),
        ("gpu_request_integer", "overcommit", False),
        ("xid_cordon_and_drain", "codes", tuple(map(Fraction, (48, 64, 74, 79, 95)))),
        ("oom_killed", "host_exit_code", Fraction(137)),
        ("vector_shrinking", "binary", Fraction(32)),
    ],
)
def test_values_are_those_of_the_sheet(name: str, key: str, value: Figure) -> None:
    assert numbers()[name].values[key] == value


def test_exactly_forty_are_recomputed() -> None:
    assert len(VERIFIED) == 40
    assert set(RECOMPUTATIONS) == {number.id for number in VERIFIED}
    assert all(recomputed(number.id) == {} for number in ALL if not number.verified)


@pytest.mark.parametrize("number", VERIFIED, ids=by_id)
def test_the_recomputed_agree(number: ReferenceNumber) -> None:
    computed = recomputed(number.id)
    assert set(computed) <= set(number.values)
    assert agrees(number, computed)


def test_only_these_figures_of_the_forty_are_quoted() -> None:
    quoted = {
        f"{number.id}.{key}"
        for number in VERIFIED
        for key in number.values
        if key not in recomputed(number.id)
    }
    assert quoted == {
        "ridge_by_precision.rubin_fp4",
        "int4_scale_granularity.group",
        "lora_rank.range",
        "daily_cycle_cost.utilization",
    }


def perturbed(figure: Figure, factor: Fraction) -> Figure:
    if isinstance(figure, tuple):
        return tuple(perturbed(part, factor) for part in figure)
    return figure * factor if isinstance(figure, Fraction) else f"not {figure}"


@pytest.mark.parametrize("number", VERIFIED, ids=by_id)
def test_a_perturbed_figure_does_not_agree(number: ReferenceNumber) -> None:
    computed = recomputed(number.id)
    for key, figure in computed.items():
        low, high = (perturbed(figure, factor) for factor in (Fraction(1, 10), Fraction(10)))
        assert not agrees(number, {**computed, key: low})
        # More is no disagreement with an "at least".
        assert agrees(number, {**computed, key: high}) == (key == "at_least")


def test_nothing_recomputed_is_no_agreement() -> None:
    assert not agrees(numbers()["kv_block_size"], {})
    quoted = numbers()["achieved_mbu"]
    assert not agrees(quoted, quoted.values)


def some(values: Mapping[str, Figure], tolerance: Fraction, *lists: str) -> ReferenceNumber:
    return replace(
        numbers()["kv_block_size"], values=values, tolerance=tolerance, lists=frozenset(lists)
    )


TWO, FOUR = Fraction(2), Fraction(4)


@pytest.mark.parametrize(
    ("key", "quoted", "figure", "far"),
    [
        ("ridge", FOUR, FOUR, 0),
        ("ridge", FOUR, Fraction(41, 10), Fraction(1, 40)),
        ("ridge", FOUR, Fraction(39, 10), Fraction(1, 40)),
        ("ridge", FOUR, (FOUR, FOUR), 1),
        ("range", (TWO, FOUR), (Fraction(3),), 0),
        ("range", (TWO, FOUR), (TWO, FOUR), 0),
        ("range", (TWO, FOUR), (Fraction(1), FOUR), Fraction(1, 2)),
        ("range", (TWO, FOUR), (TWO, Fraction(5)), Fraction(1, 4)),
        ("range", (TWO, FOUR), Fraction(3), 1),
        ("range", (TWO, FOUR), (), 1),
        ("codes", (TWO, FOUR), (TWO, Fraction(3)), 1),
        ("codes", (TWO, FOUR), (TWO, FOUR), 0),
        ("at_least", TWO, FOUR, 0),
        ("at_least", TWO, Fraction(1), Fraction(1, 2)),
        ("at_most", TWO, Fraction(1), 0),
        ("at_most", TWO, FOUR, 1),
        ("names", ("L4", "L40S"), ("L4", "L40S"), 0),
        ("names", ("L4", "L40S"), ("L4",), 1),
        ("yes", True, True, 0),
        ("yes", True, False, 1),
        ("yes", True, Fraction(1), 0),
        ("word", "MIG", "MPS", 1),
        ("word", "MIG", Fraction(7), 1),
    ],
)
def test_the_difference_is_relative_to_what_is_quoted(
    key: str, quoted: Figure, figure: Figure, far: int | Fraction
) -> None:
    number = some({key: quoted}, Fraction(0), "codes")
    assert difference(number, key, figure) == far
    assert within(number, key, figure) == (far == 0)
    assert within(replace(number, tolerance=Fraction(far)), key, figure)


def test_a_figure_without_a_quoted_one_does_not_agree() -> None:
    assert not agrees(some({"ridge": FOUR}, Fraction(1, 10)), {"bridge": FOUR})


def test_of_several_the_furthest_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    figure = Several((FOUR, Fraction(16), Fraction(17)))
    monkeypatch.setattr(check, "RECOMPUTATIONS", {"kv_block_size": lambda: {"tokens": figure}})
    recomputed.cache_clear()
    assert recomputed("kv_block_size") == {"tokens": FOUR}
    recomputed.cache_clear()


def changed(name: str, **fields: Any) -> Callable[[], Mapping[str, Any]]:
    row = MappingProxyType({**gpus()[name].row, **fields})
    table = MappingProxyType({**gpus(), name: replace(gpus()[name], row=row)})
    return lambda: table


def test_wrong_data_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from solvers.recompute import of_hardware

    # The sparse rate that data sheets print first, in place of the dense one.
    wrong = changed("h100-sxm-80gb", bf16_dense_tflops=Fraction(1979))
    monkeypatch.setattr(of_hardware, "gpus", wrong)
    for name in ("h100_bf16_compute", "h100_ridge_point", "low_precision_rate"):
        assert not agrees(numbers()[name], rerun(name))


def rerun(name: str) -> Mapping[str, Figure]:
    """The figures computed now, whatever was remembered; and nothing of it is remembered."""
    recomputed.cache_clear()
    try:
        return recomputed(name)
    finally:
        recomputed.cache_clear()


@pytest.mark.parametrize(
    ("relation", "names"),
    [
        ("kv_bytes_per_token", ["llama31_8b_kv_per_token", "llama31_70b_kv_per_token"]),
        ("weight_bytes", ["8b_weights_bf16", "bf16_weight_memory", "lora_rank"]),
        ("ridge_point", ["h100_ridge_point", "ridge_by_precision"]),
        ("decode_matmul_intensity", ["batch1_decode_intensity"]),
        ("paged_block_lookup.block_slot", ["kv_block_size"]),
        ("deployment.kv_elements_per_token.mla", ["mla_cache"]),
    ],
)
def test_the_relations_of_the_catalogue_are_what_is_checked(
    relation: str, names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from formulas.catalogue import catalogue

    whole = catalogue()
    tripled = replace(whole.relations[relation], expr=3 * whole.relations[relation].expr)
    wrong = replace(whole, relations={**whole.relations, relation: tripled})
    monkeypatch.setattr("formulas.catalogue.catalogue", lambda: wrong)
    for name in names:
        assert not agrees(numbers()[name], rerun(name))


def test_the_shares_of_other_models_stand_beside_the_two() -> None:
    shares = mlp_shares()
    assert {"llama-2-7b", "llama-3.1-8b", "qwen2.5-72b"} <= set(shares)
    assert "deepseek-v3" not in shares
    # 3 x 4096 x 11008 in each of 32 layers.
    assert shares["llama-2-7b"] == Fraction(3 * 4096 * 11008 * 32, 6738415616)


def test_an_adapter_of_a_square_matrix_has_the_size_of_the_sheet() -> None:
    fraction = calculated("lora_size", lora_rank=Fraction(16), d_model=Fraction(4096))
    assert Fraction(thin_matrices(4096, 4096, 16), 4096**2) == fraction
    assert thin_matrices(4096, 1024, 8) == 8 * (4096 + 1024)


def test_the_later_facts_count() -> None:
    first = {"n_params": Fraction(3), "bytes_per_weight": Fraction(2)}
    assert calculated("weight_bytes", first) == 6
    assert calculated("weight_bytes", first, {"n_params": Fraction(4)}) == 8
    assert calculated("weight_bytes", first, bytes_per_weight=Fraction(1)) == 3
