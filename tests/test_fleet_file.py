"""A fleet's file: read strictly, answered as a card and as JSON, and never a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from derive.fleet_file import fleet_of
from derive.session import Session
from derive.toml_file import load_toml
from solvers.fleet_candidates import candidates_of, exact_config
from solvers.fleet_demand import Config, Refused, scenario_of
from solvers.solve import Request, solve

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "fleet.toml"
NODE = '[[node]]\nname = "a"\ngpu = "h100-sxm"\nnodes = 2\nprice_per_gpu_hour = 2.5\n'
WORK = (
    '[[workload]]\nname = "w"\nmodel = "llama-3.1-8b"\narrival_rate = "4/s"\n'
    'prompt = 1000\noutput = 200\ntpot_slo = "50 ms"\n'
)
Here = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ran(here: Here, tmp_path: Path) -> Callable[..., tuple[int, str, str]]:
    def run(text: str, *options: str) -> tuple[int, str, str]:
        path = tmp_path / "fleet.toml"
        path.write_text(text, encoding="utf-8")
        return here("plan", str(path), *options)

    return run


# What is changed in a file that is right, and what the message must name.
WRONG = {
    "no node": (WORK, "[[node]]"),
    "no workload": (NODE, "[[workload]]"),
    "no toml": ("[[node", "no TOML file"),
    "deep": (f"a = {'[' * 3000}{']' * 3000}", "no TOML file"),
    "unknown key of the file": ("budget = 3\n" + NODE + WORK, "'budget'"),
    "unknown key of a node": (NODE + "price = 3\n" + WORK, "'price'"),
    "node is no table": ("node = 3\n" + WORK, "'node'"),
    "no price": (NODE.replace("price_per_gpu_hour = 2.5\n", "") + WORK, "price_per_gpu_hour"),
    "negative price": (NODE.replace("2.5", "-2.5") + WORK, "below 0"),
    "infinite price": (NODE.replace("2.5", "inf") + WORK, "price_per_gpu_hour"),
    "endless price": (NODE.replace("2.5", "1e9999999999") + WORK, "exponent"),
    "price in another unit": (NODE.replace("2.5", '"3 ms"') + WORK, "price_per_gpu_hour"),
    "endless nodes": (NODE.replace("nodes = 2", f"nodes = {'9' * 40}") + WORK, "nodes"),
    "half a node": (NODE.replace("nodes = 2", "nodes = 2.5") + WORK, "nodes"),
    "unknown GPU": (NODE.replace("h100-sxm", "h100x") + WORK, "h100x"),
    "no MIG": (NODE.replace("h100-sxm", "l40s") + "mig = true\n" + WORK, "no MIG"),
    "unknown profile": (NODE + 'mig = ["9g.1gb"]\n' + WORK, "9g.1gb"),
    "two nodes of a name": (NODE + NODE + WORK, "'a'"),
    "two workloads of a name": (NODE + WORK + WORK, "'w'"),
    "a name that moves the cursor": (
        NODE + WORK.replace('name = "w"', 'name = "\\u001b[2J"'),
        "is no name",
    ),
    "no traffic": (NODE + WORK.replace('"4/s"', "0"), "arrival_rate"),
    "negative traffic": (NODE + WORK.replace('"4/s"', '"-4/s"'), "arrival_rate"),
    "no number": (NODE + WORK.replace('"4/s"', "nan"), "arrival_rate"),
    "traffic not said": (NODE + WORK.replace('arrival_rate = "4/s"\n', ""), "arrival_rate"),
    "output not said": (NODE + WORK.replace("output = 200\n", ""), "output_tokens"),
    "unknown model": (NODE + WORK.replace("llama-3.1-8b", "lama-9"), "lama-9"),
    "unknown quantity": (NODE + WORK + 'tpott = "3 ms"\n', "tpott"),
    "unknown unit": (NODE + WORK.replace("50 ms", "50 furlongs"), "tpot_slo"),
    "said twice": (NODE + WORK + "prompt_tokens = 3\n", "prompt_tokens"),
    "outside its domain": (NODE + WORK + "mbu = 2\n", "mbu"),
    "a range": (NODE + WORK + 'mbu = "0.6..0.8"\n', "mbu"),
    "a table": (NODE + WORK + "mbu = {a = 1}\n", "mbu"),
    "a batch": (NODE + WORK + "batch = 3\n", "max_batch"),
    "a GPU": (NODE + WORK + 'gpu = "h100-sxm"\n', "[[node]]"),
    "a question": (NODE + WORK + 'given = "max batch"\n', "given"),
    "tp of nothing": (NODE + WORK + "tp = [0]\n", "tp"),
    "no tp": (NODE + WORK + "tp = []\n", "tp"),
    "no formats": (NODE + WORK + "weight_dtype = []\n", "weight_dtype"),
    "unknown format": (NODE + WORK + 'weight_dtype = ["fp9"]\n', "fp9"),
    "a node that is not there": (NODE + WORK + 'on = ["b"]\n', "'b'"),
    "contradiction": (NODE + WORK + "context_tokens = 5\n", "context_tokens"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_named(ran: Here, name: str) -> None:
    text, wanted = WRONG[name]
    code, out, err = ran(text)
    assert (code, out) == (2, "")
    assert wanted in err
    assert err.startswith("error[")
    assert "error[bug]" not in err
    assert "Traceback" not in err


def test_a_file_that_is_not_there(here: Here) -> None:
    code, out, err = here("plan", "no/such/file.toml")
    assert (code, out) == (2, "")
    assert "no/such/file.toml" in err


IMPOSSIBLE = {
    "a limit below what a step takes": (WORK.replace("50 ms", "1 ms"), "tpot_level"),
    "a model that fits nowhere": (WORK.replace("llama-3.1-8b", "deepseek-v3"), "memory"),
    "a TP that divides nothing": (WORK + "tp = [5]\n", "heads_divide"),
    "a TP beyond the node": (WORK + "tp = [16]\n", "no node"),
    "endless traffic": (WORK.replace('"4/s"', "1e9"), "2 nodes of a"),
    "a limit of its own": (WORK + 'n_gpus = "<= 0"\n', "n_gpus"),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_cannot_be_has_its_reason(ran: Here, name: str) -> None:
    work, wanted = IMPOSSIBLE[name]
    code, out, err = ran(NODE + work)
    assert (code, err) == (1, "")
    assert wanted in out


def test_a_budget_is_met_exactly_and_not_below(ran: Here) -> None:
    assert ran('max_cost_per_hour = "$2.50/h"\n' + NODE + WORK)[0] == 0
    code, out, _ = ran("max_cost_per_hour = 2.49\n" + NODE + WORK)
    assert code == 1
    assert "max_cost_per_hour $2.50/h" in out


def test_the_figures_are_those_of_a_question(ran: Here) -> None:
    code, out, _ = ran(NODE + WORK, "--json")
    found = json.loads(out)
    assert (code, found["status"], found["proved"]) == (0, "ok", True)
    (row,) = found["workloads"]
    facts = "model llama-3.1-8b, gpu h100-sxm, prompt = 1000, output = 200, tpot_slo = 50 ms"
    asked = Session(f"{facts}, tp = {row['tp']}, arrival_rate = 4/s")
    assert asked.max("batch").value == row["batch"]
    stated = asked.given(f"batch = {row['batch']}")
    for name in ("replicas", "tpot", "ttft", "replica_request_rate"):
        assert stated.ask(name).value == pytest.approx(row[name], rel=1e-12)
    assert found["value"] == 2.5 * row["tp"] * row["replicas"]


def test_candidates_by_numpy_are_those_of_exact_arithmetic() -> None:
    """Every configuration of several kinds of models, whole and cut, with links and without."""
    data = dict(load_toml(str(EXAMPLE), str))
    data["workload"] = [r for r in data["workload"] if r["name"] in ("search", "routing")]
    file = fleet_of(data)
    for demand in file.demands:
        found = candidates_of(demand, file.pools)
        for option in found.options[::3]:
            exact = exact_config(demand, option.about)
            assert isinstance(exact, Config)
            assert (exact.batch, exact.replicas) == (option.about.batch, option.replicas)
            assert float(exact.tpot) == pytest.approx(option.about.tpot, rel=1e-9)
        for row in found.refused[::3]:
            assert isinstance(exact_config(demand, row.config), Refused)


def test_a_batch_is_the_largest_that_breaks_nothing() -> None:
    file = fleet_of(load_toml(str(EXAMPLE), str))
    demand = next(d for d in file.demands if d.name == "summaries")
    for option in candidates_of(demand, file.pools).options[::5]:
        for batch, holds in ((option.about.batch, True), (option.about.batch + 1, False)):
            stated = scenario_of(demand, option.about).with_value("batch", Fraction(batch))
            checks = solve(Request("tpot", stated)).evidence.checks
            assert all(check.holds for check in checks) == holds


def test_the_example(here: Here, golden: Callable[[str, str], None]) -> None:
    code, out, err = here("plan", str(EXAMPLE))
    assert (code, err) == (0, "")
    golden("cards/fleet.txt", f"$ derive plan examples/fleet.toml\n{out}")


def test_both_engines_give_the_example_the_same_cost(here: Here) -> None:
    found: dict[str, Any] = {}
    for engine in ("z3", "highs"):
        found[engine] = json.loads(here("plan", str(EXAMPLE), "--json", "--solver", engine)[1])
    assert found["z3"]["value"] == found["highs"]["value"]
    assert found["z3"]["proved"]
    assert any(node["mig"] for node in found["z3"]["nodes"])


def test_a_fleet_that_does_not_fit(ran: Here, golden: Callable[[str, str], None]) -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    code, out, _ = ran(text.replace('"h200-sxm"\nnodes = 2', '"h200-sxm"\nnodes = 1'))
    assert code == 1
    golden("cards/fleet-clash.txt", f"$ derive plan FILE\n{out}")
