"""GPUs, their MIG profiles and the links between them: rows -> facts in base units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Any

from formulas.errors import Problem, nearest
from formulas.tables import Names, dashed, load

GIGA = Fraction(10**9)
TERA = Fraction(10**12)
MEBIBYTE = Fraction(2**20)
GIBIBYTE = Fraction(2**30)

# A server has this many GPUs where nothing larger shares one scale-up domain.
USUAL_NODE = 8

# The key of the rate that matmuls in a narrow weight format run at; None: always weight-only.
_NARROW_RATE: Mapping[str, str | None] = MappingProxyType(
    {
        "fp8": "fp8_dense_tflops",
        "int8": "int8_dense_tops",
        "nvfp4": "fp4_dense_tflops",
        "fp4": "fp4_dense_tflops",
        "mxfp4": "fp4_dense_tflops",
        "int4": None,
    }
)
_WIDE = ("bf16", "fp16")
# The vendors' own prefixes, as nvidia-smi and data sheets print them.
_BRANDS = frozenset({"nvidia", "amd", "intel", "tesla", "geforce", "instinct"})


@dataclass(frozen=True, slots=True)
class Gpu:
    """One product, named as the table names it; `row` is its read-only row."""

    name: str
    vendor: str
    row: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MigProfile:
    """One way to cut a GPU: where an instance may begin, and how many fit side by side."""

    name: str
    placement_starts: tuple[int, ...]
    placement_size: int
    placement_units: int
    gpu_slices: int
    instances: int
    row: Mapping[str, Any]


@cache
def gpus() -> Mapping[str, Gpu]:
    """Every GPU of the table by canonical name."""
    rows = load("gpus.toml")["gpus"]
    return MappingProxyType({name: Gpu(name, row["vendor"], row) for name, row in rows.items()})


def find_gpu(text: str) -> Gpu:
    """The GPU that `text` names: in full, by an alias, or by parts that only one name has."""
    return gpus()[_names().resolve(text)]


def peak_flops(gpu: Gpu, weight_dtype: str) -> Fraction | None:
    """FLOP/s of dense matmuls with weights in that format; None where the table has no rate."""
    key = None if is_weight_only(gpu, weight_dtype) else _NARROW_RATE.get(weight_dtype)
    rate = gpu.row.get(key) if key else None
    if rate is None:
        rate = gpu.row.get("bf16_dense_tflops", gpu.row.get("fp16_dense_tflops"))
    return None if rate is None else Fraction(rate) * TERA


def is_weight_only(gpu: Gpu | None, weight_dtype: str) -> bool:
    """Whether weights in that format are widened first, so that matmuls run at the BF16 rate."""
    if weight_dtype in _WIDE:
        return False
    if weight_dtype not in _NARROW_RATE:
        raise _no_format(weight_dtype)
    key = _NARROW_RATE[weight_dtype]
    return key is None or (gpu is not None and key not in gpu.row)


def gpu_facts(
    gpu: Gpu, weight_dtype: str = "bf16", mig_profile: str | None = None
) -> dict[str, Fraction]:
    """What the tables know of one GPU or one MIG instance; what they do not know is left out."""
    row = gpu.row
    domain = _scale_up_domain(row)
    known = {
        "vram_bytes": _vram(row),
        "memory_bandwidth": row["memory_bandwidth_tb_s"] * TERA,
        "peak_flops": peak_flops(gpu, weight_dtype),
        "node_gpus": Fraction(max(USUAL_NODE, domain or 0)),
        "scale_up_bandwidth": _scale_up_bandwidth(row),
        "scale_up_domain_gpus": None if domain is None else Fraction(domain),
        "pcie_bandwidth": _pcie_bandwidth(row),
        "compute_capability": row.get("compute_capability"),
    }
    facts = {name: Fraction(value) for name, value in known.items() if value is not None}
    return facts if mig_profile is None else _mig_facts(gpu, facts, mig_profile)


def idle_facts(facts: Mapping[str, Any]) -> frozenset[str]:
    """What a GPU may lack without lacking anything: the bandwidth of a link that joins no GPUs."""
    joined = facts.get("scale_up_domain_gpus")
    return frozenset(("scale_up_bandwidth",) if joined == 0 else ())


@cache
def _mig_tables() -> Mapping[str, Mapping[str, Any]]:
    """The MIG table of each GPU that has one, by the GPU's name."""
    tables = load("mig.toml")["mig"].values()
    return MappingProxyType({name: table for table in tables for name in table["gpus"]})


def mig_profiles(gpu: Gpu) -> Mapping[str, MigProfile]:
    """The MIG profiles of a GPU by name; none where it has no MIG."""
    table = _mig_tables().get(gpu.name)
    if table is None:
        return MappingProxyType({})
    return MappingProxyType({row["name"]: _profile(row, table) for row in table["profiles"]})


def find_mig_profile(gpu: Gpu, text: str) -> MigProfile:
    """The profile of that GPU with that name, in any case."""
    profiles = mig_profiles(gpu)
    found = profiles.get(text.strip().lower())
    if found is not None:
        return found
    if not profiles:
        raise Problem("mig", f"{gpu.name} has no MIG profiles, so no '{text}'", (), text)
    near = nearest(text.lower(), list(profiles))
    listing = f"{gpu.name} has " + ", ".join(profiles)
    help_lines = (listing,) if near is None else (f"did you mean '{near}'?", listing)
    message = f"{gpu.name} has no MIG profile '{text}'"
    raise Problem("mig", message, help_lines, text, tuple(profiles))


