"""The graph of quantities and relations agrees with plain set computations and with known facts."""

from __future__ import annotations

from itertools import pairwise

import pytest

from formulas.catalogue import catalogue
from formulas.errors import Problem
from formulas.graph import build, graph

NAMES = tuple(catalogue().quantities)


def closure(start: str, steps: dict[str, set[str]]) -> set[str]:
    """Everything that is reached from the start, by repeated union."""
    reached: set[str] = set()
    while True:
        more = set().union(*(steps.get(name, set()) for name in {start} | reached))
        if more <= reached:
            return reached
        reached |= more


def arrows(*, forwards: bool) -> dict[str, set[str]]:
    steps: dict[str, set[str]] = {}
    for relation in catalogue().relations.values():
        for name in relation.inputs:
            start, end = (name, relation.gives) if forwards else (relation.gives, name)
            steps.setdefault(start, set()).add(end)
    return steps


def test_needs_is_the_closure_of_inputs() -> None:
    steps = arrows(forwards=False)
    for name in NAMES:
        assert graph().needs(name) == closure(name, steps) - {name}


def test_used_by_is_the_closure_of_outputs() -> None:
    steps = arrows(forwards=True)
    for name in NAMES:
        reached = closure(name, steps)
        users = {
            key
            for key, relation in catalogue().relations.items()
            if {name, *reached} & set(relation.inputs)
        }
        found = graph().used_by(name)
        assert found.quantities == reached - {name}
        assert found.relations == users
        assert found.quantities | {name} >= catalogue().downstream(name)


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("tpot", {"mbu", "mfu", "memory_bandwidth", "n_layers", "link_latency", "output_tokens"}),
        ("ttft", {"prompt_tokens", "peak_flops", "step_overhead", "prefix_hit_rate"}),
        ("max_sequences", {"vram_bytes", "gpu_memory_utilization", "n_kv_heads", "context_tokens"}),
        ("cost_per_million_tokens", {"price_per_gpu_hour", "replicas", "arrival_rate", "mbu"}),
        ("bubble_fraction", {"pipeline_stages", "micro_batches"}),
    ],
)
def test_facts_of_the_deployment_model(name: str, needed: set[str]) -> None:
    assert needed <= graph().needs(name)


def test_inputs_need_nothing() -> None:
    for name in ("vram_bytes", "n_layers", "price_per_gpu_hour", "pipeline_stages"):
        assert graph().needs(name) == frozenset()
        assert graph().direct(name).given_by == ()


def test_what_a_cached_token_costs_has_a_part_in_how_many_fit() -> None:
    used = graph().used_by("kv_bytes_per_token")
    assert {"max_sequences", "deployment.max_sequences", "kv_transfer"} <= used.relations
    assert {"max_sequences", "tpot", "kv_transfer_time"} <= used.quantities
    assert "weight_bytes" not in used.quantities


def test_direct_names_only_neighbours() -> None:
    around = graph().direct("all_reduce_time")
    assert around.given_by == (
        "deployment.all_reduce_time.calibrated",
        "deployment.all_reduce_time",
        "ring_all_reduce",
    )
    assert set(around.used_in) >= {
        "bus_bandwidth.algorithm_bandwidth",
        "tp_decode_step",
        "deployment.step_time",
    }
    assert graph().direct("ctx") == graph().direct("context_tokens")


def test_variants_stand_by_rank_and_say_when_they_answer() -> None:
    variants = {v.relation: v for v in graph().variants("step_time")}
    assert list(variants)[:2] == ["deployment.step_time.calibrated", "deployment.step_time"]
    assert list(variants)[-1] == "decode_step_bound.step_time"
    ranks = [v.rank for v in variants.values()]
    assert ranks == sorted(ranks, reverse=True)
    assert variants["deployment.step_time"].reason == ""
    assert "one replica is one GPU" in variants["decode_step_kv"].reason
    assert "no routed experts" in variants["tp_decode_step"].reason
    assert variants["decode_step_bound.step_time"].reason.startswith("a bound")
    mla = {v.relation: v.reason for v in graph().variants("kv_elements_per_token")}
    assert "where kv_lora_rank" in mla["deployment.kv_elements_per_token.mla"]
    assert "unless kv_lora_rank" in mla["deployment.kv_elements_per_token"]


def test_every_variant_of_a_quantity_is_there_once() -> None:
    for name in NAMES:
        giving = [key for key, row in catalogue().relations.items() if row.gives == name]
        assert sorted(v.relation for v in graph().variants(name)) == sorted(giving)


def test_tpot_and_end_to_end_latency_are_one_equation() -> None:
    assert graph().same_equation("tpot") == ("tpot", "e2e_latency")
    assert graph().same_equation("e2e_latency") == ("tpot", "e2e_latency")
    assert graph().same_equation("littles_law") == ("littles_law",)


def test_a_path_is_made_of_steps_that_exist() -> None:
    path = graph().path("mbu", "cost_per_million_tokens")
    quantities, relations = path[::2], path[1::2]
    assert (quantities[0], quantities[-1]) == ("mbu", "cost_per_million_tokens")
    for (before, after), key in zip(pairwise(quantities), relations, strict=True):
        relation = catalogue().relations[key]
        assert before in relation.inputs
        assert after == relation.gives
    assert graph().path("vram_bytes", "memory_budget") == (
        "vram_bytes",
        "deployment.memory_budget",
        "memory_budget",
    )
    assert graph().path("memory_budget", "vram_bytes") == ()


def test_an_unknown_name_says_what_was_meant() -> None:
    with pytest.raises(Problem, match="no variable 'contxt'") as caught:
        graph().needs("contxt")
    assert caught.value.kind == "name"
    assert "did you mean 'context'" in caught.value.help[0]


def test_the_graph_is_built_once_and_frozen() -> None:
    import networkx

    assert graph() is graph()
    with pytest.raises(networkx.NetworkXError):
        build(catalogue()).directed.add_node("more")
