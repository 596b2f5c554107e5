"""What is printed means what was meant: read back from the text, an expression has its value.

The readers below know only how products are written side by side and the usual precedence.
"""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import Any

import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from derive.as_latex import latex
from derive.as_plain import plain, relation_plain
from derive.plain_styles import LETTERS
from formulas.catalogue import catalogue
from formulas.formula import VOCABULARY, Relation

QUANTITIES = (
    "batch",
    "link_latency",
    "message_bytes",
    "link_bandwidth",
    "draft_tokens",
    "peak_flops",
)
ONE_MARK = dict(zip(QUANTITIES, "abcdfg", strict=True))
VALUES = dict(zip(QUANTITIES, (2.5, 0.75, 3.5, 1.25, 2.25, 0.4), strict=True))
SYMBOLS = [VOCABULARY[name].symbol for name in QUANTITIES]
FUNCTIONS = {
    "min": min, "max": max, "ceil": math.ceil, "floor": math.floor, "abs": abs, "sqrt": math.sqrt,
    "exp": math.exp, "ln": math.log, "round": round,
}  # fmt: skip
TOKEN = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?|[A-Za-z_]\w*|\*\*|\S")
UNICODE = str.maketrans({"−": "-", "·": "*", "×": "*", "\u2009": None, "^": "**"})
RAISED = re.compile(r"([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
FROM_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def leaves() -> st.SearchStrategy[Any]:
    numbers = st.fractions(-5, 5, max_denominator=7).filter(bool)
    return st.one_of(
        st.sampled_from(SYMBOLS), numbers.map(lambda f: sympy.Rational(f.numerator, f.denominator))
    )


def grown(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    pairs = st.tuples(parts, parts)
    return st.one_of(
        pairs.map(lambda pair: pair[0] + pair[1]),
        pairs.map(lambda pair: pair[0] - pair[1]),
        pairs.map(lambda pair: pair[0] * pair[1]),
        pairs.filter(lambda pair: pair[1] != 0).map(lambda pair: pair[0] / pair[1]),
        pairs.map(lambda pair: sympy.Min(*pair)),
        pairs.map(lambda pair: sympy.Max(*pair)),
        parts.map(sympy.ceiling),
        parts.map(lambda part: part**2),
        parts.map(lambda part: sympy.sqrt(1 + part**2)),
        parts.map(lambda part: sympy.exp(-part)),
        leaves().map(sympy.Abs),
        leaves().map(lambda part: SYMBOLS[0] ** (part / SYMBOLS[1])),
    )


def grown_unevaluated(parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Sums, differences, products and quotients as an author might nest them."""

    def minus(part: Any) -> Any:
        return sympy.Mul(-1, part, evaluate=False)

    def over(part: Any) -> Any:
        return sympy.Pow(part, -1, evaluate=False)

    pairs = st.tuples(parts, parts)
    return st.one_of(
        pairs.map(lambda pair: sympy.Add(*pair, evaluate=False)),
        pairs.map(lambda pair: sympy.Add(pair[0], minus(pair[1]), evaluate=False)),
        pairs.map(lambda pair: sympy.Mul(*pair, evaluate=False)),
        pairs.map(lambda pair: sympy.Mul(pair[0], over(pair[1]), evaluate=False)),
        parts.map(lambda part: sympy.Pow(part, 2, evaluate=False)),
    )


AS_WRITTEN = st.recursive(st.sampled_from(SYMBOLS) | st.just(sympy.Integer(2)), grown_unevaluated)
EXPRESSIONS = st.recursive(leaves(), grown, max_leaves=6)


def value_of(expr: Any) -> float:
    """The value at the sample point; infinite where it is out of a float's reach."""
    at = {symbol: sympy.Rational(str(VALUES[symbol.name])) for symbol in SYMBOLS}
    number = sympy.N(expr.subs(at), 20)
    return float(number) if number.is_real and abs(number) < 10**12 else math.inf


def evaluated(line: str, values: dict[str, float]) -> float:
    """The value of a line of arithmetic in which factors stand side by side."""
    tokens = TOKEN.findall(line)
    written = tokens[:1]
    for left, right in pairwise(tokens):
        ends = left[-1].isalnum() or left[-1] in ")_"
        begins = right[0].isalnum() or right[0] in "(_"
        written += ["*"] if ends and begins and left not in FUNCTIONS else []
        written.append(right)
    return float(eval(" ".join(written), {"__builtins__": {}}, {**FUNCTIONS, **values}))


def from_letters(line: str) -> str:
    line = RAISED.sub(lambda found: f"**({found[1].translate(FROM_RAISED)})", line)
    line = re.sub(r"\|([^|]*)\|", r"abs(\1)", line)
    for mark, word in (("⌈", "ceil("), ("⌉", ")"), ("⌊", "floor("), ("⌋", ")"), ("√", "sqrt")):
        line = line.replace(mark, word)
    return line.translate(UNICODE)


def braced(text: str, start: int) -> tuple[str, int]:
    """What stands between the braces that open at the start, and the place after them."""
    depth = 0
    for place in range(start, len(text)):
        depth += (text[place] == "{") - (text[place] == "}")
        if not depth:
            return text[start + 1 : place], place + 1
    raise AssertionError(f"braces do not close: {text}")


def from_latex(line: str) -> str:
    line = re.sub(r"(?<=\d)\\,(?=\d{3})", "", line.replace(r"\dfrac", r"\frac"))
    while (start := line.find(r"\frac")) >= 0:
        top, after = braced(line, start + len(r"\frac"))
        bottom, end = braced(line, after)
        line = f"{line[:start]}(({top})/({bottom})){line[end:]}"
    while (start := line.find(r"\sqrt{")) >= 0:
        inside, end = braced(line, start + len(r"\sqrt"))
        line = f"{line[:start]}sqrt({inside}){line[end:]}"
    while (start := line.find("^{")) >= 0:
        inside, end = braced(line, start + 1)
        line = f"{line[:start]}**({inside}){line[end:]}"
    line = re.sub(r"\^(\w)", r"**\1", line)
    line = line.replace(r"\left| ", "abs(").replace(r" \right|", ")")
    line = line.replace(r"\left\lceil ", "ceil(").replace(r" \right\rceil", ")")
    for mark, word in (
        (r"\left", ""),
        (r"\right", ""),
        (r"\cdot", "*"),
        (r"\,", " "),
        (r"\;", " "),
        (r"\m", "m"),
    ):
        line = line.replace(mark, word)
    return line


def check(line: str, value: float, values: dict[str, float]) -> None:
    try:
        read = evaluated(line, values)
    except OverflowError:
        return
    assert math.isclose(read, value, rel_tol=1e-6, abs_tol=1e-9), line


def is_settled(expr: Any) -> bool:
    """True where no ceiling hangs on the last digit and every number prints exactly."""
    if not value_of(expr) < math.inf or expr.has(sympy.I, sympy.re, sympy.im):
        return False
    near = [value_of(part.args[0]) for part in expr.atoms(sympy.ceiling)]
    short = all(abs(n.p) < 10**20 and n.q < 10**20 for n in expr.atoms(sympy.Rational))
    return short and all(abs(x - round(x)) > 1e-6 for x in near if x < math.inf)


@settings(max_examples=100, deadline=None)
@given(EXPRESSIONS.filter(is_settled))
def test_latex_reads_back(expr: Any) -> None:
    line = latex(expr, ONE_MARK)
    assert line.count("{") == line.count("}")
    assert line.count(r"\left") == line.count(r"\right")
    assert not re.search(r"[+-] *[+-]", line)
    marks = {ONE_MARK[name]: value for name, value in VALUES.items()}
    check(from_latex(line), value_of(expr), {**marks, "e": math.e})


@settings(max_examples=100, deadline=None)
@given(EXPRESSIONS.filter(is_settled))
def test_names_read_back(expr: Any) -> None:
    line = plain(expr)
    assert not re.search(r"[+-] *[+-]", line)
    written = line.replace("^", "**").replace("·", "*")
    check(written, value_of(expr), {**VALUES, "e": math.e})


@settings(max_examples=100, deadline=None)
@given(EXPRESSIONS.filter(is_settled))
def test_letters_read_back(expr: Any) -> None:
    line = plain(expr, lambda symbol: ONE_MARK[symbol.name], style=LETTERS)
    assert not re.search(r"[+−] *[+−]", line)
    marks = {ONE_MARK[name]: value for name, value in VALUES.items()}
    check(from_letters(line), value_of(expr), {**marks, "e": math.e})


@settings(max_examples=200, deadline=None)
@given(AS_WRITTEN)
def test_what_is_written_reads_back(expr: Any) -> None:
    marks = {ONE_MARK[name]: value for name, value in VALUES.items()}
    try:
        value = value_of(expr)
    except ZeroDivisionError:
        assume(False)
    assume(value < math.inf)
    line = latex(expr, ONE_MARK, as_written=True)
    assert not re.search(r"[+-] *[+-]", line)
    check(from_latex(line), value, marks)
    line = plain(expr, as_written=True)
    check(line.replace("^", "**").replace("·", "*"), value, VALUES)


SCALAR = [
    relation
    for relation in catalogue().relations.values()
    if not relation.is_array
    and not relation.is_bound
    and not relation.value.has(sympy.Piecewise, sympy.Mod)
]


@pytest.mark.parametrize("relation", SCALAR, ids=lambda relation: relation.key)
def test_the_written_line_has_the_value_of_the_relation(relation: Relation) -> None:
    names = [*relation.inputs, *relation.cancels]
    values = {name: 1.25 + 0.37 * place for place, name in enumerate(names)}
    exact = {VOCABULARY[name].symbol: sympy.Rational(str(values[name])) for name in names}
    line = relation_plain(relation, letters=False).split(" = ")[-1].split(" ≈ ")[-1]
    wanted = float(sympy.sympify(relation.value).subs(exact).doit())
    check(line.replace("^", "**").replace("·", "*"), wanted, values)
