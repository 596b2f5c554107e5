"""A chosen configuration as the commands that start it, and what the model does not know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from derive.document import Block, Heading, Line
from derive.outcome import Outcome
from formulas.errors import Problem
from formulas.scenario import Scenario, scenario
from solvers.answer import Choice, Exact

if TYPE_CHECKING:
    from derive.plan import Wanted

ENGINES = ("vllm", "sglang", "kubernetes")
_IMAGE = "vllm/vllm-openai:latest"
# What each engine calls the formats; None: it reads them from the checkpoint.
_QUANTIZED = {"fp8": "fp8", "int4": None, "nvfp4": None, "mxfp4": None, "int8": None}
_SAME = ("bf16", "fp16")


@dataclass(frozen=True)
class Choices:
    """One replica and how many of them, in the words of an engine."""

    model: str
    gpu: str
    profile: str | None
    tp: int
    pp: int
    dp: int
    ep: int
    batch: int
    context: int | None
    replicas: int
    share: float
    weights: str
    cache: str
    node: int
    probe: tuple[int, int] | None
    gpus: int


def launch_outcome(wanted: Wanted, seconds: float, engine: str | None) -> Outcome:
    """The commands for the best configuration; where there is none, the plan's own card."""
    from derive.plan import plan_outcome

    if engine is not None and engine not in ENGINES:
        raise Problem("name", f"no form '{engine}'", (f"there are {', '.join(ENGINES)}",), engine)
    found = plan_outcome(wanted, seconds)
    reply = found.reply
    if reply is None or not isinstance(reply.answer, Choice):
        return found
    chosen = choices_of(scenario(reply.asked.statements), reply.answer)
    texts = {name: make(chosen) for name, make in _FORMS.items() if engine in (None, name)}
    notes = notes_of(chosen)
    blocks: list[Block] = []
    for name, text in texts.items():
        blocks += [Heading(f"# {name}"), *(Line(row) for row in text.splitlines()), Line("")]
    blocks += [Line(f"# {note}") for note in notes]
    data = {**found.data, "launch": texts, "notes": list(notes)}
    return Outcome(found.status, tuple(blocks), data, reply)


def choices_of(known: Scenario, answer: Choice) -> Choices:
    """What is chosen, stated and derived, as an engine needs it."""
    from formulas.hardware import find_gpu
    from formulas.statements import UseGpu, UseModel

    facts = {name: given.value for name, given in known.given.items()}
    facts |= {**answer.evidence.assumed, **answer.evidence.outcomes}
    facts |= {n: v for n, v in answer.choice.items() if not isinstance(v, str)}
    gpu = next((row.name for row in known.statements if isinstance(row, UseGpu)), "GPU")
    model = next((row.name for row in known.statements if isinstance(row, UseModel)), "MODEL")

    def count(name: str) -> int:
        value = facts.get(name, 1)
        return int(Fraction(value)) if isinstance(value, Fraction | int) else 1

    profile = known.chosen.get("mig_profile")
    context = _whole(known, "context_tokens")
    return Choices(
        _hub_name(model),
        find_gpu(gpu).name if gpu != "GPU" else gpu,
        None if profile in (None, "none") else profile,
        count("tp"),
        count("pp"),
        count("dp"),
        count("ep"),
        count("batch"),
        context,
        count("replicas"),
        float(facts.get("gpu_memory_utilization", Fraction(9, 10))),
        known.chosen.get("weight_dtype", "bf16"),
        known.chosen.get("kv_dtype", "bf16"),
        count("node_gpus"),
        _probe(known),
        _whole(known, "gpus_per_replica") or 1,
    )


def _whole(known: Scenario, name: str) -> int | None:
    """A count that follows from what is known; None where it does not."""
    from solvers.solve import Request, solve

    found = solve(Request(name, known))
    return int(found.value) if isinstance(found, Exact) else None


def _hub_name(name: str) -> str:
    from formulas.models import find_model

    if name == "MODEL":
        return name
    row = find_model(name, {}).row
    return str(row.get("hf_id") or name)


def _probe(known: Scenario) -> tuple[int, int] | None:
    """Period and threshold of the startup probe, by the sheet's budget; None where a time lacks."""
    from solvers.solve import Request, solve

    times = ("download_time", "load_time", "compile_time")
    if any(name not in known.given for name in times):
        return None
    period = known.given.get("probe_period")
    seconds = Fraction(10) if period is None else period.value
    budget = known.with_value("probe_period", seconds).with_value("probe_ok", True)
    found = solve(Request("failure_threshold", budget.without("failure_threshold"), "min"))
    return (int(seconds), int(found.value)) if isinstance(found, Exact) else None


