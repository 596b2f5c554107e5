"""Measurements in, constants and errors out: against rows made from known constants."""

from __future__ import annotations

import csv
import json
import math
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy
import pytest

from derive import Session
from derive.calibrate import calibrate
from derive.calibration import rows_of
from derive.cli import main
from derive.measurements import read_measurements
from derive.samples import Sample, sample_of
from derive.suspects import suspects
from formulas.errors import Problem
from formulas.profiles import OF_QUESTIONS, find_profile
from solvers.calibrate import START, Constants, from_free, to_free

TRUE = {
    **{name: value for name, (value, _) in START.items()},
    "mbu": 0.7, "mfu": 0.45, "layer_overhead": 30e-6, "waiting_share": 0.15, "step_overhead": 2e-3,
}  # fmt: skip
HEADER = (
    "model", "gpu", "engine", "engine_version", "precision", "isl", "osl", "concurrency", "tp",
    "pp", "dp", "moe_tp", "moe_ep", "ttft_ms", "tpot_ms",
)  # fmt: skip
DENSE, EXPERTS = "meta-llama/Llama-3.1-8B-Instruct", "openai/gpt-oss-120b"


@pytest.fixture(autouse=True)
def _own_profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DERIVE_PROFILES", str(tmp_path / "profiles"))


def write(path: Path, rows: list[dict[str, Any]], header: tuple[str, ...] = HEADER) -> str:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, header, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def grid(
    models: tuple[str, ...] = (DENSE, EXPERTS), tps: tuple[int, ...] = (1, 2, 4, 8)
) -> list[dict[str, Any]]:
    """Rows without times."""
    return [
        {"model": model, "gpu": gpu, "engine": "vllm", "engine_version": "1", "pp": 1, "dp": 1,
         "precision": "fp8" if model == DENSE else "fp4", "isl": isl, "osl": osl, "tp": tp,
         "concurrency": load, "moe_tp": tp, "moe_ep": 1}
        for model in models for gpu in ("h100_sxm", "h200_sxm") for tp in tps
        for isl, osl in ((512, 256), (4096, 1024)) for load in (1, 8, 64)
    ]  # fmt: skip


def timed(
    tmp_path: Path, rows: list[dict[str, Any]], constants: dict[str, float]
) -> list[dict[str, Any]]:
    """The rows with the times that the model gives with these constants."""
    made = rows_of(read_measurements(write(tmp_path / "untimed.csv", rows)))
    tpot, ttft = made.table.predicted(Constants(constants)) * 1000
    return [
        {**row, "tpot_ms": f"{a:.6g}", "ttft_ms": f"{b:.6g}"}
        for row, a, b in zip(rows, tpot.tolist(), ttft.tolist(), strict=True)
    ]


# -- the kernels are the model that questions are answered from


@pytest.mark.parametrize(
    ("model", "gpu", "precision"),
    [("llama-3.1-70b", "h100-sxm-80gb", "fp8"), ("gpt-oss-120b", "h200-sxm-141gb", "mxfp4"),
     ("deepseek-v3", "h200-sxm-141gb", "fp8"), ("qwen3-235b-a22b", "b200", "fp8")],
)  # fmt: skip
def test_a_prediction_is_the_answer_to_the_question(
    tmp_path: Path, model: str, gpu: str, precision: str
) -> None:
    row = {"model": model, "gpu": gpu, "engine": "", "precision": precision, "isl": 2000,
           "osl": 500, "concurrency": 16, "tp": 8, "moe_tp": 8}  # fmt: skip
    made = rows_of(read_measurements(write(tmp_path / "one.csv", [row])))
    tpot, ttft = made.table.predicted(Constants(TRUE))[:, 0]
    session = Session(
        model=model, gpu=f"8 x {gpu}", weight_dtype=precision, kv_dtype="bf16", tp=8,
        prompt=2000, output=500, batch=16,
        **{name: TRUE[name] for name in (*OF_QUESTIONS, "prefix_hit_rate")},
    )  # fmt: skip
    assert float(session.ask("tpot").value) == pytest.approx(tpot, rel=1e-9)
    assert float(session.ask("ttft").value) == pytest.approx(ttft, rel=1e-9)


@pytest.mark.parametrize(
    "find", ["step_time", "tpot", "prefill_time", "ttft", "replica_request_rate"]
)
@pytest.mark.parametrize("model", ["llama-3.1-70b", "deepseek-v3", "mixtral-8x7b"])
def test_neutral_constants_change_nothing(find: str, model: str) -> None:
    plain = Session(model=model, gpu="8 x h200-sxm", tp=8, prompt=3000, output=400, batch=24)
    neutral = plain.given("layer_overhead = 0 s, link_share = 1, waiting_share = 0")
    assert neutral.ask(find).value == plain.ask(find).value


