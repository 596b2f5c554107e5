"""`derive models` and `derive gpus`: the rows of the shipped tables, in base units."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from derive.document import Block, Document, Fields, Heading, Table
from derive.search import Words, needles, nothing_found
from formulas.amounts import display
from formulas.storage import BYTES_PER_ELEMENT
from formulas.units import parse_unit

if TYPE_CHECKING:
    from formulas.hardware import Gpu
    from formulas.models import Model

# So many products are shown with their sources and their MIG profiles below the table.
DETAILED = 6
_HALF = {"float16": "fp16"}
_LAYER_FACTS = ("n_layers", "d_model", "n_heads", "n_kv_heads", "d_head")
_NO_VALUE = "-"


def models_data(words: Words = "") -> list[dict[str, Any]]:
    """The models of the table that have every word, as values for JSON."""
    from formulas.models import models

    wanted = needles(words)
    rows = (_model_data(model) for model in models().values())
    return [row for row in rows if wanted.all_in(_model_text(row))]


def models_document(words: Words = "") -> Document:
    """The same as a table; few of them with their sources and what to know of them."""
    from formulas.models import models

    rows = models_data(words)
    if not rows:
        raise nothing_found("model", words, list(models()))
    blocks: list[Block] = [Heading(_count(rows, "model")), _model_table(rows)]
    if len(rows) <= DETAILED:
        for row in rows:
            blocks += [Heading(row["id"]), _details(row, _MODEL_DETAILS)]
    return tuple(blocks)


def gpus_data(words: Words = "") -> list[dict[str, Any]]:
    """The GPUs of the table that have every word, in bytes, byte/s and FLOP/s, for JSON."""
    from formulas.hardware import gpus

    wanted = needles(words)
    rows = (_gpu_data(gpu) for gpu in gpus().values())
    return [row for row in rows if wanted.all_in(_gpu_text(row))]


def gpus_document(words: Words = "") -> Document:
    """The same as a table; few of them with their MIG profiles and sources."""
    from formulas.hardware import gpus

    rows = gpus_data(words)
    if not rows:
        raise nothing_found("GPU", words, list(gpus()))
    blocks: list[Block] = [Heading(_count(rows, "GPU")), _gpu_table(rows)]
    if len(rows) <= DETAILED:
        for row in rows:
            blocks += [Heading(row["id"]), _details(row, _GPU_DETAILS)]
            if row["mig_profiles"]:
                blocks.append(_mig_table(row))
    return tuple(blocks)


def _count(rows: list[dict[str, Any]], what: str) -> str:
    return f"{len(rows)} {what}{'' if len(rows) == 1 else 's'}"


def _number(value: Fraction | None) -> int | float | None:
    """The value as JSON has it: whole where it is."""
    if value is None:
        return None
    return int(value) if value.denominator == 1 else float(value)


def _shown(value: float | None, unit: str, label: str = "") -> str:
    return _NO_VALUE if value is None else display(Fraction(value), parse_unit(unit), label)


# -- models


def _model_data(model: Model) -> dict[str, Any]:
    facts, row = model.facts, model.row
    cached = _kv_bytes_per_token(model)
    return {
        "id": model.name,
        "hf_id": row["hf_id"],
        "aliases": list(row.get("aliases", ())),
        "n_params": _number(facts.get("n_params")),
        "active_params": _number(facts.get("active_params")),
        **{name: _number(facts.get(name)) for name in _LAYER_FACTS},
        "attention": attention_kind(facts),
        "n_experts": _number(facts.get("n_experts")),
        "experts_per_token": _number(facts.get("experts_per_token")),
        "kv_bytes_per_token": _number(cached),
        "kv_note": "; ".join(model.notes) if cached is None else "",
        "max_position_embeddings": _number(facts.get("max_position_embeddings")),
        "vocab_size": _number(facts.get("vocab_size")),
        "weight_dtype": model.weight_dtype or _HALF.get(row.get("torch_dtype", ""), "bf16"),
        "notes": list(model.notes),
        "source": list(model.source),
        "as_of": row["as_of"],
    }


def attention_kind(facts: Mapping[str, Fraction]) -> str:
    """MLA, MHA, MQA or GQA, by how many key/value heads there are."""
    if "kv_lora_rank" in facts:
        return "MLA"
    if facts["n_kv_heads"] == facts["n_heads"]:
        return "MHA"
    return "MQA" if facts["n_kv_heads"] == 1 else "GQA"


def _kv_bytes_per_token(model: Model) -> Fraction | None:
    """What the catalogue gives for a cache in BF16; None where no relation describes it."""
    from formulas.scenario import scenario
    from formulas.statements import Choose, UseModel
    from solvers.answer import Exact
    from solvers.solve import Request, solve

    stated = scenario((UseModel(model.name), Choose("kv_dtype", "bf16")))
    answer = solve(Request("kv_bytes_per_token", stated))
    return answer.value if isinstance(answer, Exact) else None


def _model_text(row: dict[str, Any]) -> str:
    said = (row["id"], row["hf_id"], *row["aliases"], row["attention"], row["weight_dtype"])
    moe = "moe experts" if row["n_experts"] > 1 else "dense"
    return " ".join((*said, moe, *row["notes"]))


_MODEL_COLUMNS = (
    "model", "parameters", "active", "layers", "heads/KV", "d_head", "attention", "KV/token BF16",
    "context", "weights",
)  # fmt: skip
_MODEL_DETAILS = ("hf_id", "notes", "source", "as_of")


def _model_table(rows: list[dict[str, Any]]) -> Table:
    return Table(_MODEL_COLUMNS, tuple(_model_row(row) for row in rows), _MODEL_COLUMNS[1:6])


def _model_row(row: dict[str, Any]) -> tuple[str, ...]:
    heads = f"{row['n_heads']}/{row['n_kv_heads']}"
    cached = row["kv_bytes_per_token"]
    return (
        row["id"],
        _billions(row["n_params"]),
        _billions(row["active_params"]),
        str(row["n_layers"]),
        heads,
        str(row["d_head"]),
        row["attention"],
        "not first-order" if cached is None else _shown(cached, "byte", "B/tok"),
        _shown(row["max_position_embeddings"], "1", "tok"),
        row["weight_dtype"],
    )


def _billions(count: int) -> str:
    return f"{count / 1e9:.4g}B"


def _details(row: dict[str, Any], names: tuple[str, ...]) -> Fields:
    """What the table leaves out; several texts of one kind stand below each other."""
    lines: list[tuple[str, str]] = []
    for name in names:
        values = row[name] if isinstance(row[name], list) else [row[name]]
        texts = [str(value) for value in values if value not in (None, "")]
        lines += [(name if place == 0 else "", text) for place, text in enumerate(texts)]
    return Fields(tuple(lines))


# -- GPUs


def _gpu_data(gpu: Gpu) -> dict[str, Any]:
    from formulas.hardware import gpu_facts, mig_profiles

    facts = {name: _number(value) for name, value in gpu_facts(gpu).items()}
    return {
        "id": gpu.name,
        "vendor": gpu.vendor,
        "architecture": gpu.row.get("architecture"),
        "aliases": list(gpu.row.get("aliases", ())),
        "vram_bytes": facts.get("vram_bytes"),
        "memory_type": gpu.row.get("memory_type"),
        "memory_bandwidth": facts.get("memory_bandwidth"),
        "peak_flops": _peak_rates(gpu),
        "scale_up_bandwidth": facts.get("scale_up_bandwidth"),
        "scale_up_domain_gpus": facts.get("scale_up_domain_gpus"),
        "node_gpus": facts.get("node_gpus"),
        "pcie_bandwidth": facts.get("pcie_bandwidth"),
        "mig_profiles": [_profile_data(gpu, name) for name in mig_profiles(gpu)],
        "source": list(gpu.row["source"]),
        "as_of": gpu.row["as_of"],
    }


def _peak_rates(gpu: Gpu) -> dict[str, int | float]:
    """The dense rate of each format that the GPU computes in, as far as the table knows it."""
    from formulas.hardware import is_weight_only, peak_flops

    native = gpu.row.get("native_formats", ())
    formats = [f for f in BYTES_PER_ELEMENT if f in native and not is_weight_only(gpu, f)]
    rates = {name: _number(peak_flops(gpu, name)) for name in formats}
    return {name: rate for name, rate in rates.items() if rate is not None}


def _profile_data(gpu: Gpu, name: str) -> dict[str, Any]:
    from formulas.hardware import gpu_facts, mig_profiles

    profile = mig_profiles(gpu)[name]
    facts = gpu_facts(gpu, mig_profile=name)
    return {
        "name": name,
        "instances": profile.instances,
        "placement_starts": list(profile.placement_starts),
        "placement_size": profile.placement_size,
        "placement_units": profile.placement_units,
        "vram_bytes": _number(facts["vram_bytes"]),
        "memory_bandwidth": _number(facts["memory_bandwidth"]),
        "peak_flops": _number(facts.get("peak_flops")),
    }


def _gpu_text(row: dict[str, Any]) -> str:
    said = (row["id"], row["vendor"], row["architecture"] or "", *row["aliases"])
    profiles = [profile["name"] for profile in row["mig_profiles"]]
    mig = ["mig"] if profiles else []
    return " ".join((*said, row["memory_type"] or "", *row["peak_flops"], *mig, *profiles))


_RATES = ("bf16", "fp8", "fp4")
_GPU_COLUMNS = ("GPU", "memory", "bandwidth", *_RATES, "scale-up link", "domain", "MIG")
_GPU_DETAILS = ("vendor", "aliases", "source", "as_of")
_MIG_COLUMNS = ("MIG profile", "instances", "memory", "bandwidth", "placements", "of")


def _gpu_table(rows: list[dict[str, Any]]) -> Table:
    return Table(_GPU_COLUMNS, tuple(_gpu_row(row) for row in rows), _GPU_COLUMNS[1:8])


def _gpu_row(row: dict[str, Any]) -> tuple[str, ...]:
    rates = row["peak_flops"]
    wide = rates.get("bf16", rates.get("fp16"))
    domain = row["scale_up_domain_gpus"]
    return (
        row["id"],
        _shown(row["vram_bytes"], "byte"),
        _shown(row["memory_bandwidth"], "byte/s"),
        _shown(wide, "FLOP/s"),
        *(_shown(rates.get(name), "FLOP/s") for name in _RATES[1:]),
        _shown(row["scale_up_bandwidth"], "byte/s"),
        f"{domain} GPUs" if domain else _NO_VALUE,
        f"{len(row['mig_profiles'])} profiles" if row["mig_profiles"] else _NO_VALUE,
    )


def _mig_table(row: dict[str, Any]) -> Table:
    rows = tuple(
        (
            profile["name"],
            str(profile["instances"]),
            _shown(profile["vram_bytes"], "byte"),
            _shown(profile["memory_bandwidth"], "byte/s"),
            " ".join(map(str, profile["placement_starts"])),
            f"{profile['placement_size']}/{profile['placement_units']}",
        )
        for profile in row["mig_profiles"]
    )
    return Table(_MIG_COLUMNS, rows, _MIG_COLUMNS[1:4])
