"""A plan from a TOML file: what is sought, what is given, what is searched, what GPUs cost."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from derive.axes import axis_of, name_of
from derive.outcome import Outcome
from derive.plan import Wanted, plan_outcome
from derive.question import parse
from derive.side_conditions import conditions_of
from derive.tails import MOST_BEST
from derive.toml_file import load_toml
from formulas.errors import Problem, nearest
from formulas.statements import EVERY, Axis, Statement

_KEYS = ("plan", "given", "over", "prices", "require", "top", "front")
_PLACE = 'plan = "min cost_per_hour", given = ["model NAME", "tpot <= 30 ms"], [over], [prices]'


def load(path: str) -> dict[str, Any]:
    """The tables of the file, numbers as decimals; Problem where it is none."""
    return load_toml(path, Decimal)


def wanted_of(data: Mapping[str, Any], path: str) -> Wanted:
    """The plan that the tables ask; Problem with the key where something cannot be read."""
    for key in data:
        if key not in _KEYS:
            near = nearest(key, list(_KEYS))
            ways = (f"did you mean '{near}'?",) if near else (f"the keys are {', '.join(_KEYS)}",)
            raise Problem("file", f"{path}: unknown key '{key}'", ways, key)
    for key in ("plan", "over"):
        if not data.get(key):
            raise Problem("file", f"{path}: '{key}' is missing", (f"example: {_PLACE}",), key)
    front = _of(data, "front", bool, False)
    words = "plan front " if front else "plan "
    goals = parse(f"{words}{', '.join(_texts(data, 'plan'))} over tp").goals
    read_as: list[str] = []
    statements: list[Statement] = []
    for text in _texts(data, "given"):
        question = parse(text)
        if question.verb != "state":
            raise Problem("file", f"{path}: '{text}' under 'given' states nothing", (), text)
        statements += question.statements
        read_as += question.read_as
    from solvers.search.task import Goal

    conditions = tuple(row for text in _texts(data, "require") for row in conditions_of(text))
    return Wanted(
        tuple(statements),
        tuple(Goal(name, sense) for sense, name in goals),
        over_of(_of(data, "over", dict, {})),
        conditions,
        prices_of(_of(data, "prices", dict, {})),
        top_of(data.get("top", 1), f"{path}: "),
        front,
        tuple(dict.fromkeys(read_as)),
    )


def top_of(value: Any, where: str = "") -> int:
    """How many rows are told; EVERY for "all" that are as good as the best."""
    if value == "all":
        return EVERY
    if type(value) is not int or not 1 <= value <= MOST_BEST:
        message = f'{where}top is a whole number from 1 to {MOST_BEST}, or "all" that are equal'
        raise Problem("file", message, (), "top")
    return value


def plan_of(
    minimize: str,
    maximize: str,
    facts: tuple[Statement, ...],
    over: Mapping[str, Any],
    require: tuple[str, ...],
    prices: Mapping[str, Any],
    top: int | str,
) -> Outcome:
    """A plan from Python; Problem where it cannot be read."""
    from solvers.search.task import Goal

    if bool(minimize) == bool(maximize):
        raise Problem("plan", "give either minimize or maximize", ('minimize="cost_per_hour"',))
    goal = Goal(name_of(minimize or maximize), "min" if minimize else "max")
    tables = {name: _as_read(values) for name, values in over.items()}
    decimals = {name: Decimal(str(value)) for name, value in prices.items()}
    conditions = tuple(row for text in require for row in conditions_of(text))
    wanted = Wanted(facts, (goal,), over_of(tables), conditions, prices_of(decimals), top_of(top))
    return plan_outcome(wanted, 0.0)


def _as_read(values: Any) -> Any:
    """Lists and ranges of Python as the tables of a file have them."""
    if values is None:
        return "all"
    if isinstance(values, range):
        return [int(value) for value in values]
    return list(values) if isinstance(values, tuple) else values


def over_of(table: Mapping[str, Any]) -> tuple[Axis, ...]:
    """What is searched: a list of values, a range such as "1..8", or "all" for every value."""
    return tuple(_axis(name, values) for name, values in table.items())


def _axis(name: str, values: Any) -> Axis:
    example = '[over]  tp = [1, 2, 4], batch = "1..512", kv_dtype = "all"'
    match values:
        case "all" | True:
            return Axis(name_of(name))
        case str():
            return axis_of(name, values)
        case int() | Decimal():
            return axis_of(name, [values])
        case list() if values and all(_is_plain(value) for value in values):
            return axis_of(name, values)
        case []:
            raise Problem("plan", f"no value of {name} is left to search", (example,), name)
        case _:
            raise Problem("file", f"'{name}' is a list of values or a range", (example,), name)


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | Decimal) and not isinstance(value, bool)


def prices_of(table: Mapping[str, Any]) -> dict[str, Fraction]:
    """Dollars per GPU and hour, by canonical name; Problem for what is no price."""
    from formulas.hardware import find_gpu

    found: dict[str, Fraction] = {}
    for name, value in table.items():
        gpu = find_gpu(name).name
        number = isinstance(value, int | Decimal) and not isinstance(value, bool)
        if not number or not Decimal(value).is_finite():
            raise Problem("file", f"the price of {name} is a number of dollars", (), name)
        if value < 0:
            raise Problem("domain", f"the price of {name} is below 0", (f"{name} = 2.50",), name)
        if gpu in found:
            raise Problem("file", f"{gpu} has two prices", ("state each once",), name)
        found[gpu] = Fraction(value)
    return found


def _texts(data: Mapping[str, Any], key: str) -> list[str]:
    value = data.get(key, [])
    texts = [value] if isinstance(value, str) else value
    if isinstance(texts, list) and all(isinstance(text, str) for text in texts):
        return texts
    raise Problem("file", f"'{key}' is a text or a list of texts", (), key)


def _of(data: Mapping[str, Any], key: str, kind: type, default: Any) -> Any:
    value = data.get(key, default)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise Problem("file", f"'{key}' is no {kind.__name__}", (f"example: {_PLACE}",), key)
    return value
