"""Reference numbers that follow from the tables of GPUs, links and MIG profiles."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from formulas.hardware import GIGA, find_gpu, gpu_facts, gpus, links, mig_profiles, peak_flops
from formulas.numbers import numbers
from formulas.storage import BYTES_PER_ELEMENT
from formulas.tables import load
from formulas.units import parse_unit
from solvers.recompute.figures import Figures, Recomputation, Several, calculated

A100, H100, H200 = "a100-80gb-sxm", "h100-sxm-80gb", "h200-sxm-141gb"
BOTH_DIRECTIONS = 2


def _facts(name: str, weight_dtype: str = "bf16") -> Mapping[str, Fraction]:
    return gpu_facts(gpus()[name], weight_dtype)


def _ridge(name: str, weight_dtype: str = "bf16") -> Fraction:
    return calculated("ridge_point", _facts(name, weight_dtype))


def _per_direction(link: str) -> Fraction:
    bandwidth: Fraction = links()[link]["per_direction_bandwidth"]
    return bandwidth


def _one_sequence() -> Figures:
    # The width of the model cancels, so any will do.
    known = {"d_model": Fraction(4096), "bytes_per_weight": BYTES_PER_ELEMENT["bf16"]}
    return {"intensity": calculated("decode_matmul_intensity", known, batch=Fraction(1))}


def _two_hoppers() -> Figures:
    new, old = _facts(H200), _facts(H100)
    return {
        "h200_bandwidth": new["memory_bandwidth"],
        "h100_bandwidth": old["memory_bandwidth"],
        "ratio": new["memory_bandwidth"] / old["memory_bandwidth"],
        # As it is sold; what the driver prints, 143771 MiB, is 7% more.
        "h200_memory": gpus()[H200].row["memory_gb"] * GIGA,
        "compute_ratio": new["peak_flops"] / old["peak_flops"],
    }


def _ridges() -> Figures:
    # Nothing is computed for Rubin: no dense rate of it is known.
    return {
        "a100_bf16": _ridge(A100),
        "h100_fp8": _ridge(H100, "fp8"),
        "b200_fp4": _ridge("b200", "fp4"),
    }


def _rate_against_bf16(name: str, weight_dtype: str) -> Fraction:
    narrow, wide = (peak_flops(gpus()[name], dtype) for dtype in (weight_dtype, "bf16"))
    assert narrow is not None
    assert wide is not None
    return narrow / wide


def _narrow_rates() -> Figures:
    eight_bits = tuple(_rate_against_bf16(name, "fp8") for name in (H100, "b200"))
    # Hopper has no 4-bit rate.
    return {"8bit": Several(eight_bits), "4bit": _rate_against_bf16("b200", "fp4")}


def _nvlink5() -> Figures:
    return {
        "bidirectional": BOTH_DIRECTIONS * _per_direction("nvlink5"),
        "domain_gpus": _facts("gb200")["scale_up_domain_gpus"],
    }


def _nvlink4() -> Figures:
    one = Several(tuple(_facts(name)["scale_up_bandwidth"] for name in (H100, H200)))
    return {"bidirectional": BOTH_DIRECTIONS * _per_direction("nvlink4"), "per_direction": one}


def _pcie() -> Figures:
    return {"gen5": _per_direction("pcie5_x16"), "gen4": _per_direction("pcie4_x16")}


def _infiniband() -> Figures:
    found: dict[str, Fraction] = {}
    for name in ("xdr", "ndr"):
        bits = Fraction(links()[f"infiniband_{name}"]["gbit_s"])
        found |= {f"{name}_gbit": bits, name: bits * parse_unit("Gbit/s").scale}
    return found


def _link_ratios() -> Figures:
    memory, nvlink = _facts(H100)["memory_bandwidth"], _per_direction("nvlink4")
    return {
        "hbm_over_nvlink": memory / nvlink,
        "nvlink_over_nic": nvlink / _per_direction("infiniband_ndr"),
        "nvlink_over_pcie5": nvlink / _facts(H100)["pcie_bandwidth"],
    }


def _mig_slices() -> Figures:
    sold_as = {name: table for table in load("mig.toml")["mig"].values() for name in table["gpus"]}
    tables = [sold_as[name] for name in (H100, H200, "b200")]
    return {
        kind: Several(tuple(Fraction(table[f"{kind}_slices"]) for table in tables))
        for kind in ("compute", "memory")
    }


def _mig_profiles() -> Figures:
    """How often each profile fits beside itself, from its placements; and who has no profiles."""
    quoted = numbers()["h100_mig_profiles"].values
    profiles = mig_profiles(gpus()[H100])
    counts = {name: Fraction(profiles[name].instances) for name in quoted if name in profiles}
    without = quoted["unsupported"]
    assert isinstance(without, tuple)
    return {**counts, "unsupported": tuple(n for n in without if not mig_profiles(find_gpu(n)))}


OF_HARDWARE: Mapping[str, Recomputation] = {
    "h100_bf16_compute": lambda: {"flops": _facts(H100)["peak_flops"]},
    "h100_hbm_bandwidth": lambda: {"bandwidth": _facts(H100)["memory_bandwidth"]},
    "h100_ridge_point": lambda: {"ridge": _ridge(H100)},
    "batch1_decode_intensity": _one_sequence,
    "h200_vs_h100": _two_hoppers,
    "ridge_by_precision": _ridges,
    "low_precision_rate": _narrow_rates,
    "nvlink5": _nvlink5,
    "nvlink4": _nvlink4,
    "pcie_gen5_x16": _pcie,
    "infiniband": _infiniband,
    "h100_link_ratios": _link_ratios,
    "mig_slices": _mig_slices,
    "h100_mig_profiles": _mig_profiles,
}
