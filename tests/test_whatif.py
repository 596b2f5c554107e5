"""`whatif`: both sides are what asking them separately gives, and the break-even price is one."""

from __future__ import annotations

import pytest

from derive.conversation import Conversation
from derive.outcome import Outcome
from derive.session import Session
from formulas.errors import Problem
from solvers.answer import Infeasible

FACTS = "model llama-3.1-70b, gpu 8 x h100-sxm, tp = 8, batch = 32"
COST = f"{FACTS}, prompt = 2000, output = 500, price_per_gpu_hour = $2.5/h"


def said(*lines: str) -> tuple[Conversation, Outcome]:
    """The conversation after these lines, and what the last of them came to."""
    conversation = Conversation()
    for line in lines:
        conversation, outcome = conversation.say(line)
    return conversation, outcome


def test_both_sides_are_what_asking_them_gives() -> None:
    _, outcome = said(FACTS, "whatif gpu = 8 x h200-sxm: max context given tpot <= 60 ms")
    now = Session(FACTS).ask("max context given tpot <= 60 ms").value
    other = FACTS.replace("h100-sxm", "h200-sxm")
    then = Session(other).ask("max context given tpot <= 60 ms").value
    assert outcome.data["now"]["value"] == now
    assert outcome.data["whatif"]["value"] == then
    assert outcome.data["change"] == pytest.approx(then / now - 1)
    assert outcome.data["find"] == "context_tokens"
    share = f"{100 * (then / now - 1):+.3g} %"
    assert share in outcome.text()


def test_the_last_question_is_compared_without_a_colon() -> None:
    _, outcome = said(FACTS, "max context given tpot <= 30 ms", "whatif gpu = 8 x h200-sxm")
    other = FACTS.replace("h100-sxm", "h200-sxm")
    then = Session(other).ask("max context given tpot <= 30 ms").value
    assert outcome.data["whatif"]["value"] == then


def test_nothing_that_is_stated_changes() -> None:
    before, _ = said(FACTS, "max context given tpot <= 30 ms")
    after, _ = before.say("whatif gpu = 8 x h200-sxm")
    assert after.statements == before.statements
    assert after.last == before.last


def test_a_gpu_without_a_number_is_taken_as_many_times() -> None:
    _, outcome = said(FACTS, "whatif gpu = h200-sxm: max context")
    _, counted = said(FACTS, "whatif gpu = 8 x h200-sxm: max context")
    assert outcome.data["whatif"]["value"] == counted.data["whatif"]["value"]


def test_a_calculation_starts_from_what_is_stated() -> None:
    line = (
        "whatif memory_bandwidth = 1.1 * memory_bandwidth: stage_memory_time given context = 8000"
    )
    _, outcome = said(FACTS, line)
    assert outcome.data["change"] == pytest.approx(1 / 1.1 - 1)


def test_a_limit_takes_the_place_of_the_one_before() -> None:
    _, outcome = said(f"{FACTS}, tpot <= 30 ms", "whatif tpot <= 20 ms: max context")
    then = Session(f"{FACTS}, tpot <= 20 ms").ask("max context").value
    assert outcome.data["whatif"]["value"] == then


def test_an_infeasible_side_has_its_reason() -> None:
    _, outcome = said(FACTS, "max context given tpot <= 30 ms", "whatif tpot <= 5 ms")
    assert outcome.status == "infeasible"
    assert "change" not in outcome.data
    found = Session(FACTS).ask("max context given tpot <= 5 ms").answer
    assert isinstance(found, Infeasible)
    text = " ".join(outcome.text().split())
    assert "none" in text
    assert found.reason.split(",")[0] in text


def test_what_binds_is_compared() -> None:
    _, outcome = said(FACTS, "whatif tpot <= 30 ms: max context given tpot <= 60 ms")
    row = next(line for line in outcome.text().splitlines() if "binds" in line)
    assert row.split()[1:] == ["memory", "tpot", "changed"]


# -- costs


@pytest.mark.parametrize(
    ("change", "other"),
    [
        ("gpu = 8 x h200-sxm", COST.replace("h100-sxm", "h200-sxm")),
        ("weight_dtype = fp8", f"{COST}, weight_dtype = fp8"),
    ],
)
def test_at_the_break_even_price_both_cost_the_same(change: str, other: str) -> None:
    _, outcome = said(COST, f"whatif {change}: cost_per_million_tokens")
    even = outcome.data["break_even"]
    now = Session(COST).ask("cost_per_million_tokens").value
    assert even["ratio"] == pytest.approx(even["value"] / 2.5)
    at_price = other.replace("$2.5/h", f"${even['value']:.12f}/h")
    assert Session(at_price).ask("cost_per_million_tokens").value == pytest.approx(now, rel=1e-9)


def test_a_price_of_the_other_gpu_may_be_stated() -> None:
    line = "whatif gpu = 8 x h200-sxm, price_per_gpu_hour = $3.5/h: cost_per_million_tokens"
    _, outcome = said(COST, line)
    other = COST.replace("h100-sxm", "h200-sxm").replace("$2.5/h", "$3.5/h")
    assert outcome.data["whatif"]["value"] == Session(other).ask("cost_per_million_tokens").value
    _, same = said(COST, "whatif gpu = 8 x h200-sxm: cost_per_million_tokens")
    # Where the choice flips does not depend on the price that the other GPU has.
    assert outcome.data["break_even"] == same.data["break_even"]


def test_no_price_means_no_break_even() -> None:
    _, outcome = said(FACTS, "whatif gpu = 8 x h200-sxm: tpot given context = 8000")
    assert "break_even" not in outcome.data


# -- what cannot be read


def test_nothing_to_compare_is_said() -> None:
    with pytest.raises(Problem, match="nothing has been asked"):
        said(FACTS, "whatif gpu = 8 x h200-sxm")


def test_only_values_are_compared() -> None:
    with pytest.raises(Problem, match="compares values"):
        said(FACTS, "whatif gpu = 8 x h200-sxm: which tp")
