"""What is known, in order: stated facts, what follows, defaults. And what is never done."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest

from derive import Session
from derive.conversation import Conversation
from tests.deployments import answers, ask, near, oracle_facts
from tests.oracle import Model, largest_tp

LLAMA_70B = {
    "n_layers": 80, "d_model": 8192, "n_heads": 64, "n_kv_heads": 8, "d_head": 128,
    "n_params": 70553706496,
}  # fmt: skip
H100 = {
    "vram_bytes": 85520809984, "memory_bandwidth": 3350 * 10**9, "peak_flops": 9894 * 10**11,
    "node_gpus": 8,
}  # fmt: skip
WORK = {"prompt_tokens": 2000, "output_tokens": 500, "batch": 16}
ONE = {**LLAMA_70B, **H100, **WORK}
EIGHT = {**ONE, "tp": 8, "link_bandwidth": 450 * 10**9}
# All that a dense model on eight GPUs leaves to the defaults.
NUMBERS = {
    "mbu": Fraction("0.8"), "mfu": Fraction("0.6"), "link_latency": Fraction("1e-6"),
    "step_overhead": Fraction("0.0035"), "gpu_memory_utilization": Fraction("0.9"),
    "runtime_overhead": 4 * 10**9, "target_utilization": Fraction("0.7"), "prefix_hit_rate": 0,
    "pp": 1, "dp": 1, "ep": 1, "weight_dtype": "bf16", "kv_dtype": "bf16", "wide_params": 0,
}  # fmt: skip
ALL = {**EIGHT, **NUMBERS, "price_per_gpu_hour": 3}
MOE = {
    "n_layers": 48, "d_model": 2048, "n_heads": 32, "n_kv_heads": 4, "d_head": 128,
    "n_params": 30532122624, "active_params": 3353124864, "expert_params": 28991029248,
    "n_experts": 128, "experts_per_token": 8, "n_moe_layers": 48,
}  # fmt: skip


def model_of(given: Mapping[str, Any], *asked: str) -> Model:
    return Model(oracle_facts(given), asked)


def value(find: str, given: Mapping[str, Any]) -> float:
    answer = ask(find, given)
    assert answer["status"] == "ok", answer
    return float(answer["value"])


def without(given: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: fact for name, fact in given.items() if name not in names}


CONTEXT_ONLY = without(EIGHT, "prompt_tokens", "output_tokens")
PROMPT_ONLY = without(EIGHT, "output_tokens")


def essence(answer: Mapping[str, Any]) -> dict[str, Any]:
    """What must not depend on the order of the facts: all but the order of statements."""
    kept = {k: v for k, v in answer.items() if k not in ("id", "line", "steps")}
    for name in ("conflict", "constraints"):
        kept[name] = sorted(str(row) for row in answer.get(name, ()))
    return kept


# -- the order of facts


@pytest.mark.parametrize(
    ("find", "given"),
    [
        ("cost_per_million_tokens", {**EIGHT, "price_per_gpu_hour": 3}),
        ("mbu", {**EIGHT, "tpot": 0.02}),
        ("replica_request_rate", {**EIGHT, "tpot": 0.06}),
        ("max context_tokens", {**CONTEXT_ONLY, "tpot": "<= 0.03"}),
        ("max output_tokens", {**PROMPT_ONLY, "tpot": "<= 0.06", "ttft": "<= 3"}),
        ("ttft", {**ONE, "tp": 8}),
        ("step_time", {**MOE, **H100, **WORK, "tpot": 0.05}),
        ("tpot", {**ALL, "e2e_latency": 30, "n_moe_layers": 0, "n_experts": 1,
                  "experts_per_token": 1, "expert_params": 0}),
        ("max batch", {"model": "llama-3.1-70b", "gpu": "8 x h100-sxm", "weight_dtype": "fp8",
                       "prompt_tokens": 2000, "output_tokens": 500, "tpot": "<= 0.04"}),
    ],
)  # fmt: skip
def test_the_order_of_facts_changes_nothing(find: str, given: dict[str, Any]) -> None:
    choose = random.Random(find)
    rows = list(given.items())
    questions = [(find, given)]
    for _ in range(6):
        choose.shuffle(rows)
        questions.append((find, dict(rows)))
    first, *others = (essence(answer) for answer in answers(questions))
    assert "bug" not in str(first.get("error")), first
    for other in others:
        assert other == first


# -- what is stated against what follows


@pytest.mark.parametrize("find", ["step_time", "cost_per_hour", "replica_request_rate", "ttft"])
def test_everything_stated_and_a_tpot_that_does_not_follow_contradicts(find: str) -> None:
    """DESIGN: another value from stated facts alone is a contradiction.

    That a dense model has no experts is no assumption that could be withdrawn: the contract says
    what facts without expert_params are, and here it is even stated.
    """
    given = {**ALL, "expert_params": 0, "active_params": ALL["n_params"], "tpot": 0.06}
    answer = ask(find, given)
    assert answer["status"] == "contradiction", (find, answer.get("value"), answer.get("assumed"))
    assert {row["name"] for row in answer["conflict"]} >= {"tpot"}


def test_a_dense_model_is_dense_without_being_told() -> None:
    answer = ask("step_time", {**ALL, "tpot": 0.06})
    assert answer["status"] == "contradiction", (answer.get("value"), answer.get("assumed"))


# step_time stands between what is stated and the tpot: the asked quantity must not hide the clash.
@pytest.mark.parametrize("find", ["step_time", "stage_memory_time", "prefill_time", "ttft", "itl"])
def test_the_same_with_the_experts_of_a_dense_model_spelt_out(find: str) -> None:
    spelt = {"expert_params": 0, "n_moe_layers": 0, "n_experts": 1, "experts_per_token": 1}
    answer = ask(find, {**ALL, **spelt, "active_params": ALL["n_params"], "tpot": 0.06})
    assert answer["status"] == "contradiction", (answer.get("value"), answer.get("unused"))


def test_the_right_tpot_contradicts_nothing() -> None:
    """Within 1e-9 relative a statement agrees; beyond, it does not."""
    spelt = {"expert_params": 0, "n_moe_layers": 0, "n_experts": 1, "experts_per_token": 1}
    given = {**ALL, **spelt, "active_params": ALL["n_params"]}
    true = model_of(given)["tpot"]
    for factor, status in ((1, "ok"), (1 + 1e-10, "ok"), (1 + 1e-8, "contradiction")):
        answer = ask("cost_per_hour", {**given, "tpot": Fraction(f"{float(true) * factor:.15g}")})
        assert answer["status"] == status, (factor, answer.get("message"))
    assert near(value("cost_per_hour", {**given, "tpot": true}), 24)


def test_e2e_latency_and_tpot_are_one_relation() -> None:
    given = without(ALL, "price_per_gpu_hour")
    true = model_of(given)["e2e_latency"]
    assert near(value("tpot", {**given, "e2e_latency": true}), model_of(given)["tpot"])
    both = {**given, "e2e_latency": true, "tpot": model_of(given)["tpot"] * 2}
    assert ask("ttft", both)["status"] == "contradiction"


SLOW = Fraction("0.06")
# At saturation: batch / (output_tokens tpot) is the rate, by the contract's own words.
SLOW_RATE = 16 / (500 * SLOW)


@pytest.mark.parametrize(
    ("find", "expected"),
    [
        ("replica_request_rate", SLOW_RATE),
        ("arrival_rate", SLOW_RATE * Fraction("0.7")),
        ("itl", SLOW),
        ("tpot", SLOW),
    ],
)
def test_a_stated_tpot_is_used_and_a_default_withdrawn(find: str, expected: Fraction) -> None:
    """With defaults the model says 15.7 ms: where 60 ms are stated, a default gives way."""
    answer = ask(find, {**EIGHT, "tpot": SLOW})
    assert answer["status"] == "ok", answer
    assert near(answer["value"], expected)
    assert "tpot" not in answer.get("unused", ())


def test_cost_follows_a_stated_tpot() -> None:
    given = {**EIGHT, "price_per_gpu_hour": 3, "arrival_rate": 20}
    fast, slow = (value("cost_per_hour", g) for g in (given, {**given, "tpot": SLOW}))
    # 20 requests/s over 0.7 x 0.533 requests/s each: 54 replicas of eight GPUs.
    assert slow == 54 * 8 * 3
    assert fast == model_of(given)["cost_per_hour"]
    assert fast < slow


def test_latency_beside_a_stated_tpot() -> None:
    """The default that gave way is asked for, and no other figure stands in for it."""
    given = {**EIGHT, "tpot": SLOW}
    answer = ask("e2e_latency", given)
    if answer["status"] == "missing":
        assert ["ttft"] in answer["missing"]
        assert answer["message"]
    else:
        assert 499 * SLOW < answer["value"] < 499 * SLOW + 1
    first = Fraction("0.1")
    assert near(value("e2e_latency", {**given, "ttft": first}), first + 499 * SLOW)


@pytest.mark.parametrize("find", ["step_time", "replica_request_rate", "mbu", "e2e_latency"])
def test_assumed_are_defaults_and_not_what_was_inferred(find: str) -> None:
    """`assumed` gives name to value: a default of 0.80 for mbu is 0.80 or it is not assumed."""
    answer = ask(find, {**EIGHT, "tpot": SLOW})
    defaults = {"mbu": 0.8, "mfu": 0.6, "link_latency": 1e-6, "step_overhead": 0.0035}
    for name, shown in answer.get("assumed", {}).items():
        if name in defaults:
            assert shown == defaults[name], (find, name, answer["assumed"])


FITTED = ("mbu", "mfu", "link_latency", "step_overhead")


@pytest.mark.parametrize("stated", ["tpot", "e2e_latency", "ttft", "replica_request_rate"])
@pytest.mark.parametrize("find", ["ttft", "step_time", "mbu", "e2e_latency", "cost_per_hour"])
def test_the_assumptions_shown_give_what_is_stated(find: str, stated: str) -> None:
    """One equation settles one unknown: two defaults inferred from it, each beside the other's
    default, are a point at which the statement does not hold.
    """
    if find == stated:
        return
    given = {**EIGHT, "price_per_gpu_hour": 3}
    target = model_of(given)[stated] * (Fraction(1, 2) if "rate" in stated else 3)
    answer = ask(find, {**given, stated: target})
    if answer["status"] != "ok":
        assert answer["status"] == "missing", answer
        return
    shown = {name: answer["assumed"][name] for name in FITTED if name in answer["assumed"]}
    if find in FITTED:
        shown[find] = answer["value"]
    if len(shown) < len(FITTED):
        # What is not shown was not used, or is what gave way.
        return
    beside = [note for note in answer.get("notes", ()) if "does not go with the assumed" in note]
    if beside:
        # Then the answer rests on the statement itself, and says what it does not go with.
        assert stated in beside[0]
        assert find == "e2e_latency"
        ttft, tpot = (target if stated == n else model_of(given)[n] for n in ("ttft", "tpot"))
        assert near(answer["value"], ttft + 499 * tpot)
        return
    model = model_of({**given, **{n: Fraction(repr(v)) for n, v in shown.items()}})
    assert near(model[stated], target, 1e-6), (float(model[stated]), float(target), shown)
    assert near(model[find], answer["value"], 1e-6), (float(model[find]), answer["value"], shown)


def test_an_inferred_input_is_the_model_put_back() -> None:
    """Mbu from tpot: what was assumed on the way gives the tpot again."""
    answer = ask("mbu", {**EIGHT, "tpot": Fraction("0.02")})
    assert answer["status"] == "ok", answer
    found = Fraction(repr(answer["value"]))
    assert near(model_of({**EIGHT, "mbu": found})["tpot"], 0.02)
    assert "mbu" not in answer["assumed"]
    assert answer["assumed"]["mfu"] == 0.6


def test_stated_facts_that_name_one_quantity_twice() -> None:
    layers = "n_layers = 80, n_layers = 81"
    reply = Session(layers, n_kv_heads=8, d_head=128).ask("kv_bytes_per_token")
    assert reply.status == "contradiction"


# -- :=


def test_an_override_cuts_the_relations_of_the_quantity() -> None:
    """`:=` is no equation: nothing is inferred from it, and nothing contradicts it."""
    given = {**ALL, "tpot": ":= 60 ms"}
    plain, cut = ask("e2e_latency", ALL), ask("e2e_latency", given)
    assert cut["status"] == "ok", cut
    assert near(cut["value"], model_of(ALL)["ttft"] + 499 * SLOW)
    assert plain["value"] < cut["value"]
    # The step is what it was: it is no input of a tpot that is cut off.
    assert near(value("step_time", given), model_of(ALL)["step_time"])
    assert near(value("mbu", without(given, "mbu")), 0.8)


def test_an_override_of_an_input_is_like_a_statement() -> None:
    assert value("step_time", {**ALL, "mbu": ":= 0.5"}) == value(
        "step_time", {**ALL, "mbu": Fraction("0.5")}
    )


# -- defaults


@pytest.mark.parametrize(
    ("find", "default"),
    [
        ("mbu", 0.8), ("mfu", 0.6), ("link_latency", 1e-6), ("step_overhead", 0.0035),
        ("gpu_memory_utilization", 0.9), ("target_utilization", 0.7), ("prefix_hit_rate", 0),
        ("runtime_overhead", 4e9),
    ],
)  # fmt: skip
def test_a_default_answers_for_itself_where_nothing_else_does(find: str, default: float) -> None:
    alone = ask(find, EIGHT)
    assert alone["value"] == default
    assert find in alone["assumed"]
    given = {**ALL, "arrival_rate": 20}
    del given[find]
    given[find] = oracle_facts(NUMBERS)[find] / 2 if default else Fraction("0.3")
    outputs = {
        "gpu_memory_utilization": "memory_budget", "runtime_overhead": "memory_used_per_gpu",
        "prefix_hit_rate": "ttft",
    }  # fmt: skip
    if find == "target_utilization":
        return
    output = outputs.get(find, "e2e_latency")
    expected = model_of(given)[output]
    answer = ask(find, {**without(given, find), output: expected})
    assert answer["status"] == "ok", answer
    assert near(answer["value"], given[find], 1e-7)
    assert find not in answer.get("assumed", {})


def test_runtime_overhead_of_a_small_gpu() -> None:
    given = {**ONE, "vram_bytes": 24 * 10**9}
    assert value("runtime_overhead", given) == 2.4e9


def test_the_default_rate_is_one_replica_at_its_target() -> None:
    answer = ask("n_gpus", EIGHT)
    assert answer["value"] == 8
    assert near(answer["assumed"]["arrival_rate"], model_of(EIGHT)["arrival_rate"])


def test_a_default_rate_is_never_inverted() -> None:
    """One replica at its target says nothing about what the replica does."""
    answer = ask("mbu", {**EIGHT, "arrival_rate": 3, "tpot": Fraction("0.02")})
    assert near(answer["value"], value("mbu", {**EIGHT, "tpot": Fraction("0.02")}))
    alone = ask("mbu", {**EIGHT, "arrival_rate": 3})
    assert alone["value"] == 0.8


def test_the_batch_is_a_default_where_requests_and_replicas_are_known() -> None:
    given = {**without(EIGHT, "batch"), "requests_in_flight": 96, "replicas": 3}
    answer = ask("tpot", given)
    assert answer["status"] == "ok", answer
    assert answer["assumed"]["batch"] == 32
    assert near(answer["value"], model_of({**given, "batch": 32})["tpot"])


@pytest.mark.parametrize(
    ("find", "used"),
    [
        ("memory_used_per_gpu", {"runtime_overhead", "weight_dtype", "kv_dtype"}),
        ("memory_budget", {"gpu_memory_utilization"}),
        ("step_time", {"mbu", "mfu", "link_latency", "step_overhead", "weight_dtype", "kv_dtype"}),
        ("prefill_time", {"mfu", "link_latency", "prefix_hit_rate"}),
        (
            "ttft",
            {"mfu", "mbu", "link_latency", "step_overhead", "prefix_hit_rate", "weight_dtype"},
        ),
        ("kv_bytes_per_token", {"kv_dtype"}),
    ],
)
def test_assumed_is_what_was_used(find: str, used: set[str]) -> None:
    by_rule = {"pp", "dp", "ep", "expert_params", "n_moe_layers", "n_experts", "experts_per_token",
               "active_params", "wide_params", "mig_instances"}  # fmt: skip
    answer = ask(find, EIGHT)
    assert set(answer["assumed"]) - by_rule == used


def test_unused_is_what_was_stated_for_nothing() -> None:
    answer = ask("kv_bytes_per_token", EIGHT)
    assert set(answer["unused"]) == set(EIGHT) - {"n_layers", "n_kv_heads", "d_head"}
    answer = ask("max context_tokens", {**without(EIGHT, "prompt_tokens", "output_tokens"),
                                        "tpot": "<= 0.03", "price_per_gpu_hour": 3})  # fmt: skip
    assert answer["unused"] == ["price_per_gpu_hour"]
    named = ask("kv_bytes_per_token", {"model": "llama-3.1-70b", "gpu": "h100-sxm", "batch": 3})
    assert set(named["unused"]) == {"gpu", "batch"}


# -- never the one-GPU figure for eight, never a dense one for experts


@pytest.mark.parametrize(
    "find",
    [
        "step_time", "tpot", "itl", "ttft", "prefill_time", "e2e_latency", "replica_request_rate",
        "arrival_rate", "decode_concurrency", "all_reduce_time",
    ],
)  # fmt: skip
def test_eight_gpus_without_a_link_are_missing_it(find: str) -> None:
    answer = ask(find, {**ONE, "tp": 8})
    assert answer["status"] == "missing", (answer["status"], answer["value"])
    assert any("link_bandwidth" in names for names in answer["missing"]), answer["missing"]


@pytest.mark.parametrize("find", ["replicas", "n_gpus", "cost_per_hour", "cost_per_million_tokens"])
def test_eight_gpus_without_a_link_at_a_rate(find: str) -> None:
    given = {**ONE, "tp": 8, "arrival_rate": 20, "price_per_gpu_hour": 3}
    answer = ask(find, given)
    assert answer["status"] == "missing", (answer["status"], answer["value"])
    assert any("link_bandwidth" in names for names in answer["missing"]), answer["missing"]


@pytest.mark.parametrize("parallel", [{"pp": 2}, {"tp": 2, "pp": 2}, {"tp": 2}])
def test_any_parallelism_needs_its_link(parallel: dict[str, int]) -> None:
    assert ask("step_time", {**ONE, **parallel})["status"] == "missing"
    given = {**ONE, **parallel, "link_bandwidth": 450 * 10**9}
    assert near(value("step_time", given), model_of(given)["step_time"])


def test_tp_needs_no_link_of_one_gpu() -> None:
    for find in ("step_time", "tpot", "ttft", "replica_request_rate"):
        assert near(value(find, ONE), model_of(ONE)[find])


def test_a_limit_that_lacks_the_link_is_missing_it() -> None:
    given = {**without(ONE, "prompt_tokens", "output_tokens"), "tp": 8, "tpot": "<= 0.04"}
    answer = ask("max context_tokens", given)
    assert answer["status"] == "missing"
    assert any("link_bandwidth" in names for names in answer["missing"]), answer["missing"]


def test_a_bound_gives_no_value_unless_it_is_named() -> None:
    given = {"weight_bytes": 141 * 10**9, "memory_bandwidth": 3350 * 10**9}
    assert ask("step_time", given)["status"] == "missing"
    assert ask("tpot", given)["status"] == "missing"
    reply = Session("weight_bytes = 141 GB, memory_bandwidth = 3350 GB/s").ask("step_time")
    assert reply.status == "missing"


def test_no_default_applies_under_using() -> None:
    """`using` restricts the relations, and nothing is assumed under it."""
    from io import BytesIO, StringIO

    from derive.asking import ask_lines

    written = StringIO()
    line = b'{"find": "step_time", "given": {"weight_bytes": 141e9, "memory_bandwidth": 3350e9}, '
    ask_lines(BytesIO(line + b'"using": ["decode_step_bound"]}'), written, 20)
    assert '"kind": "bound"' in written.getvalue()
    assert '"assumed"' not in written.getvalue()


@pytest.mark.parametrize(
    "find", ["step_time", "tpot", "ttft", "prefill_time", "replica_request_rate"]
)
def test_experts_at_tp_1_are_no_dense_model(find: str) -> None:
    given = {**MOE, **H100, **WORK}
    assert near(value(find, given), model_of(given)[find])


@pytest.mark.parametrize("lacking", ["n_experts", "experts_per_token"])
def test_experts_of_unknown_number_are_missing(lacking: str) -> None:
    """The dense line must not answer in place of one that lacks a fact of the experts."""
    for find in ("step_time", "tpot", "replica_request_rate"):
        answer = ask(find, {**without(MOE, lacking), **H100, **WORK})
        assert answer["status"] == "missing", (find, answer["value"], answer.get("assumed"))
        assert any(lacking in names for names in answer["missing"]), answer["missing"]


def test_active_params_of_experts_are_missing() -> None:
    for find in ("prefill_time", "ttft", "tpot"):
        answer = ask(find, {**without(MOE, "active_params"), **H100, **WORK})
        assert answer["status"] == "missing", (find, answer["value"], answer.get("assumed"))
        assert any("active_params" in names for names in answer["missing"]), answer["missing"]


def test_facts_without_experts_are_dense() -> None:
    given = {
        "n_params": 8 * 10**9, "prompt_tokens": 1000, "peak_flops": 10**15, "n_layers": 32,
        "n_heads": 32, "d_head": 128, "n_kv_heads": 8, "memory_bandwidth": 10**12,
    }  # fmt: skip
    for find in ("prefill_time", "active_params", "weight_bytes_read_per_gpu"):
        wanted = {**given, "batch": 4}
        assert near(value(find, wanted), model_of(wanted)[find])


def test_the_context_follows_from_a_ttft_and_the_output() -> None:
    """Rule (2): the prompt is context minus output, so that ttft depends on the context."""
    given = without(EIGHT, "prompt_tokens")
    answer = ask("context_tokens", {**given, "ttft": model_of(EIGHT)["ttft"]})
    assert answer["status"] == "ok", answer
    assert near(answer["value"], 2500)


def test_the_parameters_of_a_dense_model_are_all_active() -> None:
    """Facts without expert_params have active_params = n_params, forwards and backwards."""
    given = without(ALL, "price_per_gpu_hour", "n_params", "wide_params")
    true = model_of(ALL)
    answer = ask("n_params", {**given, "prefill_time": true["prefill_time"]})
    assert answer["status"] == "ok", answer
    assert near(answer["value"], ALL["n_params"], 1e-7)


# -- values that do not fit, and limits on them


def test_a_value_is_answered_although_it_does_not_fit() -> None:
    answer = ask("tpot", ONE)
    assert answer["status"] == "ok"
    assert near(answer["value"], model_of(ONE)["tpot"])
    broken = [row["name"] for row in answer["constraints"] if not row["holds"]]
    assert broken == ["memory"]
    text = Session().ask("tpot given " + ", ".join(f"{k} = {v}" for k, v in ONE.items())).text()
    assert "memory" in text.splitlines()[0] + text.splitlines()[1] + text.splitlines()[2]


@pytest.mark.parametrize("find", ["max batch", "min batch", "max context_tokens", "min mbu"])
def test_a_largest_that_does_not_fit_is_infeasible(find: str) -> None:
    name = find.split()[1]
    drop = ("prompt_tokens", "output_tokens") if name == "context_tokens" else (name,)
    answer = ask(find, without(ONE, *drop))
    assert answer["status"] == "infeasible", answer
    assert answer["conflict"]


def test_a_limit_that_cannot_be_evaluated_is_missing() -> None:
    answer = ask("max batch", {**without(EIGHT, "batch"), "cost_per_hour": "<= 100"})
    assert answer["status"] == "missing"
    assert any("price_per_gpu_hour" in names for names in answer["missing"])
    answer = ask("max context_tokens", {**LLAMA_70B, **H100, "batch": 1, "ttft": "<= 1", "tp": 2})
    assert answer["status"] == "missing"


def test_a_standing_constraint_that_cannot_be_evaluated_is_unchecked() -> None:
    given = {**without(EIGHT, "node_gpus", "vram_bytes"), "tpot": "<= 0.05"}
    answer = ask("max batch", without(given, "batch"))
    assert answer["status"] == "ok", answer
    assert {"node_size", "memory"} <= set(answer["unchecked"])
    assert "memory" not in [row["name"] for row in answer["constraints"]]


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({"tp": 3}, "heads_divide"),
        ({"tp": 16, "n_heads": 64, "n_kv_heads": 10}, "kv_heads_divide"),
        ({"tp": 16}, "node_size"),
        ({"dp": 2, "ep": 2}, "dense_parallel"),
        ({"pp": 128}, "stages_fit"),
        ({"pp": 3, "batch": 16}, "batch_divides"),
        ({"available_gpus": 4}, "replica_size"),
        ({"max_batch": 8}, "batch_limit"),
        ({"ttft_slo": Fraction("0.01")}, "ttft_level"),
        ({"tpot_slo": Fraction("0.01")}, "tpot_level"),
        ({"max_position_embeddings": 2048}, "max_context"),
        ({"available_gpus": 8, "arrival_rate": 20}, "fleet_size"),
    ],
)
def test_each_standing_constraint(change: dict[str, Any], broken: str) -> None:
    """Each is looked at where its quantities are known, and only it is broken here."""
    given = {**EIGHT, **change}
    expected = model_of(given).broken()
    assert broken in expected
    answer = ask("tpot", given)
    assert answer["status"] == "ok", answer
    shown = {row["name"] for row in answer["constraints"] if not row["holds"]}
    assert shown == expected


def test_experts_over_attention_ranks() -> None:
    moe = {**MOE, **H100, **WORK, "link_bandwidth": 450 * 10**9, "tp": 1, "dp": 8}
    fits = ask("tpot", {**moe, "ep": 8})
    assert all(row["holds"] for row in fits["constraints"])
    broken = ask("tpot", {**moe, "ep": 4})
    assert [r["name"] for r in broken["constraints"] if not r["holds"]] == ["expert_parallel"]


# -- the assumed TP of N x GPU


@pytest.mark.parametrize(
    ("heads", "kv_heads", "available"),
    [
        (40, 10, 8), (64, 8, 8), (64, 8, 4), (28, 4, 8),
        (32, 8, 1), (14, 2, 8), (64, 8, 16), (24, 3, 8),
    ],
)  # fmt: skip
def test_the_assumed_tp(heads: int, kv_heads: int, available: int) -> None:
    """The largest power of two, at most N and the node, that meets every constraint on TP."""
    given = {**LLAMA_70B, "n_heads": heads, "n_kv_heads": kv_heads, **WORK}
    given["gpu"] = f"{available} x h100-sxm"
    expected = largest_tp(available, {**given, "node_gpus": 8})
    answer = ask("tpot", given)
    assert answer["status"] == "ok", answer
    assert answer["assumed"]["tp"] == expected


def test_the_assumed_tp_of_a_known_model() -> None:
    """Phi-4 has 40 heads and 10 KV heads: TP 8 divides the heads, not the KV heads."""
    answer = ask("tpot", {"model": "phi-4", "gpu": "8 x h100-sxm", **WORK})
    assert answer["assumed"]["tp"] == 2
    stated = ask("tpot", {"model": "phi-4", "gpu": "8 x h100-sxm", **WORK, "tp": 8})
    assert [r["name"] for r in stated["constraints"] if not r["holds"]] == ["kv_heads_divide"]


@pytest.mark.parametrize("other", ["pp", "dp", "ep"])
def test_where_some_parallelism_is_stated_tp_is_1(other: str) -> None:
    given = {**LLAMA_70B, **WORK, "gpu": "8 x h100-sxm", other: 1}
    assert ask("tpot", given)["assumed"]["tp"] == 1


# -- questions that speak of context


def test_a_context_alone_is_attended_in_full() -> None:
    given = {**CONTEXT_ONLY, "context_tokens": 5000}
    answer = ask("tpot", given)
    assert near(answer["value"], model_of(given)["tpot"])
    assert near(answer["value"], value("step_time", given))
    assert answer["assumed"]["mean_context_tokens"] == 5000
    assert answer["assumed"]["prefill_interference"] == 0
    prefill = ask("ttft", given)
    assert prefill["assumed"]["prompt_tokens"] == 5000
    assert near(prefill["value"], model_of(given)["ttft"])


def test_two_of_three_give_the_third() -> None:
    given = {**CONTEXT_ONLY, "context_tokens": 2500}
    for stated in ("prompt_tokens", "output_tokens"):
        other = {"prompt_tokens": "output_tokens", "output_tokens": "prompt_tokens"}[stated]
        two = {**given, stated: WORK[stated]}
        assert value(other, two) == WORK[other]
        for find in ("tpot", "ttft", "e2e_latency", "memory_used_per_gpu"):
            assert near(value(find, two), model_of(EIGHT)[find])


def test_three_that_do_not_add_up_contradict() -> None:
    assert ask("tpot", {**EIGHT, "context_tokens": 2600})["status"] == "contradiction"


def test_a_prompt_alone_has_no_context_of_its_own() -> None:
    """Rule (3) is for questions that state neither; here the output is lacking."""
    given = {**CONTEXT_ONLY, "prompt_tokens": 2000}
    answer = ask("tpot", given)
    assert answer["status"] == "missing"
    alternatives = {name for names in answer["missing"] for name in names}
    assert alternatives & {"output_tokens", "context_tokens"}
    assert near(value("ttft", given), model_of(EIGHT)["ttft"])


def test_the_largest_context_under_a_ttft_limit() -> None:
    """The longest prompt that fits: the limit is not dropped because no prompt is stated."""
    given = {**CONTEXT_ONLY, "ttft": "<= 0.5"}
    answer = ask("max context_tokens", given)
    assert answer["status"] == "ok", answer
    assert answer["binding"] == ["ttft"]
    context = answer["value"]
    assert answer["assumed"]["prompt_tokens"] == context

    def ttft(tokens: int) -> Any:
        return model_of({**CONTEXT_ONLY, "context_tokens": tokens}, "ttft")["ttft"]

    assert ttft(context) <= 0.5 < ttft(context + 1)


# -- limits


def test_strict_and_two_sided_limits() -> None:
    def tpot(tokens: int) -> Any:
        return model_of({**CONTEXT_ONLY, "context_tokens": tokens})["tpot"]

    edge, bottom = tpot(3000), tpot(1000)
    for sign, largest in (("<=", 3000), ("<", 2999)):
        answer = ask("max context_tokens", {**CONTEXT_ONLY, "tpot": f"{sign} {digits(edge)}"})
        assert answer["value"] == largest, sign
        assert answer["binding"] == ["tpot"]
    for sign, smallest in ((">=", 1000), (">", 1001)):
        given = {**CONTEXT_ONLY, "tpot": [f"<= {digits(edge)}", f"{sign} {digits(bottom)}"]}
        found = answers([(f"{sense} context_tokens", given) for sense in ("min", "max")])
        assert [a["value"] for a in found] == [smallest, 3000]
    two = Session("tpot <= 30 ms").max("context", {**CONTEXT_ONLY, "tpot": ">= 25 ms"})
    assert two.binding == ("tpot",)


def digits(number: Fraction) -> str:
    """The number in decimal; those above are finite ones."""
    text = f"{float(number):.17g}"
    whole = Fraction(text)
    assert near(whole, number, 1e-15)
    return text


def test_three_limits_on_one_quantity_all_hold() -> None:
    """A limit must not take the place of another on the same quantity."""
    limits = ["<= 0.016", ">= 0.0125", "<= 0.0155"]
    for order in (limits, limits[::-1], [limits[1], limits[0], limits[2]]):
        given = {**CONTEXT_ONLY, "tpot": order}
        low, high = answers([(f"{s} context_tokens", given) for s in ("min", "max")])
        assert (low["status"], high["status"]) == ("ok", "ok"), (low, high)
        for context, inside in (
            (low["value"], True), (low["value"] - 1, False),
            (high["value"], True), (high["value"] + 1, False),
        ):  # fmt: skip
            tpot = model_of({**CONTEXT_ONLY, "context_tokens": context})["tpot"]
            assert (0.0125 <= tpot <= 0.0155) == inside, (order, context, float(tpot))


def test_limits_that_cross_are_infeasible() -> None:
    answer = ask("max context_tokens", {**CONTEXT_ONLY, "tpot": [">= 0.03", "<= 0.02"]})
    assert answer["status"] == "infeasible"
    assert {row["name"] for row in answer["conflict"]} == {"tpot"}


def test_a_limit_beside_a_value_is_checked() -> None:
    answer = ask("tpot", {**EIGHT, "ttft": "<= 0.01"})
    assert answer["status"] == "ok"
    broken = [row for row in answer["constraints"] if not row["holds"]]
    assert [row["name"] for row in broken] == ["ttft"]
    assert broken[0]["limit"] == 0.01
    assert near(broken[0]["value"], model_of(EIGHT)["ttft"])


@pytest.mark.parametrize("name", ["mbu", "mfu", "gpu_memory_utilization", "target_utilization"])
def test_the_end_of_a_domain_binds(name: str) -> None:
    answer = ask(f"max {name}", EIGHT)
    assert (answer["status"], answer["value"], answer["binding"]) == ("ok", 1, ["domain"])


def test_the_ends_of_other_domains() -> None:
    assert ask("min link_latency", {**EIGHT, "tpot": "<= 0.05"})["value"] == 0
    assert ask("min link_latency", {**EIGHT, "tpot": "<= 0.05"})["binding"] == ["domain"]
    few = ask("min context_tokens", {**CONTEXT_ONLY, "tpot": "<= 0.05"})
    assert (few["value"], few["binding"]) == (0, ["domain"])
    one = ask("min output_tokens", {**without(EIGHT, "output_tokens"), "e2e_latency": "<= 5"})
    assert (one["value"], one["binding"]) == (1, ["domain"])
    first = ask("min batch", {**without(EIGHT, "batch"), "tpot": "<= 0.05"})
    assert (first["value"], first["binding"]) == (1, ["domain"])


def test_nothing_limits_the_batch_but_memory() -> None:
    """No upper limit on a batch unless max_batch is stated: without a memory there is none."""
    given = without(EIGHT, "batch", "vram_bytes")
    assert ask("max batch", given)["status"] == "unbounded"
    assert ask("max batch", {**given, "max_batch": 7})["value"] == 7
    assert ask("max batch", {**given, "max_batch": 7})["binding"] == ["batch_limit"]


@pytest.mark.parametrize("sense", ["max", "min"])
@pytest.mark.parametrize("name", ["batch", "mbu", "link_bandwidth"])
def test_a_stated_result_leaves_its_value_for_max_and_min(sense: str, name: str) -> None:
    """A stated result is an equation, so max and min are its value, under every constraint."""
    facts = {**ALL, "batch": 16, "max_batch": 16}
    given = {**without(facts, name), "tpot": model_of(facts)["tpot"]}
    answer = ask(f"{sense} {name}", given)
    assert (answer["status"], near(answer["value"], facts[name])) == ("ok", True), answer


@pytest.mark.parametrize(
    ("limit", "broken"),
    [
        ({"max_batch": 15}, "batch_limit"),
        ({"ttft": "<= 0.001"}, "ttft"),
        ({"vram_bytes": 20 * 10**9}, "memory"),
    ],
)
def test_a_stated_result_against_a_constraint_is_infeasible(
    limit: dict[str, Any], broken: str
) -> None:
    facts = {**ALL, "batch": 16}
    given = {**without(facts, "batch"), "tpot": model_of(facts)["tpot"], **limit}
    answer = ask("max batch", given)
    assert answer["status"] == "infeasible", answer
    assert [row["name"] for row in answer["conflict"]] == ["tpot", broken]


@pytest.mark.parametrize("steps", [1, 3, 4])
@pytest.mark.parametrize("size", [1, 2, 512, 999])
@pytest.mark.parametrize("most", [None, 1, 3, 1700])
def test_whole_steps_leave_a_largest_and_a_smallest(
    steps: int, size: int, most: int | None
) -> None:
    """Against every prompt and every chunk that takes this many steps."""
    limit = {} if most is None else {"prompt_tokens": f"<= {most}"}
    fits = [n for n in range(1, 4000) if math.ceil(n / size) == steps and (not most or n <= most)]
    given = {"prefill_iterations": steps, "chunk_tokens": size, **limit}
    for sense, value in (("max", max(fits, default=None)), ("min", min(fits, default=None))):
        answer = ask(f"{sense} prompt_tokens", given)
        assert (answer["status"], answer.get("value")) == (
            "ok" if fits else "infeasible",
            value,
        ), answer


def test_a_range_of_a_stated_result_lies_within_the_limits() -> None:
    given = {"replicas": 4, "replica_request_rate": 3, "target_utilization": Fraction("0.7")}
    held = ask("arrival_rate", {**given, "arrival_rate": "<= 7"})
    assert near(held["low"], 6.3)
    assert near(held["high"], 7)
    free = ask("arrival_rate", given)
    assert near(free["high"], 8.4)
    clash = ask("max arrival_rate", {**given, "arrival_rate": "<= 5"})
    assert clash["status"] == "infeasible"
    assert {row["name"] for row in clash["conflict"]} == {"replicas", "arrival_rate"}


@pytest.mark.parametrize("pp", [2, 4])
@pytest.mark.parametrize("most", range(1, 10))
def test_the_largest_batch_is_what_the_standing_constraints_allow(pp: int, most: int) -> None:
    """Not only multiples: a batch no larger than the stages need not divide evenly over them."""
    allowed = [n for n in range(1, most + 1) if n <= pp or n % pp == 0]
    given = {**without(EIGHT, "batch"), "vram_bytes": 10**12, "tp": 1, "pp": pp}
    answer = ask("max batch", {**given, "max_batch": most})
    assert (answer["status"], answer["value"]) == ("ok", max(allowed)), answer
    assert answer["binding"] == ["batch_limit"]


@pytest.mark.parametrize(
    "limits",
    [
        ("prompt_tokens >= 10.2", "prompt_tokens <= 10.8"),
        ("prompt_tokens >= 20", "prompt_tokens <= 10"),
    ],
)
def test_two_limits_that_leave_nothing_are_both_named(limits: tuple[str, ...]) -> None:
    reply = Session().max("prompt_tokens", given=limits)
    assert reply.status == "infeasible"
    assert {row["text"] for row in reply.to_dict()["conflict"]} == set(limits)


def test_a_limit_on_the_very_quantity_that_is_stated() -> None:
    facts = {"tpot": Fraction("0.012"), "output_tokens": 101}
    stated = {**facts, "e2e_latency": 3}
    for find in ("ttft", "max ttft"):
        reply = Session().ask(
            f"{find} given tpot = 12 ms, output_tokens = 101, e2e_latency = 3 s, e2e_latency <= 4 s"
        )
        assert near(reply.value, stated["e2e_latency"] - 100 * stated["tpot"])
        assert "output_tokens" not in reply.to_dict().get("unused", ())
    reply = Session().ask(
        "max ttft given tpot = 12 ms, output_tokens = 101, e2e_latency = 3 s, e2e_latency <= 2 s"
    )
    assert reply.status == "infeasible"


def test_the_largest_of_a_count_is_never_a_fraction() -> None:
    facts = {**EIGHT, "batch": 16}
    between = (model_of(facts)["tpot"] + model_of({**facts, "batch": 17})["tpot"]) / 2
    answer = ask("max batch", {**without(EIGHT, "batch"), "tpot": between})
    assert answer["status"] == "infeasible"
    assert [row["name"] for row in answer["conflict"]] == ["tpot"]
    inverse = ask("batch", {**without(EIGHT, "batch"), "tpot": between})
    assert 16 < inverse["value"] < 17
    assert any("not a whole number" in note for note in inverse["notes"])


@pytest.mark.parametrize("gpus", [1, 2, 6, 8])
def test_what_is_asked_is_assumed_as_beside_other_questions(gpus: int) -> None:
    """The tp of N GPUs, by itself and in a calculation, is the one behind every other answer."""
    facts = {**{n: v for n, v in EIGHT.items() if n not in ("tp", "pp")}, "available_gpus": gpus}
    facts = {name: value for name, value in facts.items() if name not in ("dp", "ep")}
    expected = largest_tp(gpus, oracle_facts(facts))
    assert ask("tp", facts)["value"] == expected
    ttft = ask("ttft", facts)
    assert ttft["assumed"]["tp"] == expected
    stated = ", ".join(f"{name} = {value}" for name, value in facts.items())
    _, product = Conversation().say(f"tp * ttft given {stated}")
    assert product.value == pytest.approx(expected * ttft["value"])
