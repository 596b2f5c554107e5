"""Side conditions of a plan: `tp >= 4 or fp8`, `not (pp > 1 and mig)`."""

from __future__ import annotations

from derive.complain import fault
from derive.lexer import BRACE, CLOSE, COMMA, NAME, OPEN, RELATION, WORD, Cursor, keyword
from derive.named_items import read_names
from derive.values import in_quantity, read_amount, take_quantity
from formulas.amounts import shortened
from formulas.errors import Problem
from formulas.storage import BYTES_PER_ELEMENT
from solvers.number import to_sympy
from solvers.search.logic import Both, Compares, Condition, Either, IsNamed, Logic, Not
from solvers.search.program import Test

_AND, _OR, _NOT, _IN = (keyword(word) for word in ("and", "or", "not", "in"))
_CHOICES = ("gpu", "mig_profile", "weight_dtype", "kv_dtype")
_MIG = keyword("mig")
_DEEPEST = 20
_EXAMPLE = "example: require tp >= 4 or fp8"
_SIGNS = {"=<": "<=", "=>": ">=", "≤": "<=", "≥": ">=", "==": "=", "<>": "!=", "≠": "!="}


def read_conditions(cursor: Cursor) -> tuple[Condition, ...]:
    """The conditions that come next, with commas between."""
    found = [_condition(cursor)]
    while cursor.take(COMMA):
        found.append(_condition(cursor))
    return tuple(found)


def conditions_of(text: str) -> tuple[Condition, ...]:
    """The conditions of a text of their own; Problem with the place of what cannot be read."""
    from derive.complain import located

    cursor = Cursor(text)
    try:
        found = read_conditions(cursor)
        if not cursor.done:
            word = shortened(cursor.text[slice(*cursor.here())])
            raise fault("syntax", f"'{word}' is not expected here", cursor.here(), _EXAMPLE)
    except Problem as problem:
        raise located(problem, text) from None
    return found


def _condition(cursor: Cursor) -> Condition:
    start = cursor.start
    logic = _either(cursor, 0)
    return Condition(" ".join(cursor.since(start).split()), logic)


def _either(cursor: Cursor, depth: int) -> Logic:
    parts = [_both(cursor, depth)]
    while cursor.take(_OR):
        parts.append(_both(cursor, depth))
    return parts[0] if len(parts) == 1 else Either(tuple(parts))


def _both(cursor: Cursor, depth: int) -> Logic:
    parts = [_one(cursor, depth)]
    while cursor.take(_AND):
        parts.append(_one(cursor, depth))
    return parts[0] if len(parts) == 1 else Both(tuple(parts))


def _one(cursor: Cursor, depth: int) -> Logic:
    where = cursor.here()
    if depth > _DEEPEST:
        raise fault("syntax", "nested too deeply", where, _EXAMPLE)
    if cursor.done:
        raise fault("syntax", "line ends where a condition was expected", where, _EXAMPLE)
    if cursor.take(_NOT):
        alone = not cursor.look(OPEN)
        inside = _one(cursor, depth + 1)
        if alone and (joined := cursor.look(_AND) or cursor.look(_OR)):
            message = f"'not' in front of an '{joined.group()}' can be read in two ways"
            ways = ("write  not (a and b),  or  (not a) and b",)
            raise fault("syntax", message, (where[0], cursor.end), *ways)
        return Not(inside)
    if cursor.take(OPEN):
        inside = _either(cursor, depth + 1)
        if not cursor.take(CLOSE):
            raise fault("syntax", "')' is missing", cursor.here(), _EXAMPLE)
        return inside
    return _atom(cursor)


def _atom(cursor: Cursor) -> Logic:
    match = cursor.look(NAME)
    word = match.group().lower() if match else ""
    if cursor.take(_MIG):
        return Not(IsNamed("mig_profile", ("none",)))
    if word in BYTES_PER_ELEMENT:
        cursor.take(NAME)
        cursor.note(f"{word} read as weight_dtype = {word}")
        return IsNamed("weight_dtype", (word,))
    if word in _CHOICES:
        return _named(cursor, word)
    if not match:
        typed = shortened(cursor.text[slice(*cursor.here())])
        message = f"'{typed}' stands where a condition was expected"
        raise fault("syntax", message, cursor.here(), _EXAMPLE)
    quantity = take_quantity(cursor, cursor.take(NAME))
    where = cursor.here()
    typed = cursor.take(RELATION)
    sign = _SIGNS.get(typed, typed)
    if sign not in ("<=", ">=", "<", ">", "=", "!="):
        ways = f"a condition compares: {match.group()} >= 4"
        raise fault("syntax", f"a relation was expected behind {match.group()}", where, ways)
    value = in_quantity(cursor, read_amount(cursor), quantity, match.group())
    symbol, number = quantity.symbol, to_sympy(value)
    text = " ".join(cursor.since(match.start()).split())

    def compared(how: str) -> Logic:
        return Compares(Test(text, how, symbol, number, text, quantity.name))

    if sign in ("=", "!="):
        same = Both((compared("<="), compared(">=")))
        return same if sign == "=" else Not(same)
    return compared(sign)


def _named(cursor: Cursor, choice: str) -> Logic:
    cursor.take(NAME)
    where = cursor.here()
    if cursor.look(_IN):
        cursor.take(_IN)
        if not cursor.look(BRACE):
            raise fault("syntax", "names stand between braces behind 'in'", cursor.here())
        return IsNamed(choice, _known(choice, read_names(cursor, choice)))
    sign = _SIGNS.get(found := cursor.take(RELATION), found)
    if sign not in ("=", "!="):
        raise fault("syntax", f"{choice} takes '=' or '!='", where, f"example: {choice} = ...")
    word = cursor.take(WORD).strip('"')
    if not word:
        raise fault("syntax", "a name was expected", cursor.here(), f"example: {choice} = ...")
    atom = IsNamed(choice, _known(choice, (word,)))
    return atom if sign == "=" else Not(atom)


def _known(choice: str, names: tuple[str, ...]) -> tuple[str, ...]:
    from formulas.hardware import find_gpu

    if choice == "gpu":
        return tuple(find_gpu(name).name for name in names)
    if choice == "mig_profile":
        return tuple(name.lower() for name in names)
    unknown = [name for name in names if name.lower() not in BYTES_PER_ELEMENT]
    if unknown:
        listing = ", ".join(BYTES_PER_ELEMENT)
        raise Problem("name", f"no format '{unknown[0]}'", (f"there are {listing}",), unknown[0])
    return tuple(name.lower() for name in names)
