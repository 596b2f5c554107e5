"""Derivations: what they contain, that letters do not clash, that printed numbers recompute."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from derive.as_html import as_html
from derive.as_markdown import as_markdown
from derive.as_mathml import mathml
from derive.as_tex import as_tex
from derive.conversation import Conversation
from derive.derivation_limits import bound_of
from derive.document_letters import document_letters
from derive.letters import unicode_letter
from derive.outcome import Outcome
from derive.paper import Aligned, Grid, Math, Section, Title, math_in
from derive.printed import printed
from derive.session import Session
from derive.setting import setting_of
from derive.tex_break import lines_of
from derive.tex_tree import latex_of, parse
from formulas.catalogue import catalogue
from formulas.errors import Problem
from formulas.formula import VOCABULARY
from tests.documents import QUESTIONS, papers, replies

Here = Callable[..., Any]
MAX = QUESTIONS[0]


def sections(question: str) -> list[str]:
    return [block.text for block in papers()[question] if isinstance(block, Section)]


# -- what is in it


def test_a_largest_value_has_every_part() -> None:
    assert isinstance(papers()[MAX][0], Title)
    wanted = [
        "Answer", "Question", "Facts", "Letters", "Formulas used", "What is fixed", "Limit: tpot",
        "Limit: memory", "Combined", "Check by substitution", "Sensitivity", "Assumptions",
        "To reproduce",
    ]  # fmt: skip
    assert [name for name in sections(MAX) if name in wanted] == wanted


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_lines_of_a_document_come_to_the_same_answer(question: str) -> None:
    reply = replies()[question]
    text = as_markdown(reply.derivation())
    blocks = re.findall(r"```text\n(.*?)\n```", text.partition("## To reproduce")[2], re.DOTALL)
    conversation = Conversation(seconds=0.0)

    def said() -> Outcome:
        last = conversation
        for line in blocks[0].splitlines():
            last, outcome = last.say(line)
        return outcome

    if reply.status == "contradiction":
        # Facts that contradict each other are refused before anything is asked.
        with pytest.raises(Problem, match="contradict"):
            said()
        return
    outcome = said()
    assert outcome.status == reply.status
    assert outcome.value == reply.value


@pytest.mark.parametrize("question", [q for q in QUESTIONS if " <= " in q or "min " in q])
def test_an_infeasible_answer_says_what_clashes(question: str) -> None:
    reply = replies()[question]
    if reply.status != "infeasible":
        assert "Answer" in sections(question)
        return
    text = as_markdown(reply.derivation())
    for statement in reply.to_dict()["conflict"]:
        assert statement["text"].split()[0].replace("_", "\\_") in text


def test_the_formula_of_the_sheet_is_printed_as_on_the_sheet() -> None:
    found = [latex for latex, _ in math_in(papers()[QUESTIONS[12]])]
    wanted = (
        r"\text{KV bytes/token} = 2 \times n_\text{layers} \times n_\text{kv heads} \times "
        r"d_\text{head} \times \text{bytes per element}"
    )
    assert wanted in found


def test_a_limit_says_why_its_direction_stays_or_turns() -> None:
    text = as_markdown(papers()[MAX])
    assert "rises with it" in text
    turned = as_markdown(papers()[QUESTIONS[11]])
    assert "falls with it" in turned
    assert "becomes" in turned


def test_the_bound_of_a_limit_is_where_the_engine_has_it() -> None:
    """Just inside the bound the engine's own check holds, just beyond it does not."""
    reply = replies()[MAX]
    answer = reply.answer
    setting = setting_of(
        answer.find, reply.asked.quantity, answer.evidence, reply.asked.request().scenario,
        {answer.find: answer.value},
    )  # fmt: skip
    looked_at = 0
    for check in answer.evidence.checks:
        if check.name not in ("tpot", "memory"):
            continue
        found = bound_of(setting, check)
        assert found is not None
        for beyond in (False, True):
            context = math.floor(found.bound) + beyond
            line = f"{check.quantity} given {MAX.split('given ')[1]}, context = {context}"
            value = Session().ask(line).value
            limit = float(check.right or 0)
            assert (value > limit) is beyond
            looked_at += 1
    assert looked_at == 4


