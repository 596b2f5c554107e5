"""MIG: how many instances fit follows from the placements, and what one instance has."""

from __future__ import annotations

from fractions import Fraction

import pytest

from formulas.errors import Problem
from formulas.hardware import Gpu, find_gpu, find_mig_profile, gpu_facts, gpus, mig_profiles

ALL_GPUS = tuple(gpus().values())


@pytest.mark.parametrize("gpu", ALL_GPUS, ids=lambda gpu: gpu.name)
def test_instances_follow_from_placements_and_agree_with_the_driver(gpu: Gpu) -> None:
    assert bool(mig_profiles(gpu)) == bool(gpu.row.get("supports_mig"))
    for profile in mig_profiles(gpu).values():
        assert profile.instances == profile.row["max_instances"]
        last = max(profile.placement_starts) + profile.placement_size
        assert last <= profile.placement_units


# As nvidia-smi mig -lgip prints them for an H100 80GB.
def test_instances_of_an_h100() -> None:
    instances = {p.name: p.instances for p in mig_profiles(find_gpu("h100-sxm")).values()}
    assert instances == {
        "1g.10gb": 7,
        "1g.10gb+me": 1,
        "1g.20gb": 4,
        "2g.20gb": 3,
        "3g.40gb": 2,
        "4g.40gb": 1,
        "7g.80gb": 1,
    }


def test_facts_of_a_mig_instance() -> None:
    whole = gpu_facts(find_gpu("h100-sxm"))
    facts = gpu_facts(find_gpu("h100-sxm"), "bf16", "3G.40GB")
    assert facts["vram_bytes"] == Fraction("39.5") * 2**30
    assert facts["memory_bandwidth"] == whole["memory_bandwidth"] / 2
    assert facts["peak_flops"] == whole["peak_flops"] * Fraction(60, 132)
    assert facts["mig_instances"] == 2
    assert facts["node_gpus"] == 1
    assert "mig_instances" not in whole


def test_shares_where_the_sm_count_is_of_another_part() -> None:
    # The table's 16 SMs are of a part with 132; the PCIe card has 114.
    whole, facts = (gpu_facts(find_gpu("h100-pcie"), "bf16", p) for p in (None, "1g.10gb"))
    assert facts["peak_flops"] == whole["peak_flops"] / 7


def test_memory_slices_are_quarters_on_an_a30() -> None:
    whole, facts = (gpu_facts(find_gpu("a30"), "bf16", p) for p in (None, "1g.6gb"))
    assert facts["memory_bandwidth"] == whole["memory_bandwidth"] / 4
    assert facts["vram_bytes"] == 5836 * 2**20
    assert facts["peak_flops"] == whole["peak_flops"] / 4


def test_a_profile_without_printed_memory_has_that_of_its_name() -> None:
    assert gpu_facts(find_gpu("b300"), "bf16", "1g.34gb")["vram_bytes"] == 34 * 10**9


@pytest.mark.parametrize("name", ["l4", "l40s", "mi300x", "rtx-4090"])
def test_gpus_without_mig(name: str) -> None:
    assert not mig_profiles(find_gpu(name))
    with pytest.raises(Problem, match="has no MIG profiles"):
        find_mig_profile(find_gpu(name), "1g.10gb")


def test_an_unknown_profile_lists_the_profiles() -> None:
    with pytest.raises(Problem) as caught:
        gpu_facts(find_gpu("h100-sxm"), "bf16", "1g.5gb")
    assert caught.value.kind == "mig"
    assert caught.value.word == "1g.5gb"
    assert "7g.80gb" in caught.value.help[-1]
