"""What is stated: statements as a person made them, and the facts and limits that follow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeGuard

from formulas.bursts import of_bursts, said_of_bursts
from formulas.calculated import resolved
from formulas.engines import ENGINE, engines, of_engine, said_of
from formulas.errors import Problem
from formulas.statements import (
    Among,
    AmongNames,
    Between,
    Choose,
    Fact,
    Limit,
    Relate,
    Same,
    Spread,
    Statement,
    UseGpu,
    UseModel,
    Value,
)
from formulas.storage import BYTES_PER_ELEMENT, FORMATS

if TYPE_CHECKING:
    from formulas.models import Model

YOU = "you"
ASKED = "asked"


@dataclass(frozen=True, slots=True)
class Given:
    """A value that holds in this question: who said it, and in which statement."""

    quantity: str
    value: Value
    origin: str
    text: str
    override: bool = False


@dataclass(frozen=True)
class Scenario:
    """What is known, with its origin; `clashes` are two statements that fix one quantity apart.

    Of a quantity in `ranges` or `spreads`, `given` holds the middle value. `among` are the values
    allowed of a quantity, `options` the names allowed of a choice. `statements` is what was said.
    """

    given: Mapping[str, Given] = field(default_factory=dict)
    limits: tuple[Limit, ...] = ()
    equations: tuple[Same, ...] = ()
    relates: tuple[Relate, ...] = ()
    among: Mapping[str, tuple[Fraction, ...]] = field(default_factory=dict)
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ranges: Mapping[str, tuple[Fraction, Fraction]] = field(default_factory=dict)
    spreads: Mapping[str, Fraction] = field(default_factory=dict)
    chosen: Mapping[str, str] = field(default_factory=dict)
    clashes: tuple[tuple[Given, Given], ...] = ()
    notes: tuple[str, ...] = ()
    statements: tuple[Statement, ...] = ()

    @property
    def mentioned(self) -> frozenset[str]:
        """The quantities that are stated or limited."""
        named = [limit.quantity for limit in self.limits]
        named += [name for same in self.equations for name in (same.quantity, same.other)]
        sides = [side for row in self.relates for side in (row.left, row.right)]
        named += [symbol.name for side in sides for symbol in side.free_symbols]
        return frozenset([*self.given, *named, *self.among])

    @cached_property
    def set_aside(self) -> frozenset[str]:
        """What would follow from the statements, and is not given all the same."""
        return frozenset(scenario(self.statements).given.keys() - self.given.keys())

    def without(self, *names: str) -> Scenario:
        """The same scenario, without what is given for these quantities."""
        kept = {name: given for name, given in self.given.items() if name not in names}
        return replace(self, given=MappingProxyType(kept))

    def with_value(self, quantity: str, value: Value, origin: str = ASKED) -> Scenario:
        """The same scenario, with this value for the quantity."""
        given = Given(quantity, value, origin, f"{quantity} = {value}")
        return replace(self, given=MappingProxyType({**self.given, quantity: given}))


def scenario(statements: Iterable[Statement]) -> Scenario:
    """The facts and limits that follow from statements, whatever their order.

    Raises Problem for a model, GPU or profile that is not known.
    """
    rows = tuple(statements)
    taken = (*of_engine(rows), *of_bursts(rows))
    rows = (*rows, *taken)
    chosen = {row.choice: row.value for row in rows if isinstance(row, Choose)}
    given: list[Given] = []
    notes: list[str] = [*said_of(rows), *said_of_bursts(taken)]
    model = _model(rows, given, notes, chosen)
    _gpu(rows, given, chosen, model)
    _profile(rows, given, notes, chosen, model)
    given += [
        Given(name, value, YOU, row.text)
        for row in rows
        if isinstance(row, Choose) and row.choice in FORMATS
        for name, value in FORMATS[row.choice][row.value].items()
    ]
    given += [
        Given(row.quantity, row.value, _origin(row, taken), row.text, row.override)
        for row in rows
        if isinstance(row, Fact)
    ]
    given += [
        Given(row.quantity, _middle(row), _origin(row, taken), row.text)
        for row in rows
        if _is_vague(row)
    ]
    stated = {row.quantity: row.value for row in given}
    facts, equations, relates = resolved(rows, stated)
    given += [Given(row.quantity, row.value, YOU, row.text, row.override) for row in facts]
    table, clashes = _settle(given)
    return Scenario(
        MappingProxyType(table),
        tuple(row for row in rows if isinstance(row, Limit)),
        tuple(equations),
        tuple(relates),
        _allowed((row.quantity, row.values) for row in rows if isinstance(row, Among)),
        _allowed((row.choice, row.names) for row in rows if isinstance(row, AmongNames)),
        {row.quantity: (row.low, row.high) for row in rows if isinstance(row, Between)},
        {row.quantity: row.deviation for row in rows if isinstance(row, Spread)},
        MappingProxyType(chosen),
        clashes,
        tuple(notes),
        rows,
    )


def _origin(row: Fact | Between | Spread, taken: tuple[Statement, ...]) -> str:
    """Who says so: a person, or the engine that they named."""
    return row.text.replace(" = ", " ") if row in taken else YOU


def _is_vague(row: Statement) -> TypeGuard[Between | Spread]:
    return isinstance(row, Between | Spread)


def _middle(row: Between | Spread) -> Fraction:
    return row.value if isinstance(row, Spread) else (row.low + row.high) / 2


def _allowed(rows: Iterable[tuple[str, tuple[Any, ...]]]) -> dict[str, tuple[Any, ...]]:
    """The values allowed of each name; of two lists for one name, what both allow."""
    found: dict[str, tuple[Any, ...]] = {}
    for name, values in rows:
        before = found.get(name, values)
        found[name] = tuple(value for value in values if value in before)
    return found


def _model(
    rows: tuple[Statement, ...], given: list[Given], notes: list[str], chosen: dict[str, str]
) -> Model | None:
    from formulas.models import find_model

    model = None
    numbers = [row for row in rows if isinstance(row, Fact) and isinstance(row.value, Fraction)]
    stated = {row.quantity: row.value for row in numbers}
    for row in rows:
        if not isinstance(row, UseModel):
            continue
        model = find_model(row.name, stated)
        origin = f"model {model.name}"
        given += [Given(name, value, origin, row.text) for name, value in model.facts.items()]
        notes += [*model.assumed, *model.notes]
        if model.weight_dtype and chosen.get("weight_dtype") == model.weight_dtype:
            # The format that a person names is the checkpoint's own: its bytes are the person's.
            stored = {n: v for n, v in model.weight_facts.items() if n != "bytes_per_weight"}
            given += [Given(name, value, origin, row.text) for name, value in stored.items()]
        if model.weight_dtype and "weight_dtype" not in chosen:
            chosen["weight_dtype"] = model.weight_dtype
            size = BYTES_PER_ELEMENT[model.weight_dtype]
            stored = {"bytes_per_weight": size, **model.weight_facts}
            given += [Given(name, value, origin, row.text) for name, value in stored.items()]
    return model


def _gpu(
    rows: tuple[Statement, ...], given: list[Given], chosen: dict[str, str], model: Model | None
) -> None:
    from formulas.hardware import find_gpu, gpu_facts, is_weight_only

    dtype = chosen.get("weight_dtype", "bf16")
    gpu = None
    for row in rows:
        if not isinstance(row, UseGpu):
            continue
        gpu = find_gpu(row.name)
        origin = f"gpu {gpu.name}"
        facts = gpu_facts(gpu, dtype, chosen.get("mig_profile"))
        given += [Given(name, value, origin, row.text) for name, value in facts.items()]
        if row.count is not None:
            given.append(Given("available_gpus", Fraction(row.count), YOU, row.text))
    if gpu is None and "mig_profile" in chosen:
        raise Problem("mig", "a MIG profile needs a GPU", ("add  gpu NAME",), chosen["mig_profile"])
    known = any(row.quantity == "wide_params" for row in given)
    if model is None or known or "embedding_params" not in model.facts:
        return
    if is_weight_only(gpu, dtype):
        wide = model.facts["embedding_params"]
        given.append(Given("wide_params", wide, f"model {model.name}", f"weight_dtype = {dtype}"))


def _profile(
    rows: tuple[Statement, ...],
    given: list[Given],
    notes: list[str],
    chosen: dict[str, str],
    model: Model | None,
) -> None:
    """The constants of speed of the profile that is named, for this model, GPU and format."""
    if "profile" not in chosen:
        return
    from formulas.hardware import find_gpu
    from formulas.profiles import profile_facts

    dtype = chosen.get("weight_dtype", "bf16")
    labels = {
        "gpu": next((find_gpu(row.name).name for row in rows if isinstance(row, UseGpu)), ""),
        "model": model.name if model else "",
        "kind": "moe" if model and model.facts.get("expert_params") else "dense",
        "precision": {"fp4": "nvfp4", "fp16": "bf16"}.get(dtype, dtype),
        "kv_dtype": chosen.get("kv_dtype", ""),
        "engine": engines()[chosen[ENGINE]].family if ENGINE in chosen else "",
    }
    facts, about = profile_facts(rows, labels)
    given += [Given(*fact) for fact in facts]
    notes += about


def _settle(given: list[Given]) -> tuple[dict[str, Given], tuple[tuple[Given, Given], ...]]:
    """One value for each quantity: an override before anything, a person before a row."""
    table: dict[str, Given] = {}
    clashes: list[tuple[Given, Given]] = []
    for row in sorted(given, key=lambda g: (g.quantity, not g.override, g.origin != YOU, g.text)):
        first = table.setdefault(row.quantity, row)
        if first.value != row.value and not first.override:
            clashes.append((first, row))
    return table, tuple(clashes)