# -- letters


def test_no_two_quantities_of_a_document_share_a_letter() -> None:
    looked_at = 0
    for question, paper in papers().items():
        owner: dict[str, str] = {}
        for block in paper:
            if not isinstance(block, Grid) or "letter" not in block.columns:
                continue
            letter, name = block.columns.index("letter"), block.columns.index("name")
            for row in block.rows:
                mark, typed = row[letter][0], row[name][0]
                assert isinstance(mark, Math)
                shown = unicode_letter(mark.latex)
                quantity = getattr(typed, "text", typed)
                assert owner.setdefault(shown, quantity) == quantity, question
                looked_at += 1
    assert looked_at > 300


def test_letters_that_clash_on_the_sheet_are_parted() -> None:
    """P is the peak of the roofline and the stages of the pipeline, B bandwidth and block."""
    known = catalogue().relations
    rows = [known[k] for k in ("roofline", "pipeline_bubble", "paged_block_lookup.block_slot")]
    letters, replaced = document_letters(rows, ())
    assert len({unicode_letter(v) for v in letters.values()}) == len(letters)
    assert replaced


def test_all_relations_together_have_letters_of_their_own() -> None:
    letters, _ = document_letters(catalogue().relations.values(), VOCABULARY)
    assert len({unicode_letter(letter) for letter in letters.values()}) == len(letters)


# -- numbers


NUMBER = re.compile(
    r"(-?\d+(?:\\,\d{3})*(?:\.\d+)?)(?: \\cdot 10\^\{(-?\d+)\})?"
    r"(?:\\,(\\mu\\mathrm\{s\}|\\mathrm\{[^{}]*\}))?"
)
SCALES = {
    "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "PB": 1e15, "s": 1.0, "ms": 1e-3,
    "ns": 1e-9, "FLOP": 1, "kFLOP": 1e3, "MFLOP": 1e6, "GFLOP": 1e9, "TFLOP": 1e12, "PFLOP": 1e15,
}  # fmt: skip


def read(latex: str) -> str:
    """A line of numbers as Python: written for this test, it knows nothing of the printer."""

    def number(found: re.Match[str]) -> str:
        digits = found[1].replace(r"\,", "")
        unit = (found[3] or "").removeprefix(r"\mathrm{").removesuffix("}")
        scale = 1e-6 if "mu" in unit else SCALES.get(unit.partition("/")[0], 1)
        return f"({digits}e{found[2] or 0}*{scale!r})"

    text = NUMBER.sub(number, latex)
    for _ in range(6):
        text = re.sub(r"\\d?frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))", text)
        text = re.sub(r"\^\{([^{}]*)\}", r"**(\1)", text)
    text = text.replace("^", "**")
    text = text.replace(r"\left\lceil", "ceil(").replace(r"\right\rceil", ")")
    text = text.replace(r"\left\lfloor", "floor(").replace(r"\right\rfloor", ")")
    text = re.sub(r"\\left\(|\\right\)", lambda m: m[0][-1], text)
    for mark, word in ((r"\cdot", "*"), (r"\times", "*"), (r"\max", "max"), (r"\min", "min"),
                       (r"\;", " "), (r"\,", "*")):  # fmt: skip
        text = text.replace(mark, word)
    return re.sub(r"\)\s*\(", ")*(", text)