# -- the fit


def test_known_constants_are_found_again(tmp_path: Path) -> None:
    rows = timed(tmp_path, grid(), TRUE)
    fit, test = rows[::2], rows[1::2]
    found = calibrate(write(tmp_path / "fit.csv", fit), test=write(tmp_path / "test.csv", test))
    assert found["tpot_mape_dense"] < 0.02
    assert found["tpot_mape_moe"] < 0.02
    assert found["ttft_mape"] < 0.05
    assert found["rows"] == found["predicted"] == len(test)


def test_noise_is_not_fitted(tmp_path: Path) -> None:
    """Errors on rows left out are about the noise, and a few wild rows do not move them."""
    noise = numpy.random.default_rng(7)
    rows = timed(tmp_path, grid((DENSE,)), TRUE)
    for index, row in enumerate(rows):
        wild = 5.0 if index % 16 == 3 else 1.0
        row["tpot_ms"] = float(row["tpot_ms"]) * math.exp(noise.normal(0, 0.05)) * wild
    clean = timed(tmp_path, grid((DENSE,)), TRUE)
    found = calibrate(write(tmp_path / "fit.csv", rows), test=write(tmp_path / "test.csv", clean))
    assert found["tpot_mape_dense"] < 0.06


def test_the_report_and_the_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = timed(tmp_path, grid((DENSE,), (1, 4)), TRUE)
    path = write(tmp_path / "mine.csv", rows)
    assert main(["calibrate", path, "--name", "my-h100s", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["profile"] == "my-h100s"
    assert Path(found["path"]).parent == tmp_path / "profiles"
    assert {"tpot_mape_dense", "ttft_mape", "by_model", "by_gpu", "by_engine"} <= set(
        found["left_out"]
    )
    facts = dict(gpu="h100-sxm", model="llama-3.1-8b", weight_dtype="fp8", tp=1, prompt=512,
                 output=256, batch=8)  # fmt: skip
    answer = Session(profile="my-h100s", **facts).ask("tpot")
    measured = next(
        float(r["tpot_ms"]) for r in rows
        if (r["gpu"], r["tp"], r["isl"], r["concurrency"]) == ("h100_sxm", 1, 512, 8)
    )  # fmt: skip
    assert float(answer.value) * 1000 == pytest.approx(measured, rel=0.05)
    assert any("fitted to" in note for note in answer.to_dict()["notes"])
    assert main(["calibrate", path, "--name", "my-h100s"]) == 0
    assert "error on rows left out" in capsys.readouterr().out


# -- predictions


def test_one_line_for_each_row_in_its_order(tmp_path: Path) -> None:
    fit = write(tmp_path / "fit.csv", timed(tmp_path, grid((DENSE,), (1, 2)), TRUE))
    rows = timed(tmp_path, grid((DENSE,), (1,)), TRUE)[:4]
    rows[1] = {**rows[1], "model": "nobody/knows-this"}
    rows[2] = {**rows[2], "tp": 64}
    rows[3] = {**rows[3], "concurrency": ""}
    out = tmp_path / "out.csv"
    found = calibrate(fit, test=write(tmp_path / "test.csv", rows), predictions=str(out))
    with out.open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [line["model"] for line in lines] == [row["model"] for row in rows]
    assert float(lines[0]["tpot_ms_low"]) <= float(lines[0]["tpot_ms_predicted"])
    assert float(lines[0]["ttft_ms_predicted"]) > 0
    reasons = [line["reason"] for line in lines]
    assert reasons[0] == ""
    assert "knows-this" in reasons[1]
    assert "outside the model" in reasons[2]
    assert "concurrency" in reasons[3]
    assert all(line["tpot_ms_predicted"] == "" for line in lines[1:])
    assert (found["rows"], found["predicted"]) == (4, 1)


def test_a_test_file_needs_no_times(tmp_path: Path) -> None:
    fit = write(tmp_path / "fit.csv", timed(tmp_path, grid((DENSE,), (1, 2)), TRUE))
    bare = write(tmp_path / "bare.csv", grid((DENSE,), (1,)), HEADER[:-2])
    found = calibrate(fit, test=bare, predictions=str(tmp_path / "out.csv"))
    assert found["tpot_mape_dense"] is None
    assert found["predicted"] == found["rows"]


# -- reading


def sample(**cells: Any) -> Sample | str:
    row = {"model": DENSE, "gpu": "h100_sxm", "engine": "vllm", "precision": "fp8", "isl": 1024,
           "osl": 128, "concurrency": 4, "tp": 1, "ttft_ms": 50, "tpot_ms": 8, **cells}  # fmt: skip
    path = Path(os.environ["DERIVE_PROFILES"]).parent / "row.csv"
    return sample_of(read_measurements(write(path, [row]))[0])


@pytest.mark.parametrize(
    ("name", "model"),
    [("meta-llama/Llama-3.1-70B", "llama-3.1-70b"), ("MiniMaxAI/MiniMax-M2.5", "minimax-m2"),
     ("moonshotai/Kimi-K2.5", "kimi-k2"), ("nvidia/DeepSeek-V3.1-NVFP4", "deepseek-v3"),
     ("zhipuai/GLM-5", "glm-5"), ("nvidia/Llama-3.1-8B-Instruct-FP8", "llama-3.1-8b"),
     ("Qwen/Qwen3-235B-A22B-FP8", "qwen3-235b-a22b"), ("nvidia/DeepSeek-R1-NVFP4", "deepseek-r1")],
)  # fmt: skip
def test_names_of_checkpoints(name: str, model: str) -> None:
    found = sample(model=name, tp=8)
    assert isinstance(found, Sample)
    assert found.model == model


@pytest.mark.parametrize(
    ("cells", "reason"),
    [({"tp": 8, "dp": 2}, "outside the model"), ({"moe_tp": 2, "moe_ep": 4, "tp": 8}, "both ways"),
     ({"model": "x/y"}, "no model"), ({"gpu": "abacus"}, "no GPU"),
     ({"isl": "many"}, "isl = many is no number"), ({"tpot_ms": "-3"}, "tpot_ms = -3 is no time"),
     ({"precision": "fp7"}, "no weight format"), ({"osl": "0"}, "osl = 0"),
     ({"tp": "1e400"}, "tp = 1e400"), ({"isl": ""}, "isl")],
)  # fmt: skip
def test_a_row_that_cannot_be_used_says_why(cells: dict[str, Any], reason: str) -> None:
    found = sample(**cells)
    assert isinstance(found, str)
    assert reason in found


def test_empty_ranks_are_one_and_experts_tell_the_gpus() -> None:
    empty = sample(dp="", moe_tp="", moe_ep="0")
    assert isinstance(empty, Sample)
    assert (empty.varied["dp"], empty.varied["ep"]) == (1, 1)
    ranks = sample(model=EXPERTS, precision="fp4", tp=1, dp="", moe_tp=4, moe_ep=1)
    assert isinstance(ranks, Sample)
    assert ranks.varied["dp"] == 4
    unknown = sample(precision="")
    assert isinstance(unknown, Sample)
    assert unknown.labels["precision"] == "unknown"


@pytest.mark.parametrize(
    ("column", "cell", "seconds"),
    [("tpot_ms", "7.5", 0.0075), ("tpot_s", "0.0075", 0.0075), ("tpot_ms", "7500 us", 0.0075),
     ("tpot", "7.5", 0.0075), ("mean_tpot_ms", "7.5 ms", 0.0075)],
)  # fmt: skip
def test_times_have_their_unit(tmp_path: Path, column: str, cell: str, seconds: float) -> None:
    header = (*HEADER[:-1], column)
    row = {**grid((DENSE,), (1,))[0], "ttft_ms": 10, column: cell}
    (found,) = read_measurements(write(tmp_path / "u.csv", [row], header))
    assert found.tpot == pytest.approx(seconds)


def test_the_report_of_a_serving_benchmark(tmp_path: Path) -> None:
    """The keys that vLLM's benchmark of a server writes."""
    report = {
        "date": "20260101-000000", "endpoint_type": "vllm", "model_id": DENSE, "num_prompts": 100,
        "max_concurrency": 8, "duration": 60.0, "completed": 100, "total_input_tokens": 102400,
        "total_output_tokens": 12800, "mean_ttft_ms": 55.0, "mean_tpot_ms": 9.0, "ttfts": [1, 2],
    }  # fmt: skip
    path = tmp_path / "bench.json"
    path.write_text(json.dumps(report))
    defaults = {"gpu": "h100-sxm", "engine": "vllm", "tp": "2"}
    (found,) = read_measurements(str(path), defaults)
    assert (found.prompt, found.output, found.concurrency) == (1024, 128, 8)
    assert (found.tp, found.gpu, found.ttft) == (2, "h100-sxm", pytest.approx(0.055))
    assert isinstance(sample_of(found), Sample)


@pytest.mark.parametrize(
    "text", ["", "\n\n", "a,b\n1,2\n", "{", "[]", "[1, 2]", "\x00\x01", "model\n" * 3, "{}"]
)
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(Problem):
        calibrate(str(path))


def test_too_little_is_no_fit(tmp_path: Path) -> None:
    rows = timed(tmp_path, grid((DENSE,), (1,)), TRUE)[:2]
    with pytest.raises(Problem, match="at least 3"):
        calibrate(write(tmp_path / "few.csv", rows))


# -- what cannot have been measured


def test_faster_than_the_data_sheet_is_suspect() -> None:
    """8.03 GB at 3.35 TB/s are 2.4 ms, 1024 tokens of 16.1 GFLOP at 1979 TFLOP/s 8.3 ms."""
    fast, early, right = sample(tpot_ms=2.0), sample(ttft_ms=5), sample()
    assert isinstance(fast, Sample)
    assert isinstance(early, Sample)
    assert isinstance(right, Sample)
    found = suspects([fast, early, right])
    assert "tpot 2 ms is less than" in found[0]
    assert "ttft 5 ms is less than" in found[1]
    assert 2 not in found


# -- profiles


def test_the_shipped_profile_is_whole() -> None:
    profile, engine = find_profile("vllm")
    assert (profile.name, engine) == ("measured", "vllm")
    for gpu in ("h100-sxm-80gb", "h200-sxm-141gb", "b200", "a100-sxm-80gb"):
        facts = profile.facts({"engine": "vllm", "gpu": gpu, "precision": "fp8", "model": ""})
        assert set(facts) == set(OF_QUESTIONS)
        assert 0 < facts["mbu"] <= 1
        assert all(isinstance(value, Fraction) and value >= 0 for value in facts.values())
    about = profile.table["profile"]
    assert about["rows"] > 1000
    assert profile.table["errors"]["tpot_mape_dense"] <= Fraction(12, 100)
    assert profile.table["errors"]["tpot_mape_moe"] <= Fraction(20, 100)


def test_a_stated_constant_is_not_the_profiles() -> None:
    session = Session(
        "profile = measured/vllm, mbu = 50%, model llama-3.1-8b, gpu h100-sxm, tp = 1, batch = 4,"
        " prompt = 1k, output = 100"
    )
    assert session.ask("tpot").to_dict()["status"] == "ok"
    steps = {s["relation"] for s in session.ask("tpot").to_dict()["steps"]}
    assert "deployment.step_time.calibrated" in steps


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nosuch", "no profile"),
        ("measured/lmdeploy", "no engine"),
        ("../../etc/passwd", "no profile"),
    ],
)
def test_a_profile_that_is_not_there(name: str, message: str) -> None:
    with pytest.raises(Problem, match=message):
        Session(f"profile = {name}, batch = 1").ask("tpot")


