"""A relation between quantities, and the decorators that declare one.

The decorated function is called twice: normally, for the expression that computes, and with sympy's
evaluation off, for the expression that prints as it was written.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import sympy

from formulas import arrays
from formulas.dimension import PURE, AnyUnit, unit_of
from formulas.errors import CatalogueError, nearest
from formulas.quantities import CONSTANTS, SCALARS
from formulas.quantity import OPAQUE, Quantity
from formulas.tensors import in_order_of

VOCABULARY: dict[str, Quantity] = {q.name: q for q in (*SCALARS, *CONSTANTS, *arrays.ARRAYS)}
_CONSTANT_VALUES = {q.symbol: sympy.Integer(int(q.value or 0)) for q in CONSTANTS}
_UNITS = {q.name: q.unit for q in VOCABULARY.values() if q.value is not None or not q.shape}

BOUNDS = (">=", "<=", ">", "<")


@dataclass(frozen=True)
class Condition:
    """A statement between quantities that is true, false or, where one of them is unknown, open."""

    name: str
    inputs: tuple[str, ...]
    expr: Any
    meaning: str


@dataclass(frozen=True)
class Relation:
    """`gives` as an expression in `inputs`, all of them names of quantities.

    `relation` is how it prints (=, ≈) or its direction where it is one-sided (>=, <=, >). `rank`
    decides among the relations of one quantity; one whose `valid` is false never answers. It takes
    part only where the quantities `only_with` (all) and `any_with` (one of them) are stated or
    asked and none of `unless` is. `expr` keeps the named constants as symbols, `value` has their
    numbers, `written` the order of the text.
    """

    id: str
    gives: str
    inputs: tuple[str, ...]
    expr: Any
    body: Callable[..., Any]
    relation: str = "="
    kind: str = "identity"
    section: str = ""
    chapter: int | None = None
    holds_when: str = ""
    valid: tuple[Condition, ...] = ()
    letters: Mapping[str, str] = field(default_factory=dict)
    cancels: tuple[str, ...] = ()
    removable: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    rank: int = 2
    only_with: tuple[str, ...] = ()
    any_with: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    same_as: str = ""
    variant: str = ""
    meaning: str = ""
    key: str = ""

    @property
    def is_bound(self) -> bool:
        """True where the relation is one-sided."""
        return self.relation in BOUNDS

    @property
    def is_truth(self) -> bool:
        """True where it gives whether an inequality holds."""
        return VOCABULARY[self.gives].unit.text == "bool"

    @cached_property
    def is_array(self) -> bool:
        """True where an array or an opaque value takes part: a kernel computes it, forwards."""
        names = (self.gives, *self.inputs)
        return any(VOCABULARY[n].shape or VOCABULARY[n].unit.text == "hash" for n in names)

    @cached_property
    def value(self) -> Any:
        """The expression with the named constants replaced by their numbers."""
        return self.expr.xreplace(_CONSTANT_VALUES) if hasattr(self.expr, "xreplace") else self.expr

    @cached_property
    def written(self) -> Any:
        """The expression in the order in which the body wrote it; for printing only.

        A matrix prints from `expr`, put in order: sympy sorts matrices even while evaluation is
        off.
        """
        symbols = [VOCABULARY[n].symbol for n in parameters(self.id, self.body)]
        if getattr(self.expr, "is_Matrix", False):
            return in_order_of(symbols, self.expr)
        with sympy.evaluate(False):
            return self(*symbols)

    def __call__(self, *arguments: Any) -> Any:
        """The body applied to expressions, so that one relation can be written with another."""
        return self.body(*arguments)


def parameters(owner: str, body: Callable[..., Any]) -> tuple[str, ...]:
    """The quantities that a body's parameters name: the owner's arrays before the vocabulary."""
    names = []
    for name in inspect.signature(body).parameters:
        full = f"{owner}.{name}" if f"{owner}.{name}" in VOCABULARY else name
        if full not in VOCABULARY:
            raise CatalogueError(f"{owner}: no quantity '{name}'{_did_you_mean(name)}")
        names.append(full)
    return tuple(names)


def _did_you_mean(name: str) -> str:
    close = nearest(name, list(VOCABULARY))
    return f"; did you mean '{close}'?" if close else "; declare it in formulas/quantities.py"


def condition(body: Callable[..., Any]) -> Condition:
    """A condition, from a function of quantities that gives a sympy relation."""
    owner = body.__name__
    names = parameters(owner, body)
    symbols = [VOCABULARY[n].symbol for n in names]
    # As written: sympy would simplify the logic for longer than all relations take together.
    with sympy.evaluate(False):
        expr = body(*symbols)
    return Condition(owner, names, expr, _meaning(body))


def formula(**declared: Any) -> Callable[[Callable[..., Any]], Relation]:
    """Declare a relation of the cheat sheet; `id` is the function's name where none is given."""
    return lambda body: _declare(body, declared)


