"""Measurements as facts of the deployment model: names looked up, and what lies outside told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType

from derive.measurements import Measurement
from formulas.errors import Problem
from formulas.statements import Choose, Statement, UseGpu, UseModel
from formulas.storage import BYTES_PER_ELEMENT
from solvers.speed_kernel import VARIED

# Checkpoints that are another name of an architecture that the table has.
_SAME_ARCHITECTURE = MappingProxyType(
    {
        "minimax-m2.5": "minimax-m2",
        "minimax-m2.1": "minimax-m2",
        "kimi-k2.5": "kimi-k2",
        "kimi-k2-thinking": "kimi-k2",
        "deepseek-v3.1": "deepseek-v3",
        "deepseek-r1-0528": "deepseek-r1",
    }
)
_FORMAT_SUFFIX = re.compile(r"-(fp8|nvfp4|fp4|mxfp4|awq|gptq|int4|int8|w8a8|bf16)$")
_SUFFIX_FORMATS = {"fp8": "fp8", "nvfp4": "nvfp4", "fp4": "nvfp4", "int4": "int4", "int8": "int8"}
_FORMATS = MappingProxyType({**{name: name for name in BYTES_PER_ELEMENT}, "fp4": "nvfp4"})
_FOUR_BITS = frozenset(("nvfp4", "mxfp4", "int4"))
# TensorRT-LLM keeps the cache of a narrow checkpoint in FP8; the others keep BF16 unless told.
NARROW_CACHES = MappingProxyType({"trtllm": "fp8"})
_MOST_GPUS = 8


@dataclass(frozen=True, slots=True)
class Sample:
    """A measurement with the facts of its model and GPU, and the names that constants go by."""

    row: Measurement
    model: str
    is_dense: bool
    facts: Mapping[str, Fraction]
    varied: Mapping[str, float]
    labels: Mapping[str, str]

    @property
    def configuration(self) -> str:
        """What stays the same while load and lengths vary."""
        row = self.row
        parts = (row.model, row.gpu, row.engine, row.version, row.precision)
        return "|".join(map(str, (*parts, row.tp, row.pp, row.dp, row.moe_tp, row.moe_ep)))


def sample_of(row: Measurement) -> Sample | str:
    """The row as a sample, or the reason why the model has no place for it."""
    if row.problem:
        return row.problem
    ranks = _ranks(row)
    if isinstance(ranks, str):
        return ranks
    dp, ep = ranks
    try:
        name, own_format, facts = _model(row.model)
        weights = row.precision or own_format
        gpu_name, known, dtype = _hardware(name, row.gpu, weights)
    except Problem as problem:
        return str(problem)
    needed = ("memory_bandwidth", "peak_flops")
    lacking = [n for n in needed if n not in known]
    if lacking:
        return f"{gpu_name} has no {' and '.join(lacking)} for weights in {dtype}"
    kv = _kv_format(row, dtype)
    varied = {name: float(known[name]) for name in _OF_HARDWARE if name in known}
    varied |= {
        "scale_up_domain_gpus": float(known.get("scale_up_domain_gpus", 0)),
        "scale_up_bandwidth": float(
            known.get("scale_up_bandwidth", known.get("pcie_bandwidth", 1))
        ),
        "pcie_bandwidth": float(known.get("pcie_bandwidth", known.get("scale_up_bandwidth", 1))),
        "wide_params": float(known.get("wide_params", 0)),
        "bytes_per_weight": float(known.get("bytes_per_weight", 2)),
        "kv_bytes_per_element": float(BYTES_PER_ELEMENT[kv]),
        "tp": float(row.tp),
        "pp": float(row.pp),
        "dp": float(dp),
        "ep": float(ep),
        "batch": row.concurrency,
        "prompt_tokens": row.prompt,
        "output_tokens": row.output,
    }
    return Sample(
        row,
        name,
        facts.get("expert_params", Fraction(0)) == 0,
        _of_model(name, row.gpu, weights),
        MappingProxyType(varied),
        MappingProxyType(
            {
                "engine": row.engine,
                "gpu": gpu_name,
                "precision": dtype if weights else "unknown",
                "model": name,
                "version": f"{row.engine} {row.version}" if row.version else "",
                "setting": f"{name} {row.engine} {row.version}",
            }
        ),
    )


_OF_HARDWARE = ("memory_bandwidth", "peak_flops")


def _ranks(row: Measurement) -> tuple[int, int] | str:
    """Attention ranks and expert parallelism, or why the model has no such deployment."""
    if row.moe_tp > 1 and row.moe_ep > 1:
        ways = f"moe_tp {row.moe_tp}, moe_ep {row.moe_ep}"
        return f"outside the model: experts split both ways ({ways})"
    groups, experts = row.dp, row.moe_tp * row.moe_ep
    if experts > row.tp * groups and experts % row.tp == 0:
        # The experts' ranks tell how many GPUs there are; attention runs in groups of TP.
        groups = experts // row.tp
    gpus = row.tp * groups
    if gpus > _MOST_GPUS:
        return f"outside the model: more GPUs than one node of {_MOST_GPUS} (tp dp = {gpus})"
    return groups, row.moe_ep


@lru_cache(maxsize=512)
def _model(text: str) -> tuple[str, str, Mapping[str, Fraction]]:
    """The model's name, the format that its name or its own config tells, and its facts."""
    from formulas.models import find_model
    from formulas.tables import dashed

    word = dashed(text)
    bare = word.rpartition("/")[2]
    suffix = _FORMAT_SUFFIX.search(bare)
    stem = _FORMAT_SUFFIX.sub("", bare)
    told = _SUFFIX_FORMATS.get(suffix[1], "") if suffix else ""
    tried = (_SAME_ARCHITECTURE.get(stem), _SAME_ARCHITECTURE.get(bare), word, bare, stem)
    problem: Problem | None = None
    for name in dict.fromkeys(name for name in tried if name):
        try:
            model = find_model(name)
        except Problem as error:
            problem = problem or error
            continue
        # Without its owner a short name would be completed to anything that begins like it.
        if name == word or name.startswith(model.name):
            return model.name, told, model.facts
    assert problem is not None
    raise problem


