"""What a relation between two sides says: a fact, a limit, an equation or a calculation."""

from __future__ import annotations

from derive.complain import fault
from derive.kinds import different, label_unit, tags_clash, wrong_dimension, wrong_tag
from derive.lexer import Cursor
from derive.literals import Amount
from derive.symbolic import kept, own_unit, scale_of
from derive.values import in_quantity, same_sort
from formulas.amounts import display, shortened
from formulas.quantity import Quantity
from formulas.statements import Calculated, Limit, Relate, Same, Statement
from formulas.units import Unit

FLIPPED = {"<=": ">=", ">=": "<=", "<": ">", ">": "<", "=": "="}


def equal(
    cursor: Cursor, quantity: Quantity, typed: str, override: bool, value: Amount, text: str
) -> Statement:
    """What `quantity = value` says where a quantity stands in the value."""
    other = value.quantity
    if other is quantity:
        raise fault("syntax", f"{quantity.name} = {quantity.name} says nothing", value.span)
    if other is not None and not override:
        same_sort(quantity, other, value.span)
        return Same(quantity.name, other.name, text)
    shown = shortened(cursor.text[slice(*value.span)])
    if not value.unit.same_dimension(quantity.unit):
        raise wrong_dimension(quantity, typed, shown, value.unit, value.span)
    own = label_unit(quantity)
    if other is not None and tags_clash(own, value.unit):
        raise wrong_tag(quantity, typed, shown, value.unit, value.span)
    # What counts nothing is in the quantity's own unit: $3 * tp is 3 * tp dollars for a million.
    scale = scale_of(quantity) if value.unit.tags else quantity.unit.scale
    expr = kept(value, Unit(quantity.unit.powers, scale))
    return Calculated(quantity.name, expr, override, text)


def related(cursor: Cursor, left: Amount, relation: str, right: Amount, text: str) -> Statement:
    """What `left relation right` says; at least one side has a quantity."""
    if not left.symbolic or (right.quantity is not None and left.quantity is None):
        left, relation, right = right, FLIPPED[relation], left
    if left.quantity is not None and not right.symbolic and relation != "=":
        typed = cursor.text[slice(*left.span)]
        value = in_quantity(cursor, right, left.quantity, typed)
        return Limit(left.quantity.name, relation, value, text)
    unit = own_unit(left.unit)
    if right.bare:
        if unit.powers:
            number = cursor.text[slice(*right.span)]
            cursor.note(f"{number} read as {display(right.number, unit)}")
        right = Amount(right.number, unit, right.span)
    _refuse_two_sorts(cursor, left, right)
    return Relate(kept(left, unit), relation, kept(right, unit), text, unit)


def _refuse_two_sorts(cursor: Cursor, left: Amount, right: Amount) -> None:
    plain = all(part.quantity or part.literal for part in (left, right))
    if left.unit.powers == right.unit.powers and not (plain and tags_clash(left.unit, right.unit)):
        return
    span = (min(left.span[0], right.span[0]), max(left.span[1], right.span[1]))
    sides = sorted((left, right), key=lambda side: side.span)
    texts = [shortened(cursor.text[slice(*side.span)]) for side in sides]
    raise different((texts[0], sides[0].unit), (texts[1], sides[1].unit), span)
