"""Expressions and relations as one line of plain text, in names of quantities or in letters."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from derive.figures import split_power_of_ten
from derive.layout import lay_out, relation_sides
from derive.letters import letter_of, unicode_letter
from derive.plain_styles import LETTERS, NAMES, Style, bracketed
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
from formulas.formula import VOCABULARY, Relation

Walk = Callable[[Any], Text]
Names = Callable[[Any], str]


def plain(
    expr: Any, names: Names | None = None, *, style: Style = NAMES, as_written: bool = False
) -> str:
    """The expression on one line, in a readable order or, with `as_written`, in its own.

    `names` gives the text of a symbol: by default its name, in the style LETTERS its LaTeX letter.
    """
    own = short_name if style is NAMES else lambda symbol: letter_of(symbol, {})
    return _line(lay_out(expr, as_written=as_written), names or own, style)


def relation_plain(relation: Relation, *, letters: bool) -> str:
    """The relation on one line as it is written, in its own letters or in names of quantities."""
    style = LETTERS if letters else NAMES
    names = (lambda symbol: letter_of(symbol, relation.letters)) if letters else short_name
    left, right = (side and _line(side, names, style) for side in relation_sides(relation))
    return f"{left} {style.signs[relation.relation]} {right}" if left else str(right)


def short_name(symbol: Any) -> str:
    """The name of a quantity inside its own formula, and a constant as it prints, such as 4 GB."""
    quantity = VOCABULARY.get(symbol.name)
    if quantity is None or quantity.value is None:
        return symbol.name.rpartition(".")[2]  # type: ignore[no-any-return]
    return unicode_letter(quantity.letter)


def _line(shape: Shape, names: Names, style: Style) -> str:
    return fold(shape, _rules(names, style)).text  # type: ignore[no-any-return]


def _rules(names: Names, style: Style) -> Rules:
    def integer(node: Integer, _: Walk) -> Text:
        short, exponent = split_power_of_ten(node.value)
        return style.number(str(short), exponent)

    def total(node: Sum, walk: Walk) -> Text:
        terms = [bracketed(walk(term.shape), Level.REACHING) for term in node.terms]
        line = ""
        for term, text in zip(node.terms, terms, strict=True):
            sign = style.minus if term.negative else "+"
            line += f" {sign} " if line else sign.replace("+", "")
            line += text.text
        return Text(line, Level.SUM, any(text.wordy for text in terms))

    def product(node: Product, walk: Walk) -> Text:
        factors = [bracketed(walk(factor), style.least_factor) for factor in node.factors]
        wordy = any(factor.wordy for factor in factors)
        line = factors[0].text
        for left, right in pairwise(factors):
            line += style.between(Text(left.text, left.level, wordy), right) + right.text
        return Text(line, Level.PRODUCT, wordy)

    def quotient(node: Quotient, walk: Walk) -> Text:
        top, bottom = (
            bracketed(walk(node.top), Level.PRODUCT),
            bracketed(walk(node.bottom), Level.POWER),
        )
        slash = style.slash(top, bottom)
        # Only what stands close together reads as one factor.
        level = Level.SLASH if slash == "/" else Level.REACHING
        return Text(f"{top.text}{slash}{bottom.text}", level, top.wordy or bottom.wordy)

    def negative(node: Negative, walk: Walk) -> Text:
        inside = bracketed(walk(node.inside), Level.REACHING)
        return Text(f"{style.minus}{inside.text}", Level.NEGATIVE, inside.wordy)

    def power(node: Power, walk: Walk) -> Text:
        base = walk(node.base)
        return Text(style.power(base, node.exponent, walk(node.exponent)), Level.POWER, base.wordy)

    def root(node: Root, walk: Walk) -> Text:
        inside = walk(node.inside)
        if node.degree == 2:
            return Text(inside.text.join(style.root), Level.POWER)
        return Text(f"{bracketed(inside, Level.ATOM).text}^(1/{node.degree})", Level.POWER)

    def call(node: Call, walk: Walk) -> Text:
        arguments = ", ".join(walk(argument).text for argument in node.arguments)
        return Text(f"{node.word}({arguments})", Level.POWER)

    def fence(node: Fence, walk: Walk) -> Text:
        return Text(walk(node.inside).text.join(style.fences[node.kind]), Level.POWER)

    def remainder(node: Remainder, walk: Walk) -> Text:
        sides = (
            bracketed(walk(side), Level.FRACTION).text for side in (node.dividend, node.divisor)
        )
        return Text(" mod ".join(sides), Level.SUM)

    def cases(node: Cases, walk: Walk) -> Text:
        rows = [
            f"else {walk(value).text}"
            if test is None
            else f"{walk(value).text} if {walk(test).text}"
            for value, test in node.rows
        ]
        return Text(f"{{{', '.join(rows)}}}", Level.ATOM)

    def compare(node: Compare, walk: Walk) -> Text:
        sides = (bracketed(walk(side), Level.SUM).text for side in (node.left, node.right))
        return Text(f" {style.signs[node.sign]} ".join(sides), Level.COMPARE)

    def logic(node: Logic, walk: Walk) -> Text:
        if node.word == "not":
            return Text(f"not ({walk(node.parts[0]).text})", Level.OPEN)
        parts = (bracketed(walk(part), Level.COMPARE).text for part in node.parts)
        return Text(f" {node.word} ".join(parts), Level.OPEN)

    def item(node: Item, walk: Walk) -> Text:
        array = walk(node.array)
        places = ", ".join(walk(place).text for place in node.places)
        short = all(isinstance(place, Name | Integer) for place in node.places)
        return Text(
            array.text + places.join(style.item if short else ("[", "]")), Level.ATOM, array.wordy
        )

    def over(node: Over, walk: Walk) -> Text:
        before, after, level = style.over[node.kind]
        index = walk(node.index).text
        if node.limits is not None:
            low, high = (walk(limit).text for limit in node.limits)
            index = f"{index} = {low}..{high}"
        term = walk(node.term) if level is Level.ATOM else bracketed(walk(node.term), Level.PRODUCT)
        return Text(before.format(index) + term.text + after.format(index), level)

    def transposed(node: Transposed, walk: Walk) -> Text:
        return Text(bracketed(walk(node.matrix), Level.ATOM).text + style.transposed, Level.POWER)

    return {
        Name: Leaf(lambda node, _: style.name(names(node.symbol))),
        Integer: Leaf(integer),
        Decimal: Leaf(lambda node, _: style.number(node.digits, node.exponent)),
        Word: Leaf(lambda node, _: Text(style.words[node.word], Level.ATOM)),
        Negative: Leaf(negative),
        Sum: Leaf(total),
        Product: Leaf(product),
        Quotient: Leaf(quotient),
        Power: Leaf(power),
        Root: Leaf(root),
        Call: Leaf(call),
        Fence: Leaf(fence),
        Remainder: Leaf(remainder),
        Cases: Leaf(cases),
        Compare: Leaf(compare),
        Logic: Leaf(logic),
        Item: Leaf(item),
        Over: Leaf(over),
        Transposed: Leaf(transposed),
    }