@lru_cache(maxsize=512)
def _hardware(model: str, gpu: str, precision: str) -> tuple[str, Mapping[str, Fraction], str]:
    """The GPU's name, what the tables say of model and GPU together, and the weights' format."""
    from formulas.hardware import find_gpu
    from formulas.models import find_model
    from formulas.scenario import scenario

    found = find_gpu(gpu)
    own = find_model(model).weight_dtype
    wanted = _FORMATS.get(precision, "")
    if precision and not wanted:
        raise Problem("name", f"no weight format '{precision}'")
    # A checkpoint of four bits is what it is, whatever the activations are called.
    if own in _FOUR_BITS and wanted in ("", "nvfp4", "fp8"):
        wanted = str(own)
    rows: list[Statement] = [UseModel(model), UseGpu(found.name)]
    rows += [Choose("weight_dtype", wanted)] if wanted else [Choose("weight_dtype", "bf16")]
    given = scenario(rows).given
    return found.name, {n: row.value for n, row in given.items()}, wanted or "bf16"


@lru_cache(maxsize=512)
def _of_model(model: str, gpu: str, precision: str) -> Mapping[str, Fraction]:
    """What model and format say, without what the GPU does: the same on every GPU."""
    from formulas.hardware import find_gpu, gpu_facts

    _, known, _ = _hardware(model, gpu, precision)
    apart = {*gpu_facts(find_gpu(gpu)), *VARIED}
    return MappingProxyType({n: v for n, v in known.items() if n not in apart})


def _kv_format(row: Measurement, weights: str) -> str:
    stated = _FORMATS.get({"fp8_e4m3": "fp8", "fp8_e5m2": "fp8"}.get(row.kv_dtype, row.kv_dtype))
    if stated:
        return stated
    return "bf16" if weights in ("bf16", "fp16") else NARROW_CACHES.get(row.engine, "bf16")
