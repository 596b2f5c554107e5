"""Plans that are wrong, empty, impossible or too large: a clear message or an honest status."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from derive import Session
from derive.plan_command import plan_file
from derive.question import parse
from derive.spelt_line import canonical_line
from formulas.errors import Problem

FACTS = "model llama-3.1-8b, gpu h100-sxm, prompt = 3000, output = 1000, arrival_rate = 3"
COST = f"{FACTS}, price = $2/h"
Here = Callable[..., Any]


def said(line: str) -> Any:
    return Session().say(line)


@pytest.mark.parametrize(("line", "word"), [
    ("plan cost_per_hour over tp", "largest or the smallest"),
    ("plan min cost_per_hour", "'over'"),
    ("plan min cost_per_hour, min cost_per_hour over tp", "twice"),
    ("plan front min tpot over tp", "two or three"),
    ("plan min frobs over tp", "frobs"),
    ("plan min tpot over frobs", "frobs"),
    ("plan min tpot over tp in {}", ""),
    ("plan min tpot over tp top 0", "top"),
    ("plan min tpot over tp top most", "top"),
    ("tpot top all", "top"),
    ("plan min tpot over tp require not pp > 1 and mig", "two ways"),
    ("plan min tpot over tp require", "condition"),
    ("plan min tpot over tp require tp >=", ""),
    ("plan min tpot over tp require (tp >= 2", "')'"),
    ("plan min tpot over tp require weight_dtype > fp8", "'='"),
    ("plan min tpot over tp require weight_dtype = fp9", "fp9"),
    ("plan min tpot over tp require gpu = h999", "h999"),
    ("plan min tpot over tp require batch >= 3 ms", ""),
    ("plan min tpot over tp at h100-sxm -$2/h", ""),
    ("plan min tpot over tp at h100-sxm $2/h, h100-sxm $3/h", "two prices"),
    ("plan min tpot over tp at h100-sxm 3 GB", ""),
    (f"plan min cost_per_hour given {COST}, arrival_rate = 0 over tp, batch", "arrival_rate"),
    (f"plan min cost_per_hour given {COST}, tpot = 20 ms over tp, batch", "follows from"),
    (f"plan min cost_per_hour given {COST}, mbu = 0.7..0.8 over tp, batch", "one value"),
    (f"plan min cost_per_hour given {COST} over mbu, batch", "no list"),
    (f"plan min cost_per_hour given {COST} over mig_profile in {{9g.999gb}}, batch", "9g.999gb"),
])  # fmt: skip
def test_what_cannot_be_read_is_told(line: str, word: str) -> None:
    with pytest.raises(Problem) as caught:
        said(line)
    assert word in str(caught.value)


def test_a_profile_is_none_of_a_gpu_without_mig() -> None:
    line = f"plan min cost_per_hour given {COST} over gpu in {{l40s}}, mig_profile in {{1g.10gb}}"
    with pytest.raises(Problem, match=r"1g\.10gb"):
        said(line + ", batch")


@pytest.mark.parametrize(("line", "names"), [
    (f"plan min cost_per_hour given {COST} over tp in {{3, 5}}, batch", {"heads_divide"}),
    ("plan min tpot given model llama-3.1-405b, gpu l40s, context = 4k over tp in {1, 2}, batch",
     {"memory"}),
    (f"plan min tpot given {FACTS} over tp, batch require tp > 4 and tp < 2",
     {"tp > 4 and tp < 2"}),
    (f"plan min tpot given {FACTS}, tpot <= 1 us over tp, batch", {"tpot"}),
])  # fmt: skip
def test_the_impossible_names_its_reason(line: str, names: set[str]) -> None:
    found = said(line)
    assert found.status == "infeasible"
    assert names <= {name for group in found.data["clashes"] for name in group}


def test_what_lacks_is_asked_for() -> None:
    found = said("plan min cost_per_hour over tp, batch")
    assert found.status == "missing"
    assert found.data["missing"]
    prices = said(f"plan min cost_per_hour given {FACTS} over gpu in {{h100-sxm, l40s}}, tp, batch")
    assert prices.status == "missing"
    assert ["price_per_gpu_hour"] in prices.data["missing"]


def test_a_gpu_without_a_price_is_not_taken_for_free() -> None:
    line = f"plan min cost_per_hour given {FACTS} over gpu in {{h100-sxm, l40s}}, tp, batch"
    assert said(f"{line} at h100-sxm $2/h").status == "missing"


def test_a_space_of_many_points_is_searched_whole() -> None:
    """10^12 points: two kinds of names, three numbers and a batch of a million values."""
    found = said(
        f"plan min cost_per_hour given {COST}, tpot <= 40 ms over tp, pp in 1..16, "
        "gpu_memory_utilization in 0.5..0.95 step 0.005, weight_dtype, kv_dtype, batch"
    )
    assert found.status == "ok"
    assert found.data["proved"]


def test_a_search_that_is_stopped_says_so() -> None:
    from dataclasses import replace

    from derive.conversation import Conversation

    line = (
        f"plan min cost_per_hour given {COST}, tpot <= 40 ms over tp in 1..16, pp in 1..40, "
        "gpu_memory_utilization in 0.5..0.95 step 0.001, mbu in 0.5..0.9 step 0.01, batch"
    )
    _, found = replace(Conversation(), seconds=1.5).say(line)
    assert found.status == "unproved"


@pytest.mark.parametrize(("text", "word"), [
    ('plan = 3\n[over]\ntp = [1]', "text"),
    ('plan = "min tpot"', "over"),
    ('plan = "min tpot"\n[over]\ntp = []', "tp"),
    ('plan = "min tpot"\n[over]\ntp = {a = 1}', "tp"),
    ('plan = "min tpot"\nfrob = 1\n[over]\ntp = [1]', "frob"),
    ('plan = "min tpot"\ngiven = ["tpot"]\n[over]\ntp = [1]', "states nothing"),
    ('plan = "min tpot"\n[over]\ntp = [1]\n[prices]\nl40s = -1', "below 0"),
    ('plan = "min tpot"\n[over]\ntp = [1]\n[prices]\nl40s = "x"', "dollars"),
    ('plan = "min tpot"\n[over]\ntp = [1]\n[prices]\nfrob = 1', "frob"),
    ('plan = "min tpot"\ntop = true\n[over]\ntp = [1]', "top"),
    ("plan = ", "TOML"),
    ("\x00", "TOML"),
])  # fmt: skip
def test_a_file_that_cannot_be_read_is_told(
    here: Here, tmp_path: Path, text: str, word: str
) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text, encoding="utf-8")
    code, out, err = here("plan", str(path))
    assert code == 2
    assert word in err
    assert "Traceback" not in out + err


def test_no_file_is_told(here: Here, tmp_path: Path) -> None:
    code, _, err = here("plan", str(tmp_path / "nothing.toml"))
    assert code == 2
    assert "nothing.toml" in err


def test_all_that_are_equal_by_every_way_of_asking(tmp_path: Path) -> None:
    """A line, its canonical spelling, a file, the option of the command, and Python."""
    line = f"plan max batch given {COST} over tp in {{1, 2}}, batch in 1..8 top all"
    asked = parse(line)
    assert parse(canonical_line(asked)).top == asked.top
    told = said(line).data
    assert told["equal"] == len(told["rows"]) > 1
    text = f'plan = "max batch"\ngiven = ["{COST}"]\n[over]\ntp = [1, 2]\nbatch = "1..8"\n'
    (tmp_path / "some.toml").write_text(text)
    (tmp_path / "all.toml").write_text(f'top = "all"\n{text}')
    over = {"tp": [1, 2], "batch": "1..8"}
    found = [
        plan_file(str(tmp_path / "all.toml"), 60.0),
        plan_file(str(tmp_path / "some.toml"), 60.0, "all"),
        Session(COST).plan(maximize="batch", over=over, top="all"),
    ]
    assert all(outcome.data["rows"] == told["rows"] for outcome in found)
    with pytest.raises(Problem, match=r'from 1 to 1000, or "all"'):
        Session(COST).plan(maximize="batch", over=over, top="best")