def test_the_printed_numbers_come_to_the_printed_result() -> None:
    """Every line of numbers is computed as a reader would, and agrees to a digit of its result."""
    looked_at, unread = 0, []
    for question, paper in papers().items():
        for block in paper:
            if not isinstance(block, Aligned):
                continue
            for (_, line), (_, result) in zip(block.rows, block.rows[1:], strict=False):
                numbers, shown = (
                    re.sub(r"^(=|\\le|\\ge|\\approx) ", "", s) for s in (line, result)
                )
                if re.search(r"\\text|[a-zA-Z]_|\\sqrt|cases|\\bmod", numbers):
                    continue
                try:
                    names = {"ceil": math.ceil, "floor": math.floor, "max": max, "min": min}
                    left = eval(read(numbers), {"__builtins__": {}}, names)
                    right = eval(read(shown), {"__builtins__": {}}, names)
                except (SyntaxError, NameError, TypeError):
                    unread.append(numbers)
                    continue
                digits = re.sub(r"\D", "", (NUMBER.match(shown) or [""])[0].split("\\mathrm")[0])
                near = 10.0 ** (1 - min(len(digits.lstrip("0")) or 1, 4)) * 0.51
                assert math.isclose(left, right, rel_tol=max(near, 5.1e-4), abs_tol=1e-12), (
                    question, numbers, shown, left, right,
                )  # fmt: skip
                looked_at += 1
    assert looked_at > 400
    assert len(unread) < looked_at / 10, unread[:10]


@pytest.mark.parametrize(
    ("name", "value", "latex"),
    [
        ("step_time", Fraction(3, 100), r"30\,\mathrm{ms}"),
        ("weight_bytes", Fraction(141107412992), r"141.1\,\mathrm{GB}"),
        ("batch", Fraction(35479), r"35\,479"),
        ("kv_bytes_per_token", Fraction(327680), r"327\,680\,\mathrm{B/tok}"),
        ("link_latency", Fraction(15, 10**7), r"1.5\,\mu\mathrm{s}"),
        ("weight_bytes", Fraction(999_999_999_999), r"1\,\mathrm{TB}"),
        ("price_per_gpu_hour", Fraction(5, 2), r"2.5\,\mathrm{USD/h}"),
    ],
)
def test_amounts_as_printed(name: str, value: Fraction, latex: str) -> None:
    assert printed(VOCABULARY[name], value).latex == latex


def test_no_sign_stands_before_a_sign() -> None:
    for question, paper in papers().items():
        for latex, _ in math_in(paper):
            bare = latex.replace(" ", "").replace(r"\left", "")
            assert not re.search(r"[-+]-|-\(-|\\frac\{-\(|--", bare), (question, latex)


# -- the tree of a formula, and how it is broken


def test_every_formula_reads_back_from_its_tree() -> None:
    for paper in papers().values():
        for latex, _ in math_in(paper):
            assert parse(latex_of(parse(latex))) == parse(latex)
            assert mathml(latex).startswith("<math")


def test_breaking_loses_nothing() -> None:
    latex = r"x = \frac{a + b}{c} + d \times \max(e, \; f) - g"
    lines = lines_of(latex, 9.0)
    assert len(lines) > 1
    assert parse(" ".join(lines)) == parse(latex)


@pytest.mark.parametrize("latex", [r"\frac{a}", r"\left( a", r"{a", r"\begin{cases} a"])
def test_what_does_not_match_is_refused(latex: str) -> None:
    with pytest.raises((ValueError, KeyError)):
        parse(latex)


# -- files and options


@pytest.mark.parametrize(
    ("suffix", "start"), [("tex", r"\documentclass"), ("md", "# "), ("html", "<!DOCTYPE html>")]
)
def test_a_question_is_written_to_a_file(
    here: Here, tmp_path: Path, suffix: str, start: str
) -> None:
    path = tmp_path / f"report.{suffix}"
    code, out, _ = here("ask", f"{QUESTIONS[12]} to {path}")
    assert code == 0
    assert str(path) in out
    text = path.read_text(encoding="utf-8")
    assert text.startswith(start)
    code, printed_text, _ = here("ask", f"--{suffix}", QUESTIONS[12])
    assert printed_text == text


