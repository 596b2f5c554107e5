"""Thirty questions that people asked in public, in this language: the answer, or what it lacks.

Figures are those of the threads, within what they state; where a thread has none, the answer is
held against a computation by hand. A source is a repository and the number of its thread.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from derive.conversation import Conversation

GIB = 2**30
CONFIGS = Path(__file__).parent / "configs"
MODEL = re.compile(r"model ([\w.-]+)")
Data = dict[str, Any]


@dataclass(frozen=True)
class Line:
    """One line, and what its answer has to be."""

    text: str
    holds: Callable[[Data], bool]


def value(expected: float, within: float = 0.005) -> Callable[[Data], bool]:
    """A value within a relative tolerance."""
    return lambda found: (
        found["status"] == "ok" and abs(found["value"] - expected) <= within * expected
    )


def lacks(*names: str) -> Callable[[Data], bool]:
    """The facts do not suffice, and one of the alternatives is made of these names."""
    return lambda found: (
        found["status"] == "missing" and any(set(names) <= set(row) for row in found["missing"])
    )


def clashes(*names: str) -> Callable[[Data], bool]:
    """Infeasible, with these among the statements that clash."""
    return lambda found: (
        found["status"] == "infeasible" and set(names) <= {row["name"] for row in found["conflict"]}
    )


def feasible(**choices: Any) -> Callable[[Data], bool]:
    """A table whose row of these choices breaks nothing."""
    return lambda found: not _row(found, choices)["broken"]


def breaks(name: str, **choices: Any) -> Callable[[Data], bool]:
    """A table whose row of these choices breaks that constraint."""
    return lambda found: name in _row(found, choices)["broken"]


def _row(found: Data, choices: Data) -> Data:
    rows = found["rows"]
    return next(r for r in rows if all(r[name] == wanted for name, wanted in choices.items()))


def relaxed(name: str, to: Any) -> Callable[[Data], bool]:
    """Infeasible, and a change of that statement alone would do."""
    return lambda found: any(
        row["name"] == name and row["to"] == to for row in found["relaxations"]
    )


def rises(name: str, first: Data, then: Data) -> Callable[[Data], bool]:
    """A table in which the quantity is larger, for each GPU, at the first choice than then."""

    def holds(found: Data) -> bool:
        one, other = _row(found, first), _row(found, then)
        return bool(one[name] / one["tp"] > other[name] / other["tp"])

    return holds


R1 = "model deepseek-r1, weight_dtype = bf16, batch = 1, context = 4k"
A100S = "model llama-3.1-70b, gpu 2 x a100-80gb-pcie, tp = 2, batch = 1, context = 100"

CASES: dict[str, tuple[str, tuple[Line, ...]]] = {
    "e01": ("vllm-project/vllm#12400", (
        Line("kv_bytes_per_token * 131072 -> GiB given model llama-3.3-70b", value(40 * GIB)),
        Line("weight_bytes -> GiB given model llama-3.3-70b", value(131.5 * GIB)),
        Line("which tp given model llama-3.3-70b, gpu 8 x h100-sxm, batch = 5, context = 128Ki",
             breaks("memory", tp=4)),
        Line("which tp given model llama-3.3-70b, gpu 8 x h100-sxm, batch = 5, context = 128Ki",
             feasible(tp=8)),
        Line("which tp given model llama-3.3-70b, gpu 8 x h100-sxm, batch = 5, context = 128Ki, "
             "weight_dtype = fp8, kv_dtype = fp8", feasible(tp=4)),
        Line("tpot given model llama-3.3-70b, gpu 8 x h100-sxm, context = 128Ki", lacks("batch")),
    )),
    "e02": ("vllm-project/vllm#9658", (
        Line("sweep replica_request_rate over tp in {4, 8} given model llama-3.1-70b, "
             "gpu 8 x a100-80gb-sxm, batch = 64, prompt = 1k, output = 250",
             rises("replica_request_rate", {"tp": 4}, {"tp": 8})),
    )),
    "e04": ("vllm-project/vllm#7567", (
        Line("max batch given model llama-3.1-70b, gpu 8 x a100-80gb-sxm, tp = 8, ttft <= 1 s",
             lacks("context_tokens")),
        Line("sweep replica_request_rate over tp in {4, 8} given model llama-3.1-70b, "
             "gpu 8 x h100-sxm, batch = 64, prompt = 1k, output = 250",
             rises("replica_request_rate", {"tp": 4}, {"tp": 8})),
    )),
    "e06": ("vllm-project/vllm#8188", (
        Line("max context given model llama-3.1-70b, gpu 8 x h100-sxm, batch = 1", value(131072)),
        Line("weight_bytes_per_gpu given model llama-3.1-405b, tp = 8", value(94.5 * GIB)),
        Line("max context given model llama-3.1-405b, gpu 8 x h100-sxm, tp = 8, batch = 1",
             clashes("model", "gpu")),
        Line("max context given model llama-3.1-405b, gpu 8 x h100-sxm, tp = 8, batch = 1",
             relaxed("weight_dtype", "fp8")),
        Line("weight_bytes_per_gpu given model llama-3.1-405b, tp = 8, pp = 2", value(47.3 * GIB)),
        Line("max context given model llama-3.1-405b, weight_dtype = fp8, gpu 8 x h100-sxm, "
             "tp = 8, batch = 1", value(131072)),
    )),
    "e08": ("vllm-project/vllm#22291", (
        Line("kv_bytes_per_token given model qwen2.5-7b", value(57344, 0)),
        Line("kv_bytes_per_token * 3072 -> GiB given model qwen2.5-7b", value(0.164 * GIB)),
        Line("min gpu_memory_utilization given model qwen2.5-7b, weight_dtype = int8, batch = 50, "
             "context = 3072", lacks("vram_bytes")),
    )),
    "e10": ("vllm-project/vllm#5143", (
        Line("weight_bytes given model llama-3.1-70b", value(141.2e9)),
        Line("which tp given model llama-3.1-70b, gpu 4 x a100-40gb-sxm, batch = 1, context = 2k, "
             "gpu_memory_utilization = 0.95", breaks("memory", tp=2)),
        Line("which tp given model llama-3.1-70b, gpu 4 x a100-40gb-sxm, batch = 1, context = 2k, "
             "gpu_memory_utilization = 0.95", feasible(tp=4)),
    )),
    "e11": ("vllm-project/vllm#1435", (
        Line("sweep replica_request_rate over tp in {1, 8} given model llama-2-7b, "
             "gpu 8 x a100-80gb-sxm, batch = 32, prompt = 500, output = 200",
             rises("replica_request_rate", {"tp": 1}, {"tp": 8})),
    )),
    "e14": ("vllm-project/vllm#7202", (
        # One sequence to a stage: with one in flight every other stage waits.
        Line("micro_batch given batch = 8, pp = 8", value(1, 0)),
        Line("sweep tpot over pp in {1, 8} given model qwen2.5-7b, gpu 8 x a100-80gb-sxm, tp = 1, "
             "batch = 1, context = 2k",
             lambda found: _row(found, {"pp": 8})["tpot"] > _row(found, {"pp": 1})["tpot"]),
    )),
    "e15": ("vllm-project/vllm#33263", (
        Line("kv_bytes_per_gpu given n_layers = 28, n_kv_heads = 8, d_head = 128, batch = 4, "
             "context = 4Ki", value(4 * 4096 * 114688, 0)),
        Line("kv_bytes_per_gpu given n_layers = 28, n_kv_heads = 8, d_head = 128",
             lacks("batch", "context_tokens")),
    )),
    "e17": ("deepseek-ai/DeepSeek-R1#276", (
        Line("weight_bytes given model deepseek-r1", value(675e9, 0.04)),
        Line("max context given model deepseek-r1, gpu 8 x h20-96gb, tp = 8, batch = 1",
             lambda found: found["status"] == "ok" and found["value"] > 16_000),
        # Eight streams in the first order need more than nine tenths of the card.
        Line("max batch given model deepseek-r1, gpu 8 x h20-96gb, tp = 8, context = 16k, "
             "gpu_memory_utilization = 1", lambda found: found["value"] >= 8),
    )),
    "e18": ("deepseek-ai/DeepSeek-R1#460", (
        Line("weight_bytes given model deepseek-r1, weight_dtype = bf16", value(1342e9)),
        Line(f"which pp over pp in {{2, 4}} given {R1}, tp = 8, gpu 32 x a100-80gb-sxm",
             breaks("memory", pp=2)),
        Line(f"which pp over pp in {{2, 4}} given {R1}, tp = 8, gpu 32 x a100-80gb-sxm",
             feasible(pp=4)),
    )),
    "e19": ("sgl-project/sglang#3640", (
        Line(f"which tp over tp in {{24}} given {R1}, gpu 24 x a100-80gb-sxm",
             breaks("heads_divide", tp=24)),
        Line("weight_bytes given model deepseek-r1, weight_dtype = bf16", value(1342e9)),
    )),
    "e20": ("sgl-project/sglang#3344", (
        Line("kv_bytes_per_token * 131072 -> GiB given model deepseek-r1", value(8.58 * GIB)),
        Line("max context given model deepseek-r1, gpu 16 x h100-sxm, tp = 8, pp = 2, batch = 1",
             lambda found: found["status"] == "ok" and found["value"] >= 131072),
    )),
    "e21": ("mit-han-lab/omniserve#18", (
        Line("weight_bytes given model llama-2-70b, weight_dtype = int4", value(37e9, 0.05)),
        Line("kv_bytes_per_token given model llama-2-70b, kv_bytes_per_element = 0.5 B",
             value(81920, 0)),
        # 280 tok/s at batch 24 on one card: the first order allows it, and no more than twice it.
        Line("batch / tpot given model llama-2-70b, weight_dtype = int4, kv_dtype = int4, "
             "gpu l40s, context = 1k, batch = 24", lambda found: 280 <= found["value"] <= 560),
    )),
    "e23": ("NVIDIA/TensorRT-LLM#2648", (
        # 2 000 and 5 500 output tokens a second, of 128 each.
        Line("batch given model llama-3.1-8b, gpu a100-80gb-sxm, prompt = 128, output = 128, "
             "replica_request_rate = 15.6/s", lambda found: found["value"] < 40),
        Line("batch given model llama-3.1-8b, gpu a100-80gb-sxm, prompt = 128, output = 128, "
             "replica_request_rate = 43/s", lambda found: found["value"] > 3 * 40),
    )),
    "e24": ("h2oai/h2ogpt#898", (
        Line("45 GiB / kv_bytes_per_token given model llama-2-13b", value(58982)),
        Line("max batch given model llama-2-13b, gpu a100-80gb-sxm, context = 4096", value(14, 0)),
    )),
    "e26": ("NVIDIA-AI-Blueprints/rag#48", (
        Line("weight_bytes given n_params = 49.87B", value(99.7e9)),
        Line("weight_bytes given n_params = 49.87B, weight_dtype = fp8", value(49.9e9)),
        Line("check given n_params = 49.87B, weight_dtype = bf16, vram_bytes = 80 GB",
             lambda found: found["verdict"] == "inconsistent"),
    )),
    "e27": ("NVIDIA/mig-parted#100", (
        # 4g at the first of its places and 3g behind it: 4 + 4 of the 8 memory slices.
        Line("mig_instances given gpu a100-40gb-sxm, mig_profile = 3g.20gb", value(2, 0)),
        Line("mig_instances given gpu a100-40gb-sxm, mig_profile = 4g.20gb", value(1, 0)),
    )),
    "e28": ("MoonshotAI/Kimi-VL#1", (
        Line("weight_bytes given n_params = 16B", value(32e9, 0)),
        Line("check given n_params = 16B, weight_dtype = bf16, "
             "vram_bytes = 40 GB", lambda found: found["verdict"] == "consistent"),
    )),
    "e30": ("kaito-project/kaito#1178", (
        # The overhead that a planner has to know is the one that makes the log come out.
        Line("runtime_overhead given memory_used_per_gpu = 72 GiB, weight_bytes_per_gpu = 66 GiB, "
             "kv_bytes_per_gpu = 0.5 GiB", value(5.5 * GIB)),
        Line("max context given weight_bytes_per_gpu = 66 GiB, batch = 1",
             lambda found: found["status"] == "unbounded"),
    )),
    "e31": ("vllm-project/vllm#52435", (
        Line("which tp over tp in {1, 3} given n_heads = 64, n_kv_heads = 1, gpu 3 x h100-sxm",
             breaks("heads_divide", tp=3)),
        Line("which ep over ep in {1, 3} given n_experts = 256, tp = 3, dp = 1",
             breaks("experts_divide", ep=3)),
    )),
    "e32": ("vllm-project/vllm#5003", (
        Line("which tp, pp over tp in {1, 3}, pp in {1, 3} given model llama-3.1-70b, "
             "gpu 3 x a100-80gb-sxm, batch = 1, context = 4k", breaks("heads_divide", tp=3, pp=1)),
        Line("which tp, pp over tp in {1, 3}, pp in {1, 3} given model llama-3.1-70b, "
             "gpu 3 x a100-80gb-sxm, batch = 1, context = 4k", feasible(tp=1, pp=3)),
        # 27 of the 80 layers are in the longest stage.
        Line("weight_bytes_per_gpu given model llama-3.1-70b, pp = 3",
             value(2 * 70_553_706_496 * 27 / 80, 1e-9)),
        Line("weight_bytes / 3 given model llama-3.1-70b", value(47e9)),
    )),
    "e33": ("public roofline explainers", (
        Line("ridge_intensity given gpu h100-sxm", value(295)),
        Line("ridge_intensity given gpu a100-80gb-sxm", value(154.5, 0.01)),
        Line("batch given decode_matmul_intensity = 295, bytes_per_weight = 2", value(295, 0)),
    )),
    "e35": ("NVIDIA-AI-Blueprints/video-search-and-summarization#1649", (
        Line("kv_bytes_per_token * context + 70 MiB -> GiB given kv_bytes_per_token = 16 KiB, "
             "context = 128000", value(2.0 * GIB, 0.02)),
        Line("max_sequences given kv_bytes_per_token = 16 KiB, context = 128000, "
             "vram_bytes = 80 GB", lacks("weight_bytes_per_gpu")),
    )),
    "e37": ("vllm-project/vllm#7567 (comment)", (
        Line(f"1 / tpot given {A100S}, mbu = 1, step_overhead = 0 s, link_latency = 0 s",
             value(27.4)),
        Line(f"max mbu given {A100S}, tpot <= 33.3 ms", clashes("model", "gpu", "tpot")),
        Line(f"max mbu given {A100S}, tpot <= 33.3 ms", relaxed("weight_dtype", "fp8")),
    )),
    "e38": ("vllm-project/vllm#17891", (
        Line("min gpu_memory_utilization given model qwen2.5-vl-7b, gpu a100-80gb-sxm, batch = 1, "
             "context = 2048", lambda found: found["value"] <= 0.25),
    )),
    "e40": ("InternLM/lmdeploy#2423", (
        # A share of what is free after loading: (T - S/P) lambda for each GPU.
        Line("0.1 * (vram_bytes - weight_bytes / 2) given vram_bytes = 24 GB, weight_bytes = 6 GB",
             value(2.1e9, 1e-9)),
        Line("0.1 * (vram_bytes - weight_bytes) given vram_bytes = 24 GB, weight_bytes = 6 GB",
             value(1.8e9, 1e-9)),
    )),
    "e43": ("vllm-project/vllm#14412", (
        Line("kv_bytes_per_token given model qwen2.5-32b", value(262144, 0)),
        Line("8.7 GiB / kv_bytes_per_token given model qwen2.5-32b", value(35553)),
        Line("max_sequences given model qwen2.5-32b, weight_dtype = fp8, gpu l40s, "
             "gpu_memory_utilization = 0.95, context = 32000", value(1, 0)),
    )),
    "e45": ("vllm-project/vllm#4853", (
        Line("max batch given gpu 4 x rtx-6000-ada",
             lambda found: found["status"] == "missing" and bool(found["missing"])),
        Line("max batch given model llama-3.1-70b, weight_dtype = int4, gpu 4 x rtx-6000-ada, "
             "tp = 4, prompt = 1k, output = 250, tpot <= 50 ms, ttft <= 2 s",
             lambda found: found["status"] == "ok" and found["binding"] == ["tpot"]),
    )),
    "e46": ("torch-spyre/sendnn-inference#747", (
        Line("max batch given prompt = 1k, output = 250",
             lambda found: found["status"] == "unbounded"),
        Line("max_sequences given prompt = 1k, output = 250",
             lambda found: found["status"] == "missing" and bool(found["missing"])),
    )),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_question_that_a_person_asked(name: str) -> None:
    _, lines = CASES[name]
    for line in lines:
        _, outcome = Conversation(seconds=0.0).say(line.text)
        assert line.holds(outcome.to_dict()), f"{line.text}\n{outcome}"


def of_configs(text: str) -> str:
    """The line with the config.json of each model that it names."""
    return MODEL.sub(lambda found: f"model {CONFIGS / found[1] / 'config.json'}", text)


@pytest.mark.parametrize("name", [n for n, (_, rows) in CASES.items() if "model " in str(rows)])
def test_the_same_from_the_config_of_the_model(name: str) -> None:
    _, lines = CASES[name]
    for line in lines:
        text = of_configs(line.text)
        _, outcome = Conversation(seconds=0.0).say(text)
        assert line.holds(outcome.to_dict()), f"{text}\n{outcome}"


def test_there_are_thirty() -> None:
    assert len(CASES) == 30
    assert all(source and lines for source, lines in CASES.values())
