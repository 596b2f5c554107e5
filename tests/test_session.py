"""Questions from Python: sessions, replies, and what a person can pass as a value."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import derive
from derive import Reply, Session
from formulas.errors import Problem

CONFIGS = Path(__file__).parent / "configs"

LIMITS = ["tpot <= 30 ms", "batch = 32"]


@pytest.fixture(scope="module")
def session() -> Session:
    return Session(model="llama-3.1-70b", gpu="8 x h100-sxm", mbu="80%")


@pytest.fixture(scope="module")
def largest(session: Session) -> Reply:
    return session.max("context", given=LIMITS)


def test_a_reply_has_the_answer_and_its_reasons(largest: Reply) -> None:
    assert (largest.status, largest.unit, largest.binding) == ("ok", "1", ("tpot",))
    assert largest.value == largest.to_dict()["value"] > 30_000
    assert largest.steps[-1].solved_for == "tpot"
    assert largest.steps[-1].value <= Fraction(30, 1000)


@pytest.mark.parametrize(
    "given",
    [
        LIMITS,
        tuple(LIMITS),
        ", ".join(LIMITS),
        {"tpot": "<= 30 ms", "batch": 32},
        {"tpot": ["<= 30 ms", ">= 1 ms"], "bs": Fraction(32)},
        {"tpot": "<= 0.03", "batch": Decimal(32)},
    ],
    ids=str,
)
def test_facts_come_in_many_forms(session: Session, largest: Reply, given: Any) -> None:
    assert session.max("ctx", given=given).value == largest.value


def test_the_same_question_in_a_line_and_in_steps(session: Session, largest: Reply) -> None:
    line = session.ask("max context given tpot <= 30 ms, batch = 32")
    steps = session.given("tpot <= 30 ms").given(batch=32).ask("max context")
    assert line.to_dict() == steps.to_dict() == largest.to_dict()


def test_the_smallest(session: Session) -> None:
    reply = session.min("tp", given={"context": 8192, "batch": 32})
    assert (reply.value, reply.binding) == (4, ("memory",))


def test_a_session_never_changes(session: Session) -> None:
    before = session.statements
    wider = session.given(batch=32)
    assert session.statements == before
    assert len(wider.statements) == len(before) + 1
    assert Session("batch = 32") == Session("batch = 32") != Session("batch = 33")
    with pytest.raises(AttributeError):
        session.statements = ()  # type: ignore[misc]


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (32, 32),
        (2.5, Fraction(5, 2)),
        (1e-7, Fraction(1, 10**7)),
        (1e22, 10**22),
        (Fraction(7, 3), Fraction(7, 3)),
        (Decimal("0.1"), Fraction(1, 10)),
        ("30 ms", Fraction(3, 100)),
        ("4Ki", 4096),
    ],
    ids=repr,
)
def test_numbers_are_read_exactly(value: Any, read: Fraction) -> None:
    (fact,) = Session(tpot=value).statements
    assert getattr(fact, "value", None) == read


def test_numbers_of_numpy_are_numbers() -> None:
    import numpy as np

    assert Session(mbu=np.float64(0.5), batch=np.int64(3)) == Session(mbu=0.5, batch=3)


@pytest.mark.parametrize(
    ("ask", "kind", "word"),
    [
        (lambda s: s.ask(""), "syntax", "nothing asked"),
        (lambda s: s.ask("batch = 3"), "syntax", "nothing asked"),
        (lambda s: s.ask("contxt"), "name", "'contxt'"),
        (lambda s: s.max("contxt"), "name", "'contxt'"),
        (lambda s: s.max("context", "tpot <= 3 GB"), "dimension", "size"),
        (lambda s: s.given("tpot"), "syntax", "asks tpot"),
        (lambda s: s.given(nonsense=1), "name", "'nonsense'"),
        (lambda s: s.given(kv_dtype="bf17"), "domain", "bf17"),
        (lambda s: s.given(mbu=math.nan), "number", "nan"),
        (lambda s: s.given(mbu=math.inf), "number", "inf"),
        (lambda s: s.given(mbu=None), "syntax", "mbu"),
        (lambda s: s.given(batch=True), "name", "'yes'"),
        (lambda s: s.given(batch=-1).ask("tpot"), "domain", "batch = -1"),
        (lambda s: s.given(mbu=80).ask("tpot"), "domain", "mbu = 80"),
        (lambda s: s.given(model="nosuch").ask("tpot"), "model", "'nosuch'"),
        (lambda s: s.given(gpu="h100").ask("tpot"), "gpu", "3 devices"),
    ],
)
def test_what_cannot_be_read_is_a_problem(
    ask: Callable[[Session], Any], kind: str, word: str
) -> None:
    with pytest.raises(Problem) as caught:
        ask(Session())
    assert caught.value.kind == kind
    assert str(caught.value).startswith(f"error[{kind}]: ")
    assert word in str(caught.value)


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("max context given batch = 32, tpot <= 5 ms", "infeasible"),
        ("decode_concurrency given arrival_rate = 3", "missing"),
        ("batch given batch = 3, batch = 4", "contradiction"),
    ],
)
def test_infeasible_and_its_like_are_results(session: Session, line: str, status: str) -> None:
    reply = session.ask(line)
    assert (reply.status, reply.value) == (status, None)
    assert reply.to_dict()["message"]


def test_unbounded_is_a_result() -> None:
    assert Session().max("context").status == "unbounded"


def test_a_reply_is_the_object_of_the_command(derive: Callable[..., Any], largest: Reply) -> None:
    question = "max context given tpot <= 30 ms, batch = 32, mbu = 80%"
    options = ("--model", "llama-3.1-70b", "--gpu", "8 x h100-sxm")
    printed = json.loads(derive("ask", question, "--json", *options).out)
    assert printed == json.loads(json.dumps(largest.to_dict()))


def test_a_reply_prints_as_its_card(largest: Reply) -> None:
    assert str(largest) == largest.text()
    assert largest.text().splitlines()[0].startswith("context_tokens <= ")
    assert len(largest.text(steps=True).splitlines()) > len(largest.text().splitlines())
    narrow = largest.text(width=60).splitlines()
    assert max(len(line) for line in narrow) <= 60


def test_a_reply_prints_as_latex(largest: Reply) -> None:
    latex = largest.to_latex()
    assert latex.startswith("\\documentclass")
    assert latex.count("{") == latex.count("}")
    short = largest._repr_latex_()
    lines = short.count("& {} ") - short.count(r"& {} \quad")
    assert lines == len({step.relation for step in largest.steps})


def test_the_unit_asked_is_the_unit_displayed(session: Session) -> None:
    reply = session.given(batch=32).ask("tpot -> us given context = 1000")
    assert reply.unit == "s"
    assert reply.to_dict()["display"].endswith(" us")
    assert 0.001 < reply.value < 0.1


def test_the_package_offers_what_it_says() -> None:
    assert set(derive.__all__) == {"Reply", "Session", "__version__"}
    assert derive.Session is Session
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = derive.nothing_of_the_kind  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", ["dense-gqa-70b", "dense-gqa-70b/config.json"])
def test_a_config_file_answers_as_the_model_of_the_table(path: str) -> None:
    question = "max context given model {}, gpu 8 x h100-sxm, tp = 8, batch = 32, tpot <= 30 ms"
    named = Session().ask(question.format("llama-3.1-70b")).to_dict()
    read = Session().ask(question.format(CONFIGS / path)).to_dict()
    assert named["value"] > 0
    assert named == read
