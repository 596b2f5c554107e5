"""The question language: what each verb, tail and kind of statement is read as, and spelt as."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from derive.complain import complain
from derive.names import quantity_named
from derive.question import LONGEST_LINE, Question, canonical, parse, read_statement
from derive.reading import EXTREMES
from derive.verbs import LATER
from formulas.errors import Problem
from formulas.quantities import SCALARS
from formulas.statements import (
    Among,
    AmongNames,
    Axis,
    Between,
    Calculated,
    Choose,
    Fact,
    Limit,
    Relate,
    Same,
    Spread,
    Statement,
    UseGpu,
    UseModel,
)
from formulas.storage import BYTES_PER_ELEMENT
from formulas.units import Unit, parse_unit

ROOT = Path(__file__).parent.parent
MS = Fraction(1, 1000)
GB = 10**9


def symbol(name: str) -> Any:
    return quantity_named(name).symbol


def whole(*numbers: int) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, numbers))


def said(statement: Statement) -> Statement:
    """The statement without the words it was made with."""
    return replace(statement, text="")


def meaning(question: Question) -> tuple[Any, ...]:
    """Everything but the text as typed and the notes of how it was read."""
    values = []
    for field in fields(question):
        value = getattr(question, field.name)
        if field.name == "statements":
            value = tuple(map(said, value))
        if field.name == "inner" and value is not None:
            value = meaning(value)
        if field.name not in ("text", "read_as"):
            values.append(value)
    return (*values, str(question.unit))


def refused(line: str) -> list[str]:
    """What is said of the line instead of an answer."""
    with pytest.raises(Problem) as caught:
        parse(line)
    return complain(caught.value).split("\n")


# --- the example lines of the reference -------------------------------------------------------

LLAMA, EIGHT = UseModel("llama-3.1-70b"), UseGpu("h100-sxm", 8)
LINES: list[tuple[str, str, dict[str, Any]]] = [
    ("model llama-3.1-70b", "state", {"statements": (LLAMA,)}),
    ("model ./config.json as mine", "state", {"statements": (UseModel("./config.json"),)}),
    ("gpu 8 x h100-sxm", "state", {"statements": (EIGHT,)}),
    ("batch = 32, prompt = 2k, output = 512", "state", {"statements": (
        Fact("batch", Fraction(32)), Fact("prompt_tokens", Fraction(2000)),
        Fact("output_tokens", Fraction(512)))}),
    ("mbu = 80%, price_per_gpu_hour = $2.50/h", "state", {"statements": (
        Fact("mbu", Fraction(4, 5)), Fact("price_per_gpu_hour", Fraction(5, 2)))}),
    ("link_bandwidth = 400 Gbit/s", "state",
     {"statements": (Fact("link_bandwidth", Fraction(50 * GB)),)}),
    ("tpot <= 30 ms", "state", {"statements": (Limit("tpot", "<=", 30 * MS),)}),
    ("1 <= tp <= 8", "state", {"statements": (
        Limit("tp", ">=", Fraction(1)), Limit("tp", "<=", Fraction(8)))}),
    ("tp in {1, 2, 4, 8}", "state", {"statements": (Among("tp", whole(1, 2, 4, 8)),)}),
    ("mbu = 0.75 \u00b1 0.05", "state",
     {"statements": (Spread("mbu", Fraction(3, 4), Fraction(1, 20)),)}),
    ("weight_bytes_per_gpu + kv_bytes_per_gpu <= 0.92 * vram_bytes", "state", {"statements": (
        Relate(symbol("weight_bytes_per_gpu") + symbol("kv_bytes_per_gpu"), "<=",
               sympy.Rational(23, 25) * symbol("vram_bytes"),
               unit=Unit(parse_unit("B").powers)),)}),
    ("tpot", "value", {"find": "tpot"}),
    ("tpot -> us", "value", {"find": "tpot", "unit": parse_unit("us")}),
    ("kv_bytes_per_gpu / weight_bytes_per_gpu", "value", {
        "expression": symbol("kv_bytes_per_gpu") / symbol("weight_bytes_per_gpu"),
        "expression_unit": Unit()}),
    ("context given tpot = 20 ms", "value",
     {"find": "context_tokens", "statements": (Fact("tpot", 20 * MS),)}),
    ("max context given tpot <= 30 ms, gpu 8 x h100-sxm, batch 32", "max", {
        "find": "context_tokens",
        "statements": (Limit("tpot", "<=", 30 * MS), EIGHT, Fact("batch", Fraction(32)))}),
    ("min tpot given context = 32Ki over tp, kv_dtype", "min", {
        "find": "tpot", "statements": (Fact("context_tokens", Fraction(32768)),),
        "over": (Axis("tp"), Axis("kv_dtype"))}),
    ("which tp given tpot <= 25 ms, context = 8192", "which", {
        "names": ("tp",),
        "statements": (Limit("tpot", "<=", 25 * MS), Fact("context_tokens", Fraction(8192)))}),
    ("whatif gpu = 8 x h200-sxm: max context", "whatif", {
        "statements": (UseGpu("h200-sxm", 8),),
        "inner": Question("max context", "max", "context_tokens")}),
    ("sweep tpot, output_token_rate over batch in 1..256 log2, tp in {4, 8} to sweep.csv", "sweep",
     {"names": ("tpot", "output_token_rate"), "to": "sweep.csv", "over": (
         Axis("batch", whole(1, 2, 4, 8, 16, 32, 64, 128, 256)), Axis("tp", whole(4, 8)))}),
    ("why", "why", {}),
    ("why tpot", "why", {"find": "tpot"}),
    ("why not tp = 2", "whynot", {"statements": (Fact("tp", Fraction(2)),)}),
    ("sens context by memory_bandwidth, vram_bytes, batch", "sens",
     {"find": "context_tokens", "by": ("memory_bandwidth", "vram_bytes", "batch")}),
    ("relax", "relax", {}),
    ("formulas kv cache", "formulas", {"words": ("kv", "cache")}),
    ("show kv_bytes_per_token", "show", {"names": ("kv_bytes_per_token",)}),
    ("show kv_bytes_per_token for n_kv_heads", "show",
     {"names": ("kv_bytes_per_token",), "solve_for": "n_kv_heads"}),
    ("variants tpot", "variants", {"find": "tpot", "names": ("tpot",)}),
    ("use decode_step_kv for step_time", "use",
     {"names": ("decode_step_kv",), "solve_for": "step_time"}),
    ("need tpot", "need", {"find": "tpot", "names": ("tpot",)}),
    ("check", "check", {}),
    ("derive context to report.tex", "derive",
     {"inner": Question("context to report.tex", "value", "context_tokens", to="report.tex",
                        read_as=("context read as context_tokens",))}),
]  # fmt: skip


@pytest.mark.parametrize(("line", "verb", "parts"), LINES, ids=[line for line, *_ in LINES])
def test_an_example_line_is_read(line: str, verb: str, parts: dict[str, Any]) -> None:
    assert meaning(parse(line)) == meaning(Question(line, verb, **parts))


@pytest.mark.parametrize("line", [
    "facts", "drop batch", "edit 4 batch = 64", "undo 2", "redo",
    "reset", "save run.derive", "load run.derive", "set digits 6", "? tpot",
])  # fmt: skip
def test_a_line_of_what_is_to_come_is_nothing_else(line: str) -> None:
    assert refused(line)[0].endswith("is not understood yet")


# --- the same line in other words -------------------------------------------------------------

SAME = [
    ("max context given tpot <= 30 ms", [
        "max context where tpot <= 30 ms", "max ctx st tpot \u2264 30 ms",
        "derive> max context given tpot <= 30 ms", "max context ? given tpot <= 30ms ?",
        "MAX context WITH 30 ms >= tpot", "  max max_model_len given (tpot) <= 0.03",
    ]),
    ("tpot -> us", ["tpot in us", "tpot \u2192 \u00b5s", "TPOT? in us", "1 * tpot -> us"]),
    ("gpu 8 x h100-sxm", ["8 h100-sxm", "8 x h100-sxm", "gpu = 8 \u00d7 h100-sxm"]),
    ("tp in {1, 2, 4, 8}", [
        "tp in {1,2,4,8}", "tp in 1..8 log2", "tp in { 1, 2, 2, 4, 8, 1 }", "tp in {1, 2, 2^2, 8}",
    ]),
    ("batch in {64, 128, 256}", ["bs in {64,128,256}", "batch in 64..256 log2"]),
    ("batch in 1..6", ["batch in {1, 2, 3, 4, 5, 6}", "batch in 1..6.5", "batch in 1..6 step 1"]),
    ("batch in {1, 2, 5, 10, 20, 50}", ["batch in 1..99 log"]),
    ("batch in {3, 5, 10, 20}", ["batch in 3..20 log"]),
    ("tpot in {10 ms, 15 ms, 20 ms}", ["tpot in 10..20 ms step 5 ms", "tpot in 10..20 ms step 5"]),
    ("tpot in {10 ms, 11 ms, 12 ms}", ["tpot in 10..12 ms", "tpot in 10 ms..12 ms"]),
    ("mbu in {0.7, 0.75, 0.8}", ["mbu in 0.7..0.8 step 0.05", "mbu in 70%..80% step 5%"]),
    ("mbu = 0.7..0.8", ["mbu = 70% .. 80%", "mbu = 0.7 ..0.8"]),
    ("tpot = 20 ms..30 ms", ["tpot = 20..30 ms", "tpot=0.02..0.03"]),
    ("mbu = 0.75 +/- 0.05", ["mbu = 0.75 \u00b1 0.05", "mbu = 75% +/- 5%"]),
    ("tpot = 30 ms +/- 2 ms", ["tpot = 30 \u00b1 2 ms", "tpot = 30 ms \u00b1 2"]),
    ("kv_dtype in {bf16, fp8}", ["kv_dtype in {BF16,FP8,bf16}"]),
    ("weight_bytes <= 2 * kv_bytes_per_gpu", [
        "2 * kv_bytes_per_gpu >= weight_bytes", "weights \u2264 kv_bytes * (1 + 1)",
    ]),
    ("n_gpus * price_per_gpu_hour <= 50", [
        "price * n_gpus <= $50/h", "$50/h >= gpus * price", "price * n_gpus <= $1200/day",
    ]),
    ("why not tp = 2", ["why not tp 2"]),
    ("check given tpot = 20 ms, batch = 64", ["check tpot = 20 ms, batch 64"]),
    ("use decode_step_kv for step_time", ["use decode_step_kv for STEP_TIME"]),
    ("tpot, tp = 3", ["tpot given tp = 3", "tp = 3, tpot", "tp = 3, tpot?", "tpot = ?, tp = 3"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "other"), [(line, other) for line, others in SAME for other in others]
)
def test_two_spellings_mean_the_same(line: str, other: str) -> None:
    assert meaning(parse(other)) == meaning(parse(line))


# --- calculations -----------------------------------------------------------------------------


def stated(line: str) -> Any:
    (statement,) = parse(line).statements
    return statement


def test_the_right_side_may_speak_of_the_quantity_itself() -> None:
    found = stated("memory_bandwidth = 1.1 * memory_bandwidth")
    expected = Calculated("memory_bandwidth", 11 * symbol("memory_bandwidth") / 10)
    assert said(found) == expected
    assert said(stated("tpot := 2 * ttft")) == Calculated("tpot", 2 * symbol("ttft"), True)
    assert said(stated("tpot := ttft")) == Calculated("tpot", symbol("ttft"), True)
    assert said(stated("tpot = 1 * ttft")) == Same("tpot", "ttft")
    assert said(stated("tpot = ttft - ttft + 3 s")) == Fact("tpot", Fraction(3))
    assert said(stated("tpot + 0 s <= 3 s")) == Limit("tpot", "<=", Fraction(3))


def test_numbers_in_a_calculation_are_in_base_units() -> None:
    found = stated("weight_bytes + 1 GiB <= 80 GB")
    assert found.left == symbol("weight_bytes") + 2**30
    assert (found.relation, found.right) == ("<=", 80 * GB)
    found = stated("weight_bytes / (3.35 TB/s) <= 20 ms")
    assert found.left == symbol("weight_bytes") / 3_350_000_000_000
    assert found.right == sympy.Rational(1, 50)
    assert found.unit == parse_unit("s")


def test_hourly_prices_stay_hourly() -> None:
    found = stated("cost_per_hour = 8 * price_per_gpu_hour")
    assert found.expr == 8 * symbol("price_per_gpu_hour")
    found = stated("cost_per_hour = price_per_gpu_hour + $1/day")
    assert found.expr == symbol("price_per_gpu_hour") + sympy.Rational(1, 24)
    asked = parse("price_per_gpu_hour * 24 h")
    assert asked.expression == 24 * symbol("price_per_gpu_hour")
    assert asked.expression_unit == parse_unit("USD")


def test_a_price_for_a_million_tokens_is_one_for_a_million() -> None:
    rate, cost = symbol("output_token_rate"), symbol("cost_per_million_tokens")
    # $1/Mtok at a million tokens a second is a dollar a second, or 3600 an hour.
    asked = parse("cost_per_million_tokens * output_token_rate -> $/h")
    assert asked.expression.subs({rate: 10**6, cost: 1}) == 3600
    assert asked.expression_unit == parse_unit("USD/h")
    found = stated("cost = cost_per_hour / output_token_rate")
    assert found.expr.subs({rate: 10**6, symbol("cost_per_hour"): 3600}) == 1
    assert stated("cost = 0.9 * cost").expr == sympy.Rational(9, 10) * cost


@pytest.mark.parametrize(("line", "lines"), [
    ("weight_bytes + tpot <= 3 GB", [
        "error[dimension]: weight_bytes is a size, tpot is a time",
        "  weight_bytes + tpot <= 3 GB",
        "  ^^^^^^^^^^^^^^^^^^^",
        "  weight_bytes    B^1",
        "  tpot            s^1",
    ]),
    ("2 * weight_bytes <= 3 * tpot", [
        "error[dimension]: 2 * weight_bytes is a size, 3 * tpot is a time",
        "  2 * weight_bytes <= 3 * tpot",
        "  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
        "  2 * weight_bytes    B^1",
        "  3 * tpot            s^1",
    ]),
    ("tpot = 2 * weight_bytes", [
        "error[dimension]: tpot is a time, 2 * weight_bytes is a size",
        "  tpot = 2 * weight_bytes",
        "         ^^^^^^^^^^^^^^^^",
        "  tpot                s^1",
        "  2 * weight_bytes    B^1",
        "  did you mean a bandwidth term? size / bandwidth = time",
    ]),
    ("weight_bytes / memory_bandwidth -> GB", [
        "error[dimension]: weight_bytes / memory... is a time, GB is a size",
        "  weight_bytes / memory_bandwidth -> GB",
        "                                     ^^",
        "  weight_bytes / memory...    s^1",
        "  GB                          B^1",
    ]),
    ("prompt + batch", [
        "error[dimension]: prompt counts tokens, batch counts sequences",
        "  prompt + batch",
        "  ^^^^^^^^^^^^^^",
        "  prompt    tok^1",
        "  batch     seq^1",
    ]),
])  # fmt: skip
def test_units_are_checked_through_the_tree(line: str, lines: list[str]) -> None:
    assert refused(line) == lines


# --- what is said of lines that cannot be read -------------------------------------------------


@pytest.mark.parametrize(("line", "fault", "repair"), [
    ("max context for tpot <= 30 ms", "'for'", "given tpot <= 30 ms"),
    ("price = 80 \u20ac", "'\u20ac'", "$2.50/h"),
    ("price = \u20ac80", "'\u20ac'", "$2.50/h"),
    ("cont\u00e9xt = 3", "'cont\u00e9xt'", "'context'"),
    ("max given x=1", "'given'", "max context given"),
    ("context = x", "'x'", "NAME = ?"),
    ("tpot given = 3", "'='", "NAME = VALUE"),
    ("tpot given tp = 8 --steps", "'--steps' is an option", "outside the quotes"),
    ("llama-9, tpot", "'llama'", "model llama-2-7b"),
    ("llama-3.1-70b, tpot", "'llama'", "model llama-3.1-70b"),
    ("h100-sxm, tpot", "'h100'", "gpu h100-sxm"),
    ("./config.json, tpot", "path", "model ./config.json"),
    ("need tpot over tp", "'over'", "need NAME"),
    ("which tp, batch = 3", "'='", "behind 'given'"),
    ("sweep tpot over batch", "batch needs its values", "1..256 log2"),
    ("sweep tpot", "'over' was expected", "over batch in"),
    ("use decode_step_kv", "'for' was expected", "for step_time"),
    ("whatif tpot", "tpot has no value", "tpot = VALUE"),
    ("whatif tp = 4 given batch = 3", "'given'", "whatif FACTS [: QUESTION]"),
    ("max kv_dtype", "'kv_dtype' is a choice", "which kv_dtype given"),
    ("max tpot / ttft", "not of a calculation", "max tpot"),
    ("tp in 4", "several values", "{1, 2, 4, 8}"),
    ("tp in {1, 2", "'}' is missing", "{1, 2, 4, 8}"),
    ("gpu in {8 x h100-sxm}", "names only", "available_gpus = 8"),
    ("tpot in {20, 30 ms}", "some have none", "behind each"),
    ("tpot = 20 ms..30", "lacks a unit", "both values"),
    ("mbu = 0.8..0.7", "backwards", "smaller end stands first"),
    ("mbu := 0.7..0.8", "one value", "mbu = LOW..HIGH"),
    ("mbu in 0.7..0.8", "no whole number", "step"),
    ("batch in 1..1000k", "1000000 values", "log2"),
    ("batch in 0..8 log2", "above 0", "1..64"),
    ("mbu = 0.7 +/- -0.1", "not below 0", "+/- 0.05"),
    ("tpot top 0", "whole number from 1", "top 5"),
    ("tpot over tp, tp", "searched twice", "over tp"),
    ("tpot by batch", "'by'", "sens context by"),
])  # fmt: skip
def test_a_mistake_names_the_fault_and_the_repair(line: str, fault: str, repair: str) -> None:
    sentence, shown, carets, *help_lines = refused(line)
    assert fault in sentence
    assert shown.strip() == line
    assert "^" in carets
    assert any(repair in row for row in help_lines)


@pytest.mark.parametrize("line", [
    "tp * " * 300 + "tp <= 3",
    "tp <= " + "(" * 30 + "tp^3" + ")^3" * 30,
    "tp <= " + "*".join(["tp^60"] * 3),
    "tp <= tp * " + "*".join(["1e60"] * 150),
    "tp <= " + "+".join(["1e60 * tp * 1e60 * 1e60 * 1e60 * 1e60 * 1e60 * 1e60 * 1e60"] * 30),
    "tp in {" + ", ".join(["1"] * 3000),
    "tp in 1e-60..1e60",
    "tp in 1..1e60 step 1e-60",
])  # fmt: skip
def test_calculations_and_lists_are_bounded(line: str) -> None:
    start = time.perf_counter()
    with pytest.raises(Problem) as caught:
        parse(line)
    assert complain(caught.value).startswith("error[")
    assert time.perf_counter() - start < 1


def test_a_fault_behind_a_colon_is_shown_in_the_whole_line() -> None:
    assert refused("whatif tp = 4: max contxt")[1:3] == [
        "  whatif tp = 4: max contxt",
        "                     ^^^^^^",
    ]


def test_json_values_are_read_by_the_same_grammar() -> None:
    for name, text, statement in (
        ("tp", "in {1, 2}", Among("tp", whole(1, 2))),
        ("batch", "in 1..4", Among("batch", whole(1, 2, 3, 4))),
        ("gpu", "in {h100-sxm, h200-sxm}", AmongNames("gpu", ("h100-sxm", "h200-sxm"))),
        ("mbu", "0.7..0.8", Between("mbu", Fraction(7, 10), Fraction(4, 5))),
        ("mbu", "0.75 \u00b1 0.05", Spread("mbu", Fraction(3, 4), Fraction(1, 20))),
        ("tpot", "<= tpot_slo", Relate(symbol("tpot"), "<=", symbol("tpot_slo"),
                                       unit=parse_unit("s"))),
        ("tpot", "2 * ttft", Calculated("tpot", 2 * symbol("ttft"))),
    ):  # fmt: skip
        assert list(map(said, read_statement(name, text))) == [statement]


# --- the canonical spelling is read as the same question ---------------------------------------

NUMBERS = [q for q in SCALARS if q.unit.text != "bool"]
NAMES = st.sampled_from([q.name for q in NUMBERS])
CHOICES = st.sampled_from(["gpu", "model", "weight_dtype", "kv_dtype", "mig_profile"])
VALUES = st.one_of(
    st.integers(-(10**15), 10**15).map(Fraction),
    st.fractions(max_denominator=10**20),
    st.decimals(allow_nan=False, allow_infinity=False, places=6).map(Fraction),
    st.builds(lambda n, power: n * Fraction(10) ** power, st.integers(1, 99), st.integers(-30, 30)),
)
WORDS = st.text("abcdefghijklmnopqrstuvwxyz0123456789-._/", min_size=1, max_size=12)
FORMATS = st.sampled_from([*BYTES_PER_ELEMENT])


def ordered(make: Any) -> Any:
    return lambda name, one, other: make(name, min(one, other), max(one, other))


def progression(name: str, low: Fraction, step: Fraction, count: int) -> Among:
    return Among(name, tuple(low + place * step for place in range(count)))


def doubling(name: str, low: Fraction, count: int) -> Among:
    return Among(name, tuple(low * 2**place for place in range(count)))


POSITIVE = VALUES.map(abs).filter(bool)
LISTS = st.one_of(
    st.builds(Among, NAMES, st.lists(VALUES, min_size=1, max_size=15, unique=True).map(tuple)),
    st.builds(progression, NAMES, VALUES, POSITIVE, st.integers(2, 40)),
    st.builds(doubling, NAMES, POSITIVE, st.integers(1, 30)),
)
FORMAT_LISTS = st.lists(FORMATS, min_size=1, max_size=4, unique=True).map(tuple)
NAME_LISTS = st.one_of(
    st.builds(AmongNames, st.sampled_from(["weight_dtype", "kv_dtype"]), FORMAT_LISTS),
    st.builds(AmongNames, st.sampled_from(["model", "mig_profile"]),
              st.lists(WORDS, min_size=1, max_size=4, unique=True).map(tuple)),
    st.builds(AmongNames, st.just("gpu"),
              st.lists(WORDS.map("g{}".format), min_size=1, max_size=4, unique=True).map(tuple)),
)  # fmt: skip
PLAIN = st.one_of(
    st.builds(Fact, NAMES, VALUES, st.booleans()),
    st.builds(Limit, NAMES, st.sampled_from(["<=", ">=", "<", ">"]), VALUES),
    st.builds(Fact, st.just("probe_ok"), st.booleans()),
    st.builds(UseModel, WORDS),
    st.builds(UseGpu, WORDS.map("g{}".format), st.none() | st.integers(1, 10**6)),
    st.builds(Choose, st.sampled_from(["weight_dtype", "kv_dtype"]), FORMATS),
    st.just(Same("reload_time", "recompute_time")),
    st.builds(ordered(Between), NAMES, VALUES, VALUES),
    st.builds(Spread, NAMES, VALUES, VALUES.map(abs)),
    LISTS,
    NAME_LISTS,
)  # fmt: skip
STATED = st.lists(PLAIN, max_size=4).map(tuple)
SOME = st.lists(PLAIN, min_size=1, max_size=3).map(tuple)
SUBJECTS = st.lists(NAMES | CHOICES, min_size=1, max_size=3, unique=True).map(tuple)
AXES = st.lists(
    st.builds(Axis, NAMES | CHOICES)
    | LISTS.map(lambda row: Axis(row.quantity, row.values))
    | NAME_LISTS.map(lambda row: Axis(row.choice, row.names)),
    max_size=3, unique_by=lambda axis: axis.name,
).map(tuple)  # fmt: skip
FULL_AXES = AXES.map(lambda axes: tuple(a for a in axes if a.values)).filter(bool)
TOP = st.none() | st.integers(1, 1000)
ASKED = st.one_of(
    st.builds(lambda s: Question("", "state", None, s), STATED),
    st.builds(lambda v, n, s, o, t: Question("", v, n, s, over=o, top=t),
              st.sampled_from(["value", *EXTREMES]), NAMES, STATED, AXES, TOP),
)  # fmt: skip
ANY = st.one_of(
    ASKED,
    st.builds(lambda n, s, o, t: Question("", "which", None, s, names=n, over=o, top=t),
              SUBJECTS, STATED, AXES, TOP),
    st.builds(lambda v, s, i: Question("", v, None, s, inner=i),
              st.sampled_from(["whatif", "whynot"]), SOME,
              st.none() | ASKED.filter(lambda q: q.verb != "state")),
    st.builds(lambda v, n, s: Question("", v, n, s), st.just("why"), st.none() | NAMES, STATED),
    st.builds(lambda n, s, b: Question("", "sens", n, s, by=b),
              st.none() | NAMES, STATED, SUBJECTS | st.just(())),
    st.builds(lambda n, o, s, t, f: Question("", "sweep", None, s, names=n, over=o, to=t, form=f),
              SUBJECTS, FULL_AXES, STATED, st.none() | WORDS.map("o{}.csv".format),
              st.none() | st.sampled_from(["md", "csv"])),
    st.builds(lambda n, s: Question("", "relax", None, s, names=n), SUBJECTS | st.just(()), STATED),
    st.builds(lambda v, n, s: Question("", v, n, s, names=(n,)),
              st.sampled_from(["need", "variants"]), NAMES, STATED),
    st.builds(lambda n: Question("", "use", names=("decode_step_kv",), solve_for=n), NAMES),
    st.builds(lambda n, m: Question("", "show", names=(n,), solve_for=m), NAMES, st.none() | NAMES),
    st.builds(lambda s: Question("", "check", None, s), STATED),
    st.builds(lambda w: Question("", "formulas", words=w), st.lists(WORDS, max_size=4).map(tuple)),
)  # fmt: skip


@settings(deadline=None)
@given(ANY)
def test_the_canonical_spelling_is_read_as_the_same_question(question: Question) -> None:
    text = canonical(question)
    if len(text) <= LONGEST_LINE:
        assert meaning(parse(text)) == meaning(question)
        assert canonical(parse(text)) == text


# Calculations are made from text: their terms have one dimension, and numbers bring units.
OF_UNIT: dict[Any, list[str]] = {}
for quantity in NUMBERS:
    OF_UNIT.setdefault(quantity.unit.powers, []).append(quantity.name)
PURE = [
    name for name in OF_UNIT[()]
    if not quantity_named(name).label and quantity_named(name).domain.low is not None
]  # fmt: skip
LITERALS = {"byte": "3 GB", "second": "20 ms", "dollar": "$2", "FLOP": "2 TFLOP", "joule": "3 J"}


@st.composite
def factors(draw: Any) -> str:
    """A pure number or pure quantities."""
    pieces = draw(st.lists(
        st.sampled_from(PURE) | st.integers(1, 999).map(str) | st.sampled_from(["0.92", "(2 / 7)"]),
        min_size=1, max_size=3,
    ))  # fmt: skip
    return draw(st.sampled_from([" * ", " / "])).join(pieces)


@st.composite
def terms(draw: Any, powers: Any) -> str:
    """Something of that dimension."""
    name = draw(st.sampled_from(OF_UNIT[powers]))
    other = draw(st.sampled_from(OF_UNIT[powers]))
    base = "1" if not powers else " * ".join(
        f"({LITERALS[b]})^{p}" if p > 0 else f"({LITERALS[b]})^-{-p}" for b, p in powers
    )  # fmt: skip
    return draw(st.sampled_from([
        name, f"{draw(factors())} * {name}", f"-{name} * 3", f"{name}^2 / {other}",
        f"{base} * {draw(factors())}", f"{base}", f"{name} * {base} / {other}",
        f"({name} + 2 * {other} * 1) * tp / 3", f"2 * ({other} - {name} * tp)",
        f"{other} * ({name} + {base} * tp)^2 / ({other} + {name})^2",
    ]))  # fmt: skip


@st.composite
def calculations(draw: Any) -> str:
    """A relation, a calculated fact, or a calculation that is asked."""
    powers = draw(st.sampled_from([p for p in OF_UNIT if all(b in LITERALS for b, _ in p)]))
    sides = [
        draw(st.sampled_from([" + ", " - "])).join(
            draw(st.lists(terms(powers), min_size=1, max_size=3))
        )
        for _ in range(2)
    ]
    name = draw(st.sampled_from(OF_UNIT[powers]))
    return draw(st.sampled_from([
        f"{sides[0]} <= {sides[1]}", f"{sides[0]} > {sides[1]}", f"{sides[0]} = {name}",
        f"{sides[0]} = {sides[1]}",
        f"{name} = {sides[0]}", f"{name} := {sides[0]}", sides[0], f"whatif {name} = {sides[0]}",
        f"{sides[0]} given {name} <= {sides[1]}", f"tpot given {name} = {sides[0]} over tp",
    ]))  # fmt: skip


@settings(deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(calculations())
def test_a_calculation_is_spelt_as_the_same_expression(line: str) -> None:
    try:
        question = parse(line)
    except Problem:
        return
    again = parse(canonical(question))
    assert meaning(again) == meaning(question)


# --- speed ------------------------------------------------------------------------------------


def test_a_line_is_read_in_well_under_a_millisecond() -> None:
    lines = [line for line, *_ in LINES if " / " not in line and " + " not in line]
    best = min(_seconds(lines) for _ in range(5))
    assert best / len(lines) < 0.001


def _seconds(lines: list[str]) -> float:
    start = time.perf_counter()
    for line in lines:
        parse(line)
    return time.perf_counter() - start


def test_reading_plain_lines_imports_nothing_heavy() -> None:
    lines = [line for line, *_ in LINES if " / " not in line and " + " not in line]
    program = (
        "import sys; from derive.question import canonical, parse;"
        f"[canonical(parse(line)) for line in {lines!r}];"
        "print([m for m in ('sympy', 'numpy', 'networkx', 'z3', 'mpmath') if m in sys.modules])"
    )
    run = [sys.executable, "-c", program]
    result = subprocess.run(run, capture_output=True, text=True, check=True, cwd=ROOT)
    assert result.stdout == "[]\n"


def test_every_verb_of_the_table_is_read_and_no_other() -> None:
    from derive.commands import VERBS
    from derive.verbs import _HEADS

    assert {*VERBS} - {"whynot"} == {*_HEADS}
    assert not {*VERBS} & {*LATER}
    for verb in VERBS.values():
        assert parse(verb.example).verb == verb.name


def test_a_price_that_no_decimal_is_reads_back() -> None:
    question = parse("plan min cost_per_hour over tp at h100-sxm 1/3")
    assert parse(canonical(question)).prices == question.prices
