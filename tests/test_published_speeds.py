"""Every public case of measured speed: predicted within the interval that is told, or told why not.

A case of `cases` has a steady number of requests in flight; one of `bursts` submitted all at once.
"""

from __future__ import annotations

import json
import statistics
from functools import cache
from pathlib import Path
from typing import Any

from derive import Session

PUBLISHED = json.loads((Path(__file__).parent / "data_speed.json").read_text(encoding="utf-8"))
# A rate is the reciprocal of a time, and so is the interval around it.
RATES = ("burst_token_rate",)
OF_BURSTS = ("burst_tpot", "burst_token_rate", "burst_duration")


def of_tpot(notes: list[str]) -> tuple[float, float]:
    """Between what multiples of the predicted TPOT 8 of 10 measurements lay."""
    note = next(n for n in notes if "measured tpot" in n)
    low, high = (float(word) for word in note.split() if word[0].isdigit() and "." in word)
    return low, high


def interval_of(case: dict[str, Any]) -> tuple[float, float]:
    """Between what times, in ms, the shipped profile says that 8 of 10 measurements lie."""
    engine = f"/{case['engine']}" if case["engine"] in ("vllm", "sglang", "trtllm") else ""
    names = ("model", "gpu", "weight_dtype", "tp", "pp", "batch", "prompt", "output")
    facts = {name: case[name] for name in names if name in case} | case.get("facts", {})
    answer = Session(profile=f"measured{engine}", **facts).ask("tpot")
    low, high = of_tpot(answer.to_dict()["notes"])
    return float(answer.value) * 1000 * low, float(answer.value) * 1000 * high


def interval_of_burst(case: dict[str, Any], find: str) -> tuple[float, float]:
    """The range that is answered, from the profile's low end of its low to its high end's high."""
    named = {name: case[name] for name in ("model", "gpu", "weight_dtype")}
    session = Session(profile=f"measured/{case['engine']}", kv_dtype="bf16", **named)
    answer = session.ask(f"{find} given {spelt(case['facts'])}").to_dict()
    assert answer["status"] == "ok", answer
    assert not [row["name"] for row in answer["constraints"] if not row["holds"]]
    low, high = of_tpot(answer["notes"])
    if find in RATES:
        low, high = 1 / high, 1 / low
    return answer["low"] * low, answer["high"] * high


def spelt(facts: dict[str, Any]) -> str:
    """What a log printed of its cache is taken for what the memory would leave."""
    words = {"kv_cache_tokens": ":="}
    return ", ".join(f"{name} {words.get(name, '=')} {value}" for name, value in facts.items())


@cache
def bursts() -> dict[str, dict[str, tuple[float, float, float]]]:
    """What was measured of each burst, and the interval: (low, measured, high)."""
    found: dict[str, dict[str, tuple[float, float, float]]] = {}
    for case in PUBLISHED["bursts"]:
        intervals = {find: interval_of_burst(case, find) for find in asked(case["measured"])}
        if "burst_duration" in intervals:
            low, high = intervals["burst_duration"]
            tokens = case["facts"]["burst_requests"] * case["facts"]["output"]
            intervals["burst_token_rate"] = (tokens / high, tokens / low)
        found[case["id"]] = {
            find: (intervals[find][0], measured, intervals[find][1])
            for find, measured in case["measured"].items()
        }
    return found


def asked(measured: dict[str, float]) -> list[str]:
    """A duration says the throughput as well."""
    double = "burst_token_rate" if "burst_duration" in measured else ""
    return [find for find in measured if find != double]


def test_eight_of_ten_published_speeds_lie_where_the_answer_says() -> None:
    """A case is within the interval where each of its measurements is."""
    within: dict[str, bool] = {}
    for case in PUBLISHED["cases"]:
        low, high = interval_of(case)
        within[case["id"]] = within.get(case["id"], True) and low <= case["tpot_ms"] <= high
    steady = len(within)
    assert sum(within.values()) >= 0.8 * steady, within
    for name, rows in bursts().items():
        within[name] = all(low <= measured <= high for low, measured, high in rows.values())
    assert len(within) == steady + len(PUBLISHED["bursts"]) >= 40
    assert sum(within.values()) >= 0.8 * len(within), within


def test_eight_of_ten_durations_and_throughputs_of_bursts_lie_where_the_answer_says() -> None:
    rows = [
        row for found in bursts().values() for name, row in found.items() if name != "burst_tpot"
    ]
    assert len(rows) >= 34
    assert sum(low <= measured <= high for low, measured, high in rows) >= 0.8 * len(rows)


def test_the_intervals_of_bursts_say_something() -> None:
    """Half of the intervals are no wider than four times, whatever is asked."""
    for find in OF_BURSTS:
        wide = [rows[find][2] / rows[find][0] for rows in bursts().values() if find in rows]
        assert statistics.median(wide) < 4, find


def test_what_is_not_predicted_has_a_reason() -> None:
    """All 59 public cases of speed are one or the other."""
    rows = (*PUBLISHED["cases"], *PUBLISHED["bursts"])
    named = {case["id"] for case in rows}
    assert not named & PUBLISHED["outside"].keys()
    assert len(named | PUBLISHED["outside"].keys()) == 59
    assert all(PUBLISHED["outside"].values())


def test_what_contradicts_itself_does() -> None:
    """Throughput times TPOT of d42 are 79 requests in flight, each with its prompt at least."""
    answer = Session(
        model="deepseek-v3.2", gpu="8 x h20-96gb", weight_dtype="fp8", kv_dtype="bf16", tp=8,
        prompt=2048, output=1, batch=79, runtime_overhead=0,
    ).ask("memory_used_per_gpu")  # fmt: skip
    checks = {row["name"]: row["holds"] for row in answer.to_dict()["constraints"]}
    assert checks["memory"] is False