@cache
def links() -> Mapping[str, Mapping[str, Any]]:
    """Every link of the table; each row also has per_direction_bandwidth in byte/s."""
    rows = load("links.toml")["links"]
    return MappingProxyType(
        {
            name: MappingProxyType(
                {**row, "per_direction_bandwidth": row["per_direction_gb_s"] * GIGA}
            )
            for name, row in rows.items()
        }
    )


@cache
def _names() -> Names:
    data = load("gpus.toml")
    spellings = {name: name for name in data["gpus"]}
    for name, row in data["gpus"].items():
        spellings |= dict.fromkeys(row.get("aliases", ()), name)
    return Names(
        kind="gpu",
        one="GPU",
        many="devices",
        spellings=MappingProxyType(spellings),
        others=frozenset(data["other_products"]),
        readings=_without_brand,
        describe=_with_bandwidth,
        listing="derive gpus lists them",
    )


def _without_brand(text: str) -> tuple[str, ...]:
    parts = dashed(text).split("-")
    while len(parts) > 1 and parts[0] in _BRANDS:
        del parts[0]
    return ("-".join(parts),)


def _with_bandwidth(name: str) -> str:
    return f"{name} ({float(gpus()[name].row['memory_bandwidth_tb_s']):.4g} TB/s)"


def _no_format(weight_dtype: str) -> Problem:
    formats = [*_WIDE, *_NARROW_RATE]
    near = nearest(weight_dtype, formats)
    help_lines = (f"did you mean '{near}'?",) if near else ("there are " + ", ".join(formats),)
    return Problem("name", f"no weight format '{weight_dtype}'", help_lines, weight_dtype)


def _vram(row: Mapping[str, Any]) -> Fraction:
    if "memory_total_mib" in row:
        return Fraction(row["memory_total_mib"]) * MEBIBYTE
    return Fraction(row["memory_gb"]) * GIGA


def _scale_up_domain(row: Mapping[str, Any]) -> int | None:
    """How many GPUs share the scale-up links: 0 without any, None where the table does not say."""
    for key in ("nvlink_domain_max_gpus", "scale_up_domain_max_gpus"):
        if key in row:
            return int(row[key])
    return None if "infinity_fabric_link_per_direction_gb_s" in row else 0


def _scale_up_bandwidth(row: Mapping[str, Any]) -> Fraction | None:
    for key in ("nvlink_per_direction_gb_s", "scale_up_per_direction_gb_s"):
        if key in row:
            return Fraction(row[key]) * GIGA
    if "infinity_fabric_links" in row:
        one_link = Fraction(row["infinity_fabric_link_per_direction_gb_s"]) * GIGA
        return one_link * int(row["infinity_fabric_links"])
    return None


def _pcie_bandwidth(row: Mapping[str, Any]) -> Fraction | None:
    link = links().get(f"pcie{row.get('pcie_generation')}_x{row.get('pcie_lanes')}")
    return None if link is None else Fraction(link["per_direction_bandwidth"])


def _profile(row: Mapping[str, Any], table: Mapping[str, Any]) -> MigProfile:
    return MigProfile(
        name=row["name"],
        placement_starts=row["placement_starts"],
        placement_size=row["placement_size"],
        placement_units=table["placement_units"],
        gpu_slices=table["compute_slices"],
        instances=_packed(row, table),
        row=row,
    )


def _packed(row: Mapping[str, Any], table: Mapping[str, Any]) -> int:
    """How many instances of one profile fit: placements that do not overlap, and compute slices."""
    placed, free_from = 0, 0
    for start in sorted(row["placement_starts"]):
        if start >= free_from:
            placed, free_from = placed + 1, start + row["placement_size"]
    limits: list[int] = [placed, table["compute_slices"] // row["compute_slices"]]
    if row.get("media_extensions"):
        # The media engines are one set, which no placement shows.
        limits.append(row["max_instances"])
    return min(limits)


def _mig_facts(gpu: Gpu, whole: dict[str, Fraction], text: str) -> dict[str, Fraction]:
    profile = find_mig_profile(gpu, text)
    table = _mig_tables()[gpu.name]
    facts = dict(whole)
    facts["vram_bytes"] = _instance_memory(profile.row)
    facts["memory_bandwidth"] *= Fraction(profile.row["memory_slices"], table["memory_slices"])
    if "peak_flops" in facts:
        facts["peak_flops"] *= _compute_share(gpu, profile.row, table)
    facts["mig_instances"] = Fraction(profile.instances)
    facts["node_gpus"] = Fraction(1)
    return facts


def _instance_memory(row: Mapping[str, Any]) -> Fraction:
    for key, unit in (("memory_mib", MEBIBYTE), ("memory_gib", GIBIBYTE)):
        if key in row:
            return Fraction(row[key]) * unit
    return Fraction(row["memory_gb"]) * GIGA


def _compute_share(gpu: Gpu, row: Mapping[str, Any], table: Mapping[str, Any]) -> Fraction:
    """An instance's share of the SMs, or of the compute slices where its SM count is not known."""
    if "sm_count" in row and gpu.name in table.get("sm_counts_of", ()):
        return Fraction(row["sm_count"], gpu.row["sm_count"])
    return Fraction(row["compute_slices"], table["compute_slices"])