def definition(**declared: Any) -> Callable[[Callable[..., Any]], Relation]:
    """Declare a definition that ties the sheet together; its id is deployment.QUANTITY."""

    def declare(body: Callable[..., Any]) -> Relation:
        gives = declared.get("gives", body.__name__)
        named = {"id": f"deployment.{gives}", "gives": gives, "section": "deployment", "rank": 3}
        return _declare(body, {**named, **declared})

    return declare


def assumption(body: Callable[..., Any]) -> Relation:
    """Declare what is assumed of the quantity that the function is named after; its id is
    assumed.QUANTITY.

    A number without inputs is in the quantity's own unit.
    """
    gives = body.__name__
    facts = {"id": f"assumed.{gives}", "gives": gives, "section": "assumed", "rank": -1}
    return _declare(body, {**facts, "kind": "assumption"})


def _declare(body: Callable[..., Any], declared: dict[str, Any]) -> Relation:
    identity = declared.setdefault("id", body.__name__)
    gives = declared.setdefault("gives", identity)
    if f"{identity}.{gives}" in VOCABULARY:
        gives = declared["gives"] = f"{identity}.{gives}"
    if gives not in VOCABULARY:
        raise CatalogueError(f"{identity}: gives no quantity '{gives}'{_did_you_mean(gives)}")
    names = parameters(identity, body)
    expr = body(*(VOCABULARY[n].symbol for n in names))
    expr = sympy.Integer(expr) if isinstance(expr, int) else expr
    cancels = tuple(declared.get("cancels", ()))
    _check_inputs(identity, names, cancels, expr)
    letters = {_full(identity, n): letter for n, letter in declared.get("letters", {}).items()}
    _check_letters(identity, (gives, *names), letters)
    if not (declared.get("kind") == "assumption" and expr.is_number):
        _check_units(identity, gives, expr)
    declared.setdefault("kind", "model" if declared.get("relation") == "≈" else "identity")
    inputs = tuple(n for n in names if n not in cancels)
    facts = {
        **declared,
        "letters": letters,
        "cancels": cancels,
        "valid": tuple(declared.get("valid", ())),
    }
    return Relation(inputs=inputs, expr=expr, body=body, meaning=_meaning(body), **facts)


def _meaning(body: Callable[..., Any]) -> str:
    return " ".join((inspect.getdoc(body) or "").split())


def _full(owner: str, name: str) -> str:
    return f"{owner}.{name}" if f"{owner}.{name}" in VOCABULARY else name


def free_names(expr: Any) -> set[str]:
    """The names of the quantities that stand in the expression."""
    # Dimensions and bound indices are whole by assumption; a quantity's symbol never is.
    found = {getattr(s, "name", str(s)) for s in expr.free_symbols if not s.is_integer}
    found |= {a.name for a in expr.atoms(sympy.MatrixSymbol)}
    found |= {str(a.label) for a in expr.atoms(sympy.IndexedBase)}
    return found


def _check_inputs(
    identity: str, names: tuple[str, ...], cancels: tuple[str, ...], expr: Any
) -> None:
    found = free_names(expr)
    unused = [n for n in names if n not in found and n not in cancels]
    if unused:
        raise CatalogueError(
            f"{identity}: takes {unused} but never uses it; "
            "drop the parameter, or name it in cancels="
        )
    kept = [n for n in cancels if n in found]
    if kept:
        raise CatalogueError(
            f"{identity}: {kept} is declared to cancel but does not; drop it from cancels="
        )


def _check_letters(identity: str, names: tuple[str, ...], letters: Mapping[str, str]) -> None:
    stray = [n for n in letters if n not in names]
    if stray:
        raise CatalogueError(
            f"{identity}: a letter for {stray}, which it never mentions; drop the letter"
        )
    shown: dict[str, str] = {}
    for name in dict.fromkeys(names):
        letter = letters.get(name, VOCABULARY[name].letter)
        if letter in shown:
            raise CatalogueError(
                f"{identity}: one letter, {letter}, stands for two quantities, "
                f"{shown[letter]} and {name}; give one of them its own in letters="
            )
        shown[letter] = name


def _check_units(identity: str, gives: str, expr: Any) -> None:
    try:
        right = unit_of(expr, _UNITS, arrays.dimension_rules(VOCABULARY))
    except CatalogueError as error:
        raise CatalogueError(f"{identity}: {error}") from None
    left = VOCABULARY[gives].unit if VOCABULARY[gives].unit.text not in OPAQUE else PURE
    if not isinstance(right, AnyUnit) and right != left:
        raise CatalogueError(
            f"{identity}: {gives} is in {left}, but the right side is in {right}; "
            "a number with a unit is a constant of formulas/quantities.py"
        )
