"""Questions: what each line means, what each mistake says, and that nothing else can come out."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from derive.complain import WIDEST, complain
from derive.named_items import NAMED_ITEMS
from derive.names import quantity_named
from derive.question import (
    LONGEST_LINE,
    Question,
    canonical,
    canonical_name,
    parse,
    read_statement,
)
from derive.reading import EXTREMES
from derive.verbs import LATER
from formulas.amounts import THIN_SPACE, display
from formulas.errors import Problem
from formulas.quantities import ALIASES, SCALARS
from formulas.statements import Choose, Fact, Limit, Same, Statement, UseGpu, UseModel
from formulas.storage import BYTES_PER_ELEMENT
from formulas.units import parse_unit

HERE = Path(__file__).parent
MISTAKES = sorted((HERE / "golden" / "mistakes").glob("*.ask"))
MS = Fraction(1, 1000)


def content(statement: Statement) -> tuple[Any, ...]:
    """Everything but the text as typed."""
    values = (getattr(statement, f.name) for f in fields(statement) if f.name != "text")
    return type(statement).__name__, *values


def meaning(question: Question) -> tuple[Any, ...]:
    stated = tuple(content(statement) for statement in question.statements)
    return question.verb, question.find, question.unit, str(question.unit), stated


# --- what lines mean -------------------------------------------------------------------------

LINES: list[tuple[str, str, str | None, tuple[Statement, ...]]] = [
    ("", "state", None, ()),
    ("  # only a remark", "state", None, ()),
    ("model llama-3.1-70b", "state", None, (UseModel("llama-3.1-70b"),)),
    ("model = ./my-models/config.json", "state", None, (UseModel("./my-models/config.json"),)),
    ("model meta-llama/Llama-3.1-8B", "state", None, (UseModel("meta-llama/Llama-3.1-8B"),)),
    ('model "a model, with spaces"', "state", None, (UseModel("a model, with spaces"),)),
    *(
        (line, "state", None, (UseGpu("h100-sxm", 8),))
        for line in (
            *("gpu 8 x h100-sxm", "gpu = 8 x h100-sxm", "gpu 8 h100-sxm", "8 x h100-sxm"),
            *("8\u00d7h100-sxm", "8 \u00d7 h100-sxm", "8 h100-sxm", "8xh100-sxm"),
        )
    ),
    ("gpu h100-sxm", "state", None, (UseGpu("h100-sxm"),)),
    ("mig_profile = 1g.10gb", "state", None, (Choose("mig_profile", "1g.10gb"),)),
    ("weight_dtype = fp8, kv_dtype FP8", "state", None,
     (Choose("weight_dtype", "fp8"), Choose("kv_dtype", "fp8"))),
    ("batch = 32, prompt = 2k, output = 512", "state", None,
     (Fact("batch", Fraction(32)), Fact("prompt_tokens", Fraction(2000)),
      Fact("output_tokens", Fraction(512)))),
    ("mbu = 80%, price_per_gpu_hour = $2.50/h", "state", None,
     (Fact("mbu", Fraction(4, 5)), Fact("price_per_gpu_hour", Fraction(5, 2)))),
    ("price = $9000/h, price <= $60/day", "state", None,
     (Fact("price_per_gpu_hour", Fraction(9000)),
      Limit("price_per_gpu_hour", "<=", Fraction(5, 2)))),
    ("cost <= $0.93/Mtok, cost < 0.93, cost > $1/ktok", "state", None,
     (Limit("cost_per_million_tokens", "<=", Fraction(93, 100)),
      Limit("cost_per_million_tokens", "<", Fraction(93, 100)),
      Limit("cost_per_million_tokens", ">", Fraction(1000)))),
    ("link_bandwidth = 400 Gbit/s", "state", None,
     (Fact("link_bandwidth", Fraction(50 * 10**9)),)),
    ("tpot <= 30 ms", "state", None, (Limit("tpot", "<=", 30 * MS),)),
    ("tpot \u2264 30ms", "state", None, (Limit("tpot", "<=", 30 * MS),)),
    ("30 ms >= tpot", "state", None, (Limit("tpot", "<=", 30 * MS),)),
    ("link_latency = 5 \u00b5s, step_overhead = 5 \u03bcs", "state", None,
     (Fact("link_latency", MS / 200), Fact("step_overhead", MS / 200))),
    ("1 <= tp <= 8", "state", None,
     (Limit("tp", ">=", Fraction(1)), Limit("tp", "<=", Fraction(8)))),
    ("8 > tp > 1", "state", None,
     (Limit("tp", "<", Fraction(8)), Limit("tp", ">", Fraction(1)))),
    ("tpot := 5 ms", "state", None, (Fact("tpot", 5 * MS, override=True),)),
    ("tpot = 0.1", "state", None, (Fact("tpot", Fraction(1, 10)),)),
    ("n_params = 70B, weight_bytes = 70B", "state", None,
     (Fact("n_params", Fraction(70 * 10**9)), Fact("weight_bytes", Fraction(70)))),
    ("context = 128k", "state", None, (Fact("context_tokens", Fraction(128_000)),)),
    ("context = 128Ki", "state", None, (Fact("context_tokens", Fraction(131_072)),)),
    ("context = 8 ktok", "state", None, (Fact("context_tokens", Fraction(8000)),)),
    ("rate = 600 req/min, goodput = 10/s", "state", None,
     (Fact("arrival_rate", Fraction(10)), Fact("goodput", Fraction(10)))),
    ("probe_ok = true", "state", None, (Fact("probe_ok", True),)),
    ("probe_ok = no", "state", None, (Fact("probe_ok", False),)),
    ("reload_time = recompute_time", "state", None, (Same("reload_time", "recompute_time"),)),
    ("vram = 0.92 * 80 GB", "state", None, (Fact("vram_bytes", Fraction(73_600_000_000)),)),
    ("vram = (80 GB - 8 GiB) / 2 + 1kB", "state", None,
     (Fact("vram_bytes", Fraction(80 * 10**9 - 8 * 2**30, 2) + 1000),)),
    ("flops = 30 s * 989 TFLOP/s", "state", None, (Fact("flops", Fraction(2967, 100) * 10**15),)),
    ("weight = -2^2, tp = 2^-1", "state", None,
     (Fact("weight", Fraction(-4)), Fact("tp", Fraction(1, 2)))),
    ("tp = 6 / 3 / 2 - 1 - 1", "state", None, (Fact("tp", Fraction(-1)),)),
    ("gpu_memory_utilization = 1 - 8%", "state", None,
     (Fact("gpu_memory_utilization", Fraction(23, 25)),)),
    ("tpot", "value", "tpot", ()),
    ("tpot?", "value", "tpot", ()),
    ("context given tpot = 20 ms", "value", "context_tokens", (Fact("tpot", 20 * MS),)),
    ("tpot = 30 ms, context = ?", "value", "context_tokens", (Fact("tpot", 30 * MS),)),
    ("model llama-3.1-8b, gpu h100-sxm, batch = 8, context = 4k, tpot", "value", "tpot",
     (UseModel("llama-3.1-8b"), UseGpu("h100-sxm"), Fact("batch", Fraction(8)),
      Fact("context_tokens", Fraction(4000)))),
    ("batch = 8, tpot where context = 4k", "value", "tpot",
     (Fact("batch", Fraction(8)), Fact("context_tokens", Fraction(4000)))),
    ("max context given tpot <= 30 ms, gpu 8 x h100-sxm, batch 32", "max", "context_tokens",
     (Limit("tpot", "<=", 30 * MS), UseGpu("h100-sxm", 8), Fact("batch", Fraction(32)))),
    ("tpot given 8 h100-sxm -> us # soon", "value", "tpot", (UseGpu("h100-sxm", 8),)),
    ("max context ? given batch 32 ?", "max", "context_tokens", (Fact("batch", Fraction(32)),)),
    ("min tpot st tp = 8", "min", "tpot", (Fact("tp", Fraction(8)),)),
    ("tpot with batch = 1_000 # the largest", "value", "tpot", (Fact("batch", Fraction(1000)),)),
    ("lora_forward.A", "value", "lora_forward.A", ()),
]  # fmt: skip


@pytest.mark.parametrize(("line", "verb", "find", "statements"), LINES)
def test_a_line_means(
    line: str, verb: str, find: str | None, statements: tuple[Statement, ...]
) -> None:
    question = parse(line)
    assert question.text == line
    assert (question.verb, question.find) == (verb, find)
    assert [content(s) for s in question.statements] == [content(s) for s in statements]


@pytest.mark.parametrize(
    ("line", "unit"),
    [
        ("tpot -> us", "us"),
        ("tpot in us", "us"),
        ("tpot \u2192 \u00b5s given batch = 3", "us"),
        ("vram_bytes -> GiB", "GiB"),
        ("context -> ktok", "ktok"),
        ("mbu -> %", "%"),
        ("goodput -> /s", "1/s"),
        ("cost -> $/ktok", "$/ktok"),
        ("price given batch = 3 -> $/day", "$/day"),
    ],
)
def test_a_unit_is_asked(line: str, unit: str) -> None:
    question = parse(line)
    assert question.unit == parse_unit(unit)
    assert str(question.unit) == unit


@pytest.mark.parametrize(
    ("line", "notes"),
    [
        ("batch = 32, tpot <= 30 ms, gpu 8 x h100-sxm, model llama-3.1-8b", ()),
        ("ctx", ("ctx read as context_tokens",)),
        ("TPOT", ("TPOT read as tpot",)),
        ("frame = 8", ("frame read as frames",)),
        ("batch 32", ("batch 32 read as batch = 32",)),
        ("context_tokens = 128k", ("128k = 128 000, not 131 072 (128Ki)",)),
        ("context_tokens = 128Ki", ("128Ki = 131 072",)),
        ("weight_bytes = 2kB", ()),
        ("n_params = 70B", ("70B read as 70 000 000 000",)),
        ("weight_bytes = 70B", ("70B read as 70 bytes",)),
        ("weight_bytes = 70 KB", ("KB read as kB (1000 bytes; KiB is 1024)",)),
        ("link_bandwidth = 400 Gbps", ("400 Gbps = 50 GB/s",)),
        ("peak_flops = 989 TFLOPS", ("TFLOPS read as TFLOP/s",)),
        ("8 h100-sxm", ("8 h100-sxm read as gpu 8 x h100-sxm",)),
    ],
)
def test_only_what_was_interpreted_is_noted(line: str, notes: tuple[str, ...]) -> None:
    shown = tuple(note.replace(THIN_SPACE, " ") for note in parse(line).read_as)
    assert shown == notes


def test_a_statement_keeps_its_text() -> None:
    question = parse("max context given  tpot<=30 ms , batch 32, 1 <= tp <= 8 # and so on")
    texts = [statement.text for statement in question.statements]
    assert texts == ["tpot<=30 ms", "batch 32", "tp >= 1", "tp <= 8"]


def test_tenths_are_tenths() -> None:
    (fact,) = parse("mbu = 0.1 + 0.2").statements
    assert content(fact) == ("Fact", "mbu", Fraction(3, 10), False)


# --- mistakes --------------------------------------------------------------------------------


@pytest.mark.parametrize("path", MISTAKES, ids=lambda path: path.stem)
def test_a_mistake_says(path: Path) -> None:
    line = path.read_text(encoding="utf-8").removesuffix("\n")
    with pytest.raises(Problem) as caught:
        parse(line)
    expected = path.with_suffix(".out").read_text(encoding="utf-8")
    assert complain(caught.value) + "\n" == expected


def test_every_kind_of_mistake_of_the_grammar_has_its_example() -> None:
    stems = {path.stem.split("-")[0] for path in MISTAKES}
    assert {"e1", "e2", "e3", "e4", "e8", "e13"} <= stems
    assert {p.stem for p in MISTAKES} == {
        p.stem for p in (HERE / "golden" / "mistakes").glob("*.out")
    }


@pytest.mark.parametrize("verb", LATER)
def test_a_verb_that_is_to_come_is_never_read_as_something_else(verb: str) -> None:
    for line in (verb, f"{verb} tpot", f"{verb} batch = 3"):
        with pytest.raises(Problem, match="is not understood yet"):
            parse(line)


def test_no_word_of_the_grammar_is_a_quantity() -> None:
    reserved = {
        *(*LATER, *EXTREMES, *NAMED_ITEMS, "given", "where", "st", "with", "in", "over", "by"),
        *("for", "top", "as", "to", "step", "log", "log2", "x", "yes", "no", "true", "false"),
    }
    assert not reserved & {*ALIASES, *(quantity.name for quantity in SCALARS)}


@pytest.mark.parametrize(
    "line",
    [
        "__import__('os')",
        "tpot = __import__('os').system('true')",
        "eval('1')",
        "tpot = (lambda: 0)()",
        "tpot; import os",
        "{tpot}",
        "tpot = 'x'",
        "tpot = [1, 2]",
        "`tpot`",
        "tp = 9**9**9**9",
        "tp = " + "(" * 5000 + "1" + ")" * 4900,
        "tp = " + "-" * 9000 + "x",
        "tp = " + "*".join(["1e60"] * 1500),
        "tp = " + "*".join(["1 ns"] * 1500),
        "tp = ((((2^60)^60)^60)^60)",
    ],
)
def test_nothing_is_executed_and_everything_is_bounded(line: str) -> None:
    with pytest.raises(Problem) as caught:
        parse(line)
    shown = complain(caught.value).split("\n")
    assert "^" in shown[2]
    assert all(len(row) <= WIDEST + 10 for row in shown)


def test_many_signs_are_no_nesting() -> None:
    assert content(parse("weight = " + "-" * 9001 + "1").statements[0])[2] == -1


def test_a_line_is_at_most_ten_thousand_characters() -> None:
    assert parse("tpot" + " " * (LONGEST_LINE - 4)).find == "tpot"
    with pytest.raises(Problem) as caught:
        parse("tpot" + " " * (LONGEST_LINE - 3))
    message = "error[syntax]: line of 10001 characters; at most 10000 are read"
    assert complain(caught.value) == message


def test_carets_stand_under_wide_characters() -> None:
    with pytest.raises(Problem) as caught:
        parse('model "\u6a21\u578b", tp == 8')
    _, line, carets = complain(caught.value).split("\n")[:3]
    # Two characters of two columns each stand before the fault.
    assert carets.index("^") == line.index("==") + 2


def test_a_message_moves_no_cursor() -> None:
    with pytest.raises(Problem) as caught:
        parse('model "\x1b[2J\r\b", contxt')
    assert all(row.isprintable() for row in complain(caught.value).split("\n"))


def test_a_problem_from_below_is_shown_in_the_line_that_is_at_hand() -> None:
    problem = Problem("gpu", "'h100' names 3 devices", ("h100-sxm, h100-pcie, h100-nvl",), "h100")
    assert complain(problem, "gpu 8 x h100").split("\n") == [
        "error[gpu]: 'h100' names 3 devices",
        "  gpu 8 x h100",
        "          ^^^^",
        "  h100-sxm, h100-pcie, h100-nvl",
    ]


# --- values of JSON keys ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "statement"),
    [
        ("tpot", "30 ms", Fact("tpot", 30 * MS)),
        ("tpot", "<= 30 ms", Limit("tpot", "<=", 30 * MS)),
        ("tpot", "\u2265 5 ms", Limit("tpot", ">=", 5 * MS)),
        ("tpot", ":= 5 ms", Fact("tpot", 5 * MS, override=True)),
        ("bs", "32", Fact("batch", Fraction(32))),
        ("price", "2.5", Fact("price_per_gpu_hour", Fraction(5, 2))),
        ("reload_time", "= recompute_time", Same("reload_time", "recompute_time")),
        ("reload_time", "recompute_time", Same("reload_time", "recompute_time")),
        ("probe_ok", "yes", Fact("probe_ok", True)),
        ("gpu", "8 x h100-sxm", UseGpu("h100-sxm", 8)),
        ("gpu", "h100-sxm", UseGpu("h100-sxm")),
        ("model", "llama-3.1-70b", UseModel("llama-3.1-70b")),
        ("model", "/models/with a space, and a comma.json",
         UseModel("/models/with a space, and a comma.json")),
        ("weight_dtype", "fp8", Choose("weight_dtype", "fp8")),
        ("mig_profile", "1g.10gb", Choose("mig_profile", "1g.10gb")),
        ("prefix_block_hash.parent_hash", "9f86, = 3",
         Fact("prefix_block_hash.parent_hash", "9f86, = 3")),
    ],
)  # fmt: skip
def test_a_value_of_json_is_read_by_the_same_grammar(
    name: str, text: str, statement: Statement
) -> None:
    assert [content(s) for s in read_statement(name, text)] == [content(statement)]


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("vram_bytes", "80 gb", "unit"),
        ("tpot", "30 GB", "dimension"),
        ("tpot", "", "syntax"),
        ("tpot", "?", "syntax"),
        ("tpot", "30 ms, batch = 3", "syntax"),
        ("tpot", "30 ms given batch = 3", "syntax"),
        ("contxt", "30", "name"),
        ("batch = 3, tp", "30", "name"),
        ("", "30", "name"),
        ("weight_dtype", "int3", "domain"),
        ("gpu", "", "syntax"),
        ("model", "", "syntax"),
        ("tpot", "1" * 20_000, "syntax"),
    ],
)
def test_a_wrong_value_of_json_is_a_problem(name: str, text: str, kind: str) -> None:
    with pytest.raises(Problem) as caught:
        read_statement(name, text)
    assert caught.value.kind == kind


def test_the_problem_of_a_json_value_shows_name_and_value() -> None:
    with pytest.raises(Problem) as caught:
        read_statement("vram_bytes", "80 gb")
    assert complain(caught.value).split("\n")[1:3] == [
        "  vram_bytes = 80 gb",
        "                  ^^",
    ]


def test_every_alias_has_a_canonical_name() -> None:
    for alias, name in ALIASES.items():
        assert canonical_name(alias) == canonical_name(name) == name


# --- properties ------------------------------------------------------------------------------

NAMES = st.sampled_from([q.name for q in SCALARS if q.unit.text != "bool"])
VALUES = st.one_of(
    st.integers(-(10**40), 10**40).map(Fraction),
    st.fractions(max_denominator=10**50),
    st.decimals(allow_nan=False, allow_infinity=False, places=6).map(Fraction),
    st.builds(lambda n, power: n * Fraction(10) ** power, st.integers(1, 99), st.integers(-30, 30)),
)
WORDS = st.text("abcdefghijklmnopqrstuvwxyz0123456789-._/", min_size=1, max_size=12)
PATHS = st.text(min_size=1).filter(lambda text: not {'"', "\n"} & set(text))
FORMATS = st.sampled_from([*BYTES_PER_ELEMENT])
STATEMENTS = st.one_of(
    st.builds(Fact, NAMES, VALUES, st.booleans()),
    st.builds(Limit, NAMES, st.sampled_from(["<=", ">=", "<", ">"]), VALUES),
    st.builds(Fact, st.just("probe_ok"), st.booleans()),
    st.builds(UseModel, WORDS | PATHS),
    st.builds(UseGpu, WORDS.map(lambda word: f"g{word}"), st.none() | st.integers(1, 10**6)),
    st.builds(Choose, st.sampled_from(["weight_dtype", "kv_dtype"]), FORMATS),
    st.just(Same("reload_time", "recompute_time")),
)  # fmt: skip


@settings(max_examples=500)
@given(st.sampled_from(["state", "value", "max", "min"]), NAMES, st.lists(STATEMENTS, max_size=4))
def test_the_canonical_spelling_is_read_as_the_same_question(
    verb: str, name: str, statements: list[Statement]
) -> None:
    question = Question("", verb, None if verb == "state" else name, tuple(statements))
    assert meaning(parse(canonical(question))) == meaning(question)


@settings(max_examples=500)
@given(NAMES, st.fractions(Fraction(1, 10**9), 10**18))
def test_what_is_shown_can_be_typed(name: str, value: Fraction) -> None:
    quantity = quantity_named(name)
    (fact,) = parse(f"{name} = {display(value, quantity.unit, quantity.label)}").statements
    assert isinstance(fact, Fact)
    assert abs(fact.value - value) <= value / 2000


SEEDS = [line for line, *_ in LINES if line] + [
    path.read_text(encoding="utf-8").strip() for path in MISTAKES
]
PIECES = st.sampled_from([
    *"=<>,()+-*/^?$%#:;.\"'_{}[]0123456789 xkB\n\t\u2264\u00d7\u2192\u00b5\u202f\u00b1\x00",
    *("<=", ">=", ":=", "->", "given ", "max ", "min ", "model ", "gpu ", " GB", " ms", "30", "Ki"),
    *("tpot", "context", "batch", "weight_dtype", "probe_ok", " in ", "1,000", "e", "8 x ", ".."),
])  # fmt: skip
EDITS = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 6), PIECES), min_size=1, max_size=6)


def outcome(line: str) -> Question | Problem:
    try:
        return parse(line)
    except Problem as problem:
        return problem


def read_or_complain(line: str) -> None:
    """Whatever the line is, it is a question or a problem that can be shown in it."""
    found = outcome(line)
    if isinstance(found, Question):
        assert meaning(parse(canonical(found))) == meaning(found)
    else:
        assert found.line == line
        assert complain(found).startswith(f"error[{found.kind}]: ")


@settings(max_examples=3000, deadline=None)
@given(st.sampled_from(SEEDS), EDITS)
def test_a_damaged_line_is_a_question_or_a_problem(
    line: str, edits: list[tuple[int, int, str]]
) -> None:
    for place, length, piece in edits:
        start = place % (len(line) + 1)
        line = line[:start] + piece + line[start + length :]
    read_or_complain(line)


@settings(max_examples=2000, deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join))
def test_a_heap_of_pieces_is_a_question_or_a_problem(line: str) -> None:
    read_or_complain(line)


@settings(max_examples=1000, deadline=None)
@given(st.text(max_size=60))
@example("\x00")
@example("tpot = \u0663 ms")
@example("\ud800")
def test_any_text_is_a_question_or_a_problem(line: str) -> None:
    read_or_complain(line)


@settings(max_examples=1000, deadline=None)
@given(st.text(max_size=12) | NAMES | st.sampled_from(sorted(NAMED_ITEMS)), st.text(max_size=20))
def test_any_json_value_is_statements_or_a_problem(name: str, text: str) -> None:
    def read() -> tuple[Statement, ...] | Problem:
        try:
            return read_statement(name, text)
        except Problem as problem:
            return problem

    found = read()
    assert complain(found).startswith("error[") if isinstance(found, Problem) else found


def test_reading_a_line_imports_nothing_heavy() -> None:
    program = (
        "import sys; from derive.question import parse;"
        "parse('max context given tpot <= 30 ms, TP = 8, gpu 8 x h100-sxm');"
        "print([m for m in ('sympy', 'numpy', 'networkx', 'z3', 'mpmath') if m in sys.modules])"
    )
    run = [sys.executable, "-c", program]
    result = subprocess.run(run, capture_output=True, text=True, check=True, cwd=HERE.parent)
    assert result.stdout == "[]\n"