@pytest.mark.parametrize(
    "text",
    ["", "[constants]\nmbu = 2.0\n", "[constants]\nmbu = 'x'\n", "mbu", "constants = 3\n",
     "[constants]\nmbu = 0.5\n[gpu.\"h100-sxm-80gb\"]\nmbu = -1.0\n"],
)  # fmt: skip
def test_a_damaged_profile_is_refused(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "profiles"
    folder.mkdir()
    (folder / "mine.toml").write_text(text)
    with pytest.raises(Problem, match="mine"):
        Session("profile = mine, gpu h100-sxm, batch = 1").ask("tpot")


@pytest.mark.parametrize("name", ["measured", "A B", "../x", "", "x.toml", "a" * 61])
def test_names_that_a_profile_cannot_have(tmp_path: Path, name: str) -> None:
    rows = timed(tmp_path, grid((DENSE,), (1,)), TRUE)
    with pytest.raises(Problem):
        calibrate(write(tmp_path / "m.csv", rows), name=name)


@pytest.mark.parametrize("name", sorted(START))
def test_the_free_scale_has_an_inverse(name: str) -> None:
    value = START[name][0]
    assert from_free(name, to_free(name, value)) == pytest.approx(value)


# -- public measurements

HERE = Path(__file__).parent


def test_no_measured_row_beats_the_data_sheet_but_the_suspects() -> None:
    """A sample of the public file with every row of it that is suspect."""
    made = rows_of(read_measurements(str(HERE / "data_measured.csv")))
    named = {made.samples[place].row.concurrency for place in made.suspect}
    assert len(made.suspect) == 3
    assert named == {64.0, 512.0}
    assert all("full rate" in reason for reason in made.suspect.values())


def test_the_shipped_profile_predicts_the_sample() -> None:
    """It was fitted to these rows among others; the questions' labels leave versions out."""
    made = rows_of(read_measurements(str(HERE / "data_measured.csv")))
    profile, _ = find_profile("measured")
    off = {True: [], False: []}
    for place, row in enumerate(made.samples):
        if not made.fit_to[place] or not row.row.precision:
            continue
        facts = profile.facts(row.labels)
        constants = {**{n: float(v) for n, v in facts.items()}, "prefix_hit_rate": 1e-9}
        one = rows_of([row.row]).table.predicted(Constants(constants))[0, 0]
        off[row.is_dense].append(abs(one / row.row.tpot - 1))
    assert numpy.mean(off[True]) < 0.15
    assert numpy.mean(off[False]) < 0.25
