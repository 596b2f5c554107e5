"""Expressions and relations as LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from derive.figures import grouped, split_power_of_ten
from derive.layout import lay_out, relation_sides
from derive.letters import is_words, letter_of
from derive.shapes import (
    Call,
    Cases,
    Compare,
    Decimal,
    Fence,
    Integer,
    Item,
    Level,
    Logic,
    Name,
    Negative,
    Over,
    Power,
    Product,
    Quotient,
    Remainder,
    Root,
    Shape,
    Sum,
    Text,
    Transposed,
    Word,
)
from formulas.fold import Leaf, Rules, fold
from formulas.formula import Relation

SIGNS = {
    "=": "=", "≈": r"\approx", "!=": r"\ne", ">=": r"\ge", "<=": r"\le", ">": ">", "<": "<",
}  # fmt: skip
WORDS = {
    "infinity": r"\infty",
    "e": "e",
    "pi": r"\pi",
    "true": r"\text{true}",
    "false": r"\text{false}",
}
OPERATORS = {"min": r"\min", "max": r"\max", "ln": r"\ln"}
FENCES = {
    "ceiling": (r"\left\lceil ", r" \right\rceil"),
    "floor": (r"\left\lfloor ", r" \right\rfloor"),
    "absolute": (r"\left| ", r" \right|"),
}
OVER = {"sum": r"\sum", "max": r"\max"}
# What needs tall brackets around it.
TALL = (r"\frac", r"\dfrac", r"\sqrt", r"\begin", r"\left", r"\sum")
# Letters that are more than one mark want brackets where a factor or an exponent joins them.
LETTER_LEVELS = (("-", Level.NEGATIVE), (r"\max", Level.REACHING), (r"\frac", Level.FRACTION))
NOT_ONE_MARK = (" ", "^", "'", "|", "(", "[", r"\,")

Walk = Callable[[Any], Text]


def latex(expr: Any, letters: Mapping[str, str] | None = None, *, as_written: bool = False) -> str:
    """The expression as LaTeX, its terms and factors in a readable order.

    `letters`, by name of quantity, go before those of the vocabulary. With `as_written` the
    order is left alone.
    """
    return shape_latex(lay_out(expr, as_written=as_written), letters or {})


def shape_latex(shape: Shape, letters: Mapping[str, str]) -> str:
    """The shape as LaTeX; `letters` may as well be the values that stand in their places."""
    return fold(shape, _rules(letters, r"\frac")).text  # type: ignore[no-any-return]


def relation_latex(relation: Relation) -> str:
    """The relation in its own letters, as on the sheet; a comparison stands for itself."""
    left, right = relation_sides(relation)
    if left is None:
        return shape_latex(right, relation.letters)
    return line_latex(
        shape_latex(left, relation.letters),
        relation.relation,
        shape_latex(right, relation.letters),
    )


def line_latex(left: str, sign: str, right: str) -> str:
    """Two sides in LaTeX with the sign (=, ≈, >=, <=, >) between them."""
    return f"{left} {SIGNS[sign]} {right}"


def _rules(letters: Mapping[str, str], fraction: str) -> Rules:
    """The table for one place: a fraction is \\frac, inside another \\dfrac, in an exponent /."""

    def inside(shape: Shape, fraction: str) -> Text:
        return fold(shape, _rules(letters, fraction))  # type: ignore[no-any-return]

    def name(node: Name, _: Walk) -> Text:
        text = letter_of(node.symbol, letters)
        level = next((level for mark, level in LETTER_LEVELS if text.startswith(mark)), Level.ATOM)
        if level is Level.ATOM and any(mark in text for mark in NOT_ONE_MARK):
            level = Level.POWER
        return Text(text, level, is_words(text))

    def quotient(node: Quotient, walk: Walk) -> Text:
        if fraction == "/":
            return _slanted(walk(node.top), walk(node.bottom))
        top = inside(node.top, r"\dfrac")
        bottom = inside(node.bottom, "/" if isinstance(node.bottom, Quotient) else r"\dfrac")
        numbers = isinstance(node.top, Integer) and isinstance(node.bottom, Integer)
        command = r"\frac" if numbers else fraction
        return Text(rf"{command}{{{top.text}}}{{{bottom.text}}}", Level.FRACTION)

    def power(node: Power, walk: Walk) -> Text:
        base, exponent = within(walk(node.base), Level.ATOM), inside(node.exponent, "/").text
        return Text(f"{base}^{_argument(exponent)}", Level.POWER)

    def item(node: Item, walk: Walk) -> Text:
        """A plain index is a subscript; a longer one stands in square brackets, in its own size."""
        array = walk(node.array)
        places = ", ".join(inside(place, "/").text for place in node.places)
        if not all(isinstance(place, Name | Integer) for place in node.places):
            return Text(f"{array.text}[{places}]", Level.POWER, array.wordy)
        base = f"{{{array.text}}}" if any(mark in array.text for mark in "_^'") else array.text
        return Text(f"{base}_{_argument(places)}", Level.ATOM, array.wordy)

    return {
        **_SAME_EVERYWHERE,
        Name: Leaf(name),
        Quotient: Leaf(quotient),
        Power: Leaf(power),
        Item: Leaf(item),
    }


def _argument(text: str) -> str:
    return text if len(text) == 1 else f"{{{text}}}"


def within(text: Text, least: Level) -> str:
    """The text, in brackets where it holds together less tightly than its place wants."""
    return text.text if text.level >= least else bracketed(text.text)


def bracketed(text: str) -> str:
    """The text in brackets as tall as it is."""
    return rf"\left( {text} \right)" if any(mark in text for mark in TALL) else f"({text})"


def _slanted(top: Text, bottom: Text) -> Text:
    return Text(f"{within(top, Level.PRODUCT)} / {within(bottom, Level.POWER)}", Level.SLASH)


def _integer(node: Integer, _: Walk) -> Text:
    short, exponent = split_power_of_ten(node.value)
    return _scaled(grouped(str(short), r"\,"), exponent)


def _scaled(digits: str, exponent: int) -> Text:
    if not exponent:
        return Text(digits, Level.ATOM)
    ten = f"10^{exponent}" if 0 <= exponent < 10 else f"10^{{{exponent}}}"
    return (
        Text(ten, Level.POWER) if digits == "1" else Text(rf"{digits} \cdot {ten}", Level.FRACTION)
    )


def _sum(node: Sum, walk: Walk) -> Text:
    line = ""
    for term in node.terms:
        sign = "-" if term.negative else "+"
        line += f" {sign} " if line else sign.replace("+", "")
        # Cases have a mark on their left only, so at the end of a line they need no brackets.
        last = term is node.terms[-1] and isinstance(term.shape, Cases)
        line += within(walk(term.shape), Level.OPEN if last else Level.REACHING)
    return Text(line, Level.SUM)


def _product(node: Product, walk: Walk) -> Text:
    factors = [walk(factor) for factor in node.factors]
    wordy = any(factor.wordy for factor in factors)
    last = factors.pop()
    factors = [factor_text(factor, Level.FRACTION) for factor in factors]
    factors.append(
        factor_text(last, Level.REACHING if last.level is Level.REACHING else Level.FRACTION)
    )
    line = factors[0].text
    for left, right in pairwise(factors):
        line += _between(left, right, wordy) + right.text
    return Text(line, Level.PRODUCT)


def factor_text(text: Text, least: Level) -> Text:
    """The text as a factor: in brackets, and so an atom, where it needs them."""
    return text if text.level >= least else Text(bracketed(text.text), Level.ATOM, text.wordy)


def _between(left: Text, right: Text, wordy: bool) -> str:
    """What stands between two factors: a sign around words, numbers and fractions, else a space."""
    if wordy:
        return r" \times "
    # An amount with its unit stands apart from a fraction.
    unit = r"\mathrm{" in left.text and right.level is Level.FRACTION
    if unit or right.text[0].isdigit() or left.level == right.level == Level.FRACTION:
        return r" \cdot "
    return " " if left.text[-1].isdigit() and left.level is Level.ATOM else r" \, "


def _root(node: Root, walk: Walk) -> Text:
    degree = "" if node.degree == 2 else f"[{node.degree}]"
    return Text(rf"\sqrt{degree}{{{walk(node.inside).text}}}", Level.POWER)


def _call(node: Call, walk: Walk) -> Text:
    arguments = r", \; ".join(walk(argument).text for argument in node.arguments)
    return Text(
        OPERATORS.get(node.word, rf"\text{{{node.word}}}") + bracketed(arguments), Level.POWER
    )


def _fence(node: Fence, walk: Walk) -> Text:
    left, right = FENCES[node.kind]
    return Text(f"{left}{walk(node.inside).text}{right}", Level.ATOM)


def _remainder(node: Remainder, walk: Walk) -> Text:
    sides = (within(walk(side), Level.FRACTION) for side in (node.dividend, node.divisor))
    return Text(r" \bmod ".join(sides), Level.SUM)


def _cases(node: Cases, walk: Walk) -> Text:
    rows = r" \\ ".join(f"{walk(value).text} & {_case(test, walk)}" for value, test in node.rows)
    return Text(rf"\begin{{cases}} {rows} \end{{cases}}", Level.OPEN)


def _case(test: Shape | None, walk: Walk) -> str:
    return r"\text{otherwise}" if test is None else rf"\text{{if }} {walk(test).text}"


def _over(node: Over, walk: Walk) -> Text:
    index = walk(node.index).text
    if node.limits is None:
        limits = f"_{index}"
    else:
        low, high = (walk(limit).text for limit in node.limits)
        limits = f"_{{{index}={low}}}^{{{high}}}"
    term = walk(node.term)
    if node.kind == "entries":
        return Text(rf"\left( {term.text} \right){limits}", Level.POWER)
    if isinstance(node.term, Cases):
        return Text(f"{OVER[node.kind]}{limits} {term.text}", Level.SUM)
    return Text(f"{OVER[node.kind]}{limits} {within(term, Level.PRODUCT)}", Level.REACHING)


def _transposed(node: Transposed, walk: Walk) -> Text:
    return Text(rf"{within(walk(node.matrix), Level.ATOM)}^\top", Level.POWER)


def _compare(node: Compare, walk: Walk) -> Text:
    left, right = (within(walk(side), Level.SUM) for side in (node.left, node.right))
    return Text(line_latex(left, node.sign, right), Level.COMPARE)


def _logic(node: Logic, walk: Walk) -> Text:
    if node.word == "not":
        return Text(rf"\text{{not }} {bracketed(walk(node.parts[0]).text)}", Level.OPEN)
    parts = (within(walk(part), Level.COMPARE) for part in node.parts)
    return Text(rf" \;\text{{{node.word}}}\; ".join(parts), Level.OPEN)


def _negative(node: Negative, walk: Walk) -> Text:
    return Text(f"-{within(walk(node.inside), Level.SLASH)}", Level.NEGATIVE)


_SAME_EVERYWHERE: Rules = {
    Integer: Leaf(_integer),
    Decimal: Leaf(lambda node, _: _scaled(node.digits, node.exponent)),
    Word: Leaf(lambda node, _: Text(WORDS[node.word], Level.ATOM)),
    Negative: Leaf(_negative),
    Sum: Leaf(_sum),
    Product: Leaf(_product),
    Root: Leaf(_root),
    Call: Leaf(_call),
    Fence: Leaf(_fence),
    Remainder: Leaf(_remainder),
    Cases: Leaf(_cases),
    Compare: Leaf(_compare),
    Logic: Leaf(_logic),
    Over: Leaf(_over),
    Transposed: Leaf(_transposed),
}