def test_derive_writes_the_derivation_of_a_question_or_of_the_last_answer(tmp_path: Path) -> None:
    """The same text three ways, and an object for scripts where the name ends with json."""
    conversation, _ = Conversation().say("model llama-3.1-70b, gpu 8 x h100-sxm, batch = 32")
    asked, plain = conversation.say(f"max context to {tmp_path / 'a.md'}")
    asked.say(f"derive context to {tmp_path / 'b.md'}")
    asked.say(f"derive to {tmp_path / 'c.md'}")
    conversation.say(f"derive max context to {tmp_path / 'd.md'}")
    texts = {(tmp_path / f"{name}.md").read_text(encoding="utf-8") for name in "abcd"}
    assert len(texts) == 1
    _, shown = asked.say("derive")
    assert shown.data["derivation"] in texts
    asked.say(f"derive context to {tmp_path / 'e.json'}")
    stored = json.loads((tmp_path / "e.json").read_text(encoding="utf-8"))
    assert stored["value"] == plain.value
    with pytest.raises(Problem, match="no answer yet"):
        conversation.say("derive to report.tex")
    # Another quantity than the last one is asked anew.
    _, other = asked.say(f"derive kv_bytes_per_token to {tmp_path / 'f.tex'}")
    assert other.value == 2 * 80 * 8 * 128 * 2


@pytest.mark.parametrize(
    "line", ["derive batch = 3", "derive derive tpot", "derive plot sens tpot"]
)
def test_derive_takes_a_question(line: str) -> None:
    with pytest.raises(Problem, match="a question stands behind 'derive'"):
        Conversation().say(line)


@pytest.mark.parametrize(
    ("target", "words"),
    [("report.pdf", ".tex, .md, .html"), ("nowhere/report.tex", "no directory 'nowhere'")],
)
def test_a_file_that_cannot_be_is_refused(here: Here, target: str, words: str) -> None:
    code, _, err = here("ask", f"tpot given batch = 3 to {target}")
    assert code == 2
    assert words in err


@pytest.mark.parametrize("form", ["--tex", "--md", "--html"])
@pytest.mark.parametrize(("question", "code"), [("tpot given batch = 3", 3), (QUESTIONS[3], 1)])
def test_a_refusal_has_a_document_and_its_exit_code(
    here: Here, form: str, question: str, code: int
) -> None:
    found, out, _ = here("ask", form, question)
    assert found == code
    assert "To reproduce" in out


def test_facts_alone_are_not_written(here: Here) -> None:
    code, _, err = here("ask", "batch = 3 to x.tex")
    assert code == 2
    assert "nothing is asked" in err


def test_a_table_and_a_formula_are_documents_too() -> None:
    session = Session("model llama-3.1-8b, gpu h100-sxm, context = 8k")
    table = session.which("kv_dtype", given="batch = 4")
    assert "<table>" in table._repr_html_()
    assert set(table._repr_mimebundle_()) == {"text/plain", "text/html"}
    formula = session.say("show ring_all_reduce")
    assert r"T_\text{ring}" in formula._repr_latex_()
    assert "<math" in formula._repr_html_()


def test_an_answer_in_a_notebook() -> None:
    reply = replies()[MAX]
    assert reply._repr_latex_().startswith("$$")
    assert "35\u202f479" in reply._repr_html_()
    assert set(reply._repr_mimebundle_()) == {"text/plain", "text/html", "text/latex"}
    assert "$$" in reply.to_markdown("jupyter")
    with pytest.raises(ValueError, match="github or jupyter"):
        reply.to_markdown("word")


def test_what_a_person_types_is_only_text() -> None:
    """A path may hold every mark that TeX, Markdown and HTML have a use for."""
    from derive.paper import Code, Paragraph, Typed

    text = r"a\b{c}$d&e#f%g_h~i^j<k>|l`m*n[o]'\"-- ± µ 模 <script>"
    paper = (Title(text), Paragraph((text, Typed(text))), Code((text,)))
    assert "<script>" not in as_html(paper)
    assert "[U+6A21]" in as_tex(paper)
    assert r"\textbackslash{}b\{c\}\$d\&e\#f" in as_tex(paper)
    assert r"a\\b\{c\}\$d&e\#f" in as_markdown(paper)
