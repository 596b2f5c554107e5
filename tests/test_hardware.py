"""GPUs and links: the rows agree with themselves, names resolve, facts follow."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest

from formulas.errors import Problem
from formulas.hardware import (
    Gpu,
    find_gpu,
    gpu_facts,
    gpus,
    is_weight_only,
    links,
    peak_flops,
)
from formulas.tables import load

ALL_GPUS = tuple(gpus().values())
ROWS = [
    pytest.param(row, id=f"{table}-{name}")
    for file, table in (("gpus.toml", "gpus"), ("mig.toml", "mig"), ("links.toml", "links"))
    for name, row in load(file)[table].items()
]


def by_name(gpu: Gpu) -> str:
    return gpu.name


@pytest.mark.parametrize("row", ROWS)
def test_every_row_says_where_and_when_it_is_from(row: Mapping[str, Any]) -> None:
    assert row["source"]
    assert all(isinstance(source, str) and source for source in row["source"])
    assert row["as_of"] == "2026-11"


@pytest.mark.parametrize("gpu", ALL_GPUS, ids=by_name)
def test_narrow_rates_double_the_wide_one(gpu: Gpu) -> None:
    row = gpu.row
    wide = row.get("bf16_dense_tflops", row.get("fp16_dense_tflops"))
    for narrow in ("fp8_dense_tflops", "int8_dense_tops"):
        stem = narrow.partition("_")[0]
        if wide and narrow in row and not row.get(f"{stem}_not_twice_bf16"):
            assert abs(row[narrow] / wide - 2) < 0.03


@pytest.mark.parametrize("gpu", ALL_GPUS, ids=by_name)
def test_the_peak_needs_a_clock_that_the_part_has(gpu: Gpu) -> None:
    row = gpu.row
    if "bf16_flop_per_sm_clock" in row and "max_clock_mhz" in row and "sm_count" in row:
        peak = row.get("bf16_dense_tflops", row.get("fp16_dense_tflops"))
        megahertz = peak * 10**6 / (row["bf16_flop_per_sm_clock"] * row["sm_count"])
        assert 0.80 <= megahertz / row["max_clock_mhz"] <= 1.01


@pytest.mark.parametrize("gpu", ALL_GPUS, ids=by_name)
def test_printed_memory_is_near_the_marketed_size(gpu: Gpu) -> None:
    if "memory_total_mib" in gpu.row:
        gigabytes = gpu.row["memory_total_mib"] * 2**20 / 1e9
        assert 0.93 <= gigabytes / gpu.row["memory_gb"] <= 1.08


def test_the_collection_is_whole() -> None:
    vendors = [gpu.vendor for gpu in ALL_GPUS]
    assert (len(vendors), vendors.count("AMD"), vendors.count("Intel")) == (39, 5, 2)
    assert len(load("mig.toml")["mig"]) == 13


@pytest.mark.parametrize("gpu", ALL_GPUS, ids=by_name)
def test_every_name_and_alias_finds_its_gpu(gpu: Gpu) -> None:
    assert gpu.name == gpu.name.lower()
    names = (gpu.name, gpu.name.upper(), gpu.name.replace("-", " "))
    for text in (*names, *gpu.row.get("aliases", ())):
        assert find_gpu(text) is gpu


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("h100-sxm", "h100-sxm-80gb"),
        ("H100_SXM", "h100-sxm-80gb"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm-80gb"),
        ("NVIDIA A100-SXM4-80GB", "a100-80gb-sxm"),
        ("a100-sxm-80gb", "a100-80gb-sxm"),
        ("a100-pcie-40gb", "a100-40gb-pcie"),
        ("4090", "rtx-4090"),
        ("mi300", "mi300x"),
        ("rtx-pro-6000", "rtx-pro-6000-blackwell"),
        ("gb200-nvl72", "gb200"),
        ("a10", "a10"),
    ],
)
def test_shorter_and_other_spellings(text: str, name: str) -> None:
    assert find_gpu(text).name == name


def test_an_ambiguous_name_lists_what_it_may_mean() -> None:
    with pytest.raises(Problem) as caught:
        find_gpu("h100")
    problem = caught.value
    assert problem.kind == "gpu"
    assert problem.message == "'h100' names 3 devices"
    assert problem.word == "h100"
    assert set(problem.candidates) == {"h100-sxm-80gb", "h100-pcie-80gb", "h100-nvl-94gb"}
    assert len(problem.help) == 1
    assert "h100-sxm-80gb (3.35 TB/s)" in problem.help[0]


def test_a_prefix_ends_where_a_part_ends() -> None:
    with pytest.raises(Problem) as caught:
        find_gpu("h20")
    assert set(caught.value.candidates) == {"h20-96gb", "h20-141gb"}


@pytest.mark.parametrize(
    ("text", "near"), [("h1000", "h100-sxm-80gb"), ("l40", "l40s"), ("gb201", "gb200")]
)
def test_an_unknown_name_gets_the_nearest(text: str, near: str) -> None:
    with pytest.raises(Problem) as caught:
        find_gpu(text)
    assert caught.value.message == f"no GPU '{text}'"
    assert caught.value.help[-1] == "derive gpus lists them"
    assert near in caught.value.candidates
    assert caught.value.help[0].startswith("did you mean ")


@pytest.mark.parametrize("text", ["", " ", "-", "x" * 10_000, "\0"])
def test_a_name_that_is_none(text: str) -> None:
    with pytest.raises(Problem, match="no GPU"):
        find_gpu(text)


# Dense rates of the vendors' sheets, in TFLOP/s.
@pytest.mark.parametrize(
    ("name", "weights", "teraflops", "weight_only"),
    [
        ("h100-sxm-80gb", "bf16", "989.4", False),
        ("h100-sxm-80gb", "fp16", "989.4", False),
        ("h100-sxm-80gb", "fp8", "1978.9", False),
        ("h100-sxm-80gb", "int4", "989.4", True),
        ("h100-sxm-80gb", "nvfp4", "989.4", True),
        ("a100-80gb-sxm", "fp8", "312", True),
        ("a100-80gb-sxm", "int8", "624", False),
        ("a100-80gb-sxm", "int4", "312", True),
        ("b200", "nvfp4", "9000", False),
        ("b200", "fp4", "9000", False),
        ("mi355x", "mxfp4", "10066.3", False),
        ("t4", "bf16", "65", False),
        ("t4", "int8", "130", False),
        ("v100-32gb-sxm", "int8", "125", True),
    ],
)
def test_matmuls_run_at_the_rate_of_the_format(
    name: str, weights: str, teraflops: str, weight_only: bool
) -> None:
    gpu = find_gpu(name)
    assert peak_flops(gpu, weights) == Fraction(teraflops) * 10**12
    assert is_weight_only(gpu, weights) is weight_only


def test_without_a_gpu_only_int4_is_weight_only() -> None:
    formats = ("bf16", "fp16", "fp8", "int8", "nvfp4", "fp4", "mxfp4", "int4")
    assert [name for name in formats if is_weight_only(None, name)] == ["int4"]


def test_a_format_that_is_none() -> None:
    with pytest.raises(Problem, match="no weight format 'fp9'"):
        peak_flops(find_gpu("b200"), "fp9")


def test_facts_of_an_h100() -> None:
    assert gpu_facts(find_gpu("h100-sxm"), "fp8") == {
        "vram_bytes": 81559 * 2**20,
        "memory_bandwidth": Fraction("3.35") * 10**12,
        "peak_flops": Fraction("1978.9") * 10**12,
        "node_gpus": 8,
        "scale_up_bandwidth": 450 * 10**9,
        "scale_up_domain_gpus": 8,
        "pcie_bandwidth": 64 * 10**9,
        "compute_capability": 9,
    }


def test_facts_are_exact_fractions() -> None:
    for gpu in ALL_GPUS:
        for name, value in gpu_facts(gpu).items():
            assert type(value) is Fraction
            assert value.denominator == 1 or name == "compute_capability"


@pytest.mark.parametrize(
    ("name", "quantity", "value"),
    [
        # No printed memory: the marketed size, in decimal gigabytes.
        ("mi325x", "vram_bytes", 256 * 10**9),
        # Seven links of 64 GB/s.
        ("mi300x", "scale_up_bandwidth", 448 * 10**9),
        ("gb200", "node_gpus", 72),
        ("l4", "node_gpus", 8),
        ("l4", "scale_up_domain_gpus", 0),
        ("gaudi-3", "scale_up_bandwidth", 525 * 10**9),
        ("h100-pcie-80gb", "scale_up_domain_gpus", 2),
        ("b300", "pcie_bandwidth", 128 * 10**9),
    ],
)
def test_facts_of_others(name: str, quantity: str, value: int) -> None:
    assert gpu_facts(find_gpu(name))[quantity] == value


@pytest.mark.parametrize(
    ("name", "quantity"),
    [
        ("rubin", "peak_flops"),
        ("rubin", "pcie_bandwidth"),
        ("l4", "scale_up_bandwidth"),
        ("mi350x", "scale_up_bandwidth"),
        ("mi250x", "scale_up_domain_gpus"),
    ],
)
def test_what_the_table_does_not_know_is_left_out(name: str, quantity: str) -> None:
    assert quantity not in gpu_facts(find_gpu(name))


@pytest.mark.parametrize("name", list(links()))
def test_links(name: str) -> None:
    link = links()[name]
    assert link["per_direction_bandwidth"] == Fraction(link["per_direction_gb_s"]) * 10**9 > 0
    if "gbit_s" in link:
        assert link["gbit_s"] == 8 * link["per_direction_gb_s"]
    if "lanes_or_links" in link and "per_lane_or_link_gb_s" in link:
        total = link["lanes_or_links"] * link["per_lane_or_link_gb_s"]
        assert abs(total / link["per_direction_gb_s"] - 1) < 0.01


def test_rows_are_read_only() -> None:
    row: Any = find_gpu("b200").row
    with pytest.raises(TypeError):
        row["memory_gb"] = 1