# -- the forms


def _vllm(chosen: Choices) -> str:
    return "vllm serve " + " \\\n  ".join([chosen.model, *_vllm_flags(chosen)])


def _vllm_flags(chosen: Choices) -> list[str]:
    rows = [f"--tensor-parallel-size {chosen.tp}"]
    rows += [f"--pipeline-parallel-size {chosen.pp}"] if chosen.pp > 1 else []
    rows += [f"--data-parallel-size {chosen.dp}"] if chosen.dp > 1 else []
    rows += ["--enable-expert-parallel"] if chosen.ep > 1 else []
    rows.append(f"--max-num-seqs {-(-chosen.batch // chosen.dp)}")
    rows += [f"--max-model-len {chosen.context}"] if chosen.context else []
    rows.append(f"--gpu-memory-utilization {chosen.share:g}")
    quantized = _QUANTIZED.get(chosen.weights)
    rows += [f"--quantization {quantized}"] if quantized else []
    rows += [f"--kv-cache-dtype {chosen.cache}"] if chosen.cache not in _SAME else []
    return rows


def _sglang(chosen: Choices) -> str:
    rows = [f"--model-path {chosen.model}", f"--tp-size {chosen.gpus // chosen.pp}"]
    rows += [f"--pp-size {chosen.pp}"] if chosen.pp > 1 else []
    rows += [f"--dp-size {chosen.dp}", "--enable-dp-attention"] if chosen.dp > 1 else []
    rows += [f"--ep-size {chosen.ep}"] if chosen.ep > 1 else []
    rows.append(f"--max-running-requests {chosen.batch}")
    rows += [f"--context-length {chosen.context}"] if chosen.context else []
    quantized = _QUANTIZED.get(chosen.weights)
    rows += [f"--quantization {quantized}"] if quantized else []
    rows += ["--kv-cache-dtype fp8_e5m2"] if chosen.cache == "fp8" else []
    return "python -m sglang.launch_server " + " \\\n  ".join(rows)


def _kubernetes(chosen: Choices) -> str:
    name = chosen.model.rpartition("/")[2].lower().replace(".", "-").replace("_", "-")
    flags = [f'            - "{part}"' for row in _vllm_flags(chosen) for part in row.split()]
    if chosen.profile is None:
        resource, count = "nvidia.com/gpu", chosen.gpus
    else:
        resource, count = f"nvidia.com/mig-{chosen.profile.replace('+', '.')}", 1
    probe = []
    if chosen.probe is not None:
        period, threshold = chosen.probe
        probe = [
            "          startupProbe:",
            "            httpGet: {path: /health, port: 8000}",
            f"            periodSeconds: {period}",
            f"            failureThreshold: {threshold}",
        ]
    rows = [
        "apiVersion: apps/v1",
        "kind: Deployment",
        "metadata:",
        f"  name: {name}",
        "spec:",
        f"  replicas: {chosen.replicas}",
        "  selector:",
        f"    matchLabels: {{app: {name}}}",
        "  template:",
        "    metadata:",
        f"      labels: {{app: {name}}}",
        "    spec:",
        "      containers:",
        "        - name: engine",
        f"          image: {_IMAGE}",
        "          args:",
        f'            - "--model={chosen.model}"',
        *flags,
        "          ports:",
        "            - containerPort: 8000",
        *probe,
        "          resources:",
        "            limits:",
        f"              {resource}: {count}",
    ]
    return "\n".join(rows)


_FORMS: Mapping[str, Callable[[Choices], str]] = {
    "vllm": _vllm,
    "sglang": _sglang,
    "kubernetes": _kubernetes,
}


def notes_of(chosen: Choices) -> tuple[str, ...]:
    """What has to be known beside the commands, and what the model does not know."""
    rows = [f"{chosen.replicas} replicas on {chosen.gpu}; each command starts one"]
    if chosen.weights in _QUANTIZED and _QUANTIZED[chosen.weights] is None:
        rows.append(f"weights in {chosen.weights}: name a checkpoint stored in that format instead")
    if chosen.cache not in (*_SAME, "fp8"):
        rows.append(f"whether the engine has a cache in {chosen.cache} is not known here")
    if chosen.gpus > chosen.node:
        rows.append("one replica spans several nodes: a Deployment starts only one of its pods")
    if chosen.probe is None:
        rows.append("no startup probe: state download_time, load_time and compile_time for one")
    rows.append("the batch is the model's: engines schedule by tokens, so measure before trusting")
    rows.append("not known here: queueing, chunked prefill, quality of the formats, other tenants")
    return tuple(rows)
