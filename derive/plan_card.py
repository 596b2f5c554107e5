"""The card of a plan: the choice, what binds, what was excluded, the runners-up; or the reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from derive.card import _assumptions, _comparison, card
from derive.document import Block, Document, Fields, Heading, Line, Table
from derive.outcome import Outcome
from derive.points import label
from derive.session import Reply
from derive.stopped import BEST_FOUND, continues
from formulas.amounts import display
from formulas.catalogue import catalogue
from formulas.statements import Fact, Limit
from solvers.answer import Answer, Choice, Infeasible, Unproved
from solvers.axes import NAMED
from solvers.search.task import TIES, Goal, Plan, Relief, Row

if TYPE_CHECKING:
    from derive.plan import Wanted

_WORDS = {"min": "smallest", "max": "largest"}
_OUTCOMES = (
    "cost_per_hour", "cost_per_million_tokens", "n_gpus", "replicas", "gpus_per_replica",
    "replica_request_rate", "tpot", "ttft", "memory_used_per_gpu",
)  # fmt: skip
_IN_TABLE = ("cost_per_hour", "n_gpus", "replicas", "tpot", "ttft")
_MOST_ROWS = 40
_THAN = {"n_gpus": "more GPUs", "gpus_per_replica": "larger replicas", "tpot": "a higher tpot",
         "tp": "a larger tp"}  # fmt: skip


def plan_card(wanted: Wanted, plan: Plan, answer: Answer) -> Document:
    """The card of a plan that was searched."""
    if isinstance(answer, Infeasible):
        return (Heading(f"error[infeasible]: {_none(wanted, plan)}"), *_reasons(wanted, plan))
    if wanted.front and plan.rows:
        return _front(wanted, plan)
    if isinstance(answer, Unproved):
        return _unproved(wanted, plan, answer)
    return _best(wanted, plan, answer)


def refused_card(reply: Reply, wanted: Wanted) -> Outcome:
    """The card of a plan that could not be searched: what lacks, or what has no end."""
    document = card(reply.answer, reply.asked)
    data = {**reply.to_dict(), "verb": "plan"}
    return Outcome(reply.status, document, data)


# -- the best


def _best(wanted: Wanted, plan: Plan, answer: Answer) -> Document:
    assert isinstance(answer, Choice)
    goal, best = wanted.goals[0], plan.rows[0]
    size = f"{plan.points} configurations"
    if not plan.points:
        size = f"every value of {plan.combinations} combinations"
    head = f"{goal.name} = {_amount(goal.name, answer.value)}"
    blocks: list[Block] = [Heading(f"{head}    {_WORDS[goal.sense]}, proved over {size}")]
    rows = _labelled("choose", [_choice(best.point)])
    told = [name for name in _OUTCOMES if name in best.values and name != goal.name]
    rows += _labelled("gives", [f"{n} {_amount(n, best.values[n])}" for n in told])
    rows += _labelled("binds", _binding(wanted, plan))
    checks = [c for c in answer.evidence.checks if c.left is not None and (
        c.stated or c.name == "memory")]  # fmt: skip
    rows += _labelled("slack", [_comparison(check) for check in checks])
    rows += _labelled("excluded", _excluded(plan))
    if plan.equal > 1:
        rows += _labelled("equal", [_equal(plan)])
    rows += _below(wanted, plan, answer)
    blocks.append(Fields(tuple(rows)))
    if len(plan.rows) > 1:
        blocks += [Line(""), _table(wanted, plan.rows, True)]
    return tuple(blocks)


def _below(wanted: Wanted, plan: Plan, answer: Answer) -> list[tuple[str, str]]:
    rows = _labelled("read as", wanted.read_as)
    evidence = answer.evidence
    if evidence.assumed:
        rows += _labelled("assumed", [_assumptions(evidence)])
    rows += _labelled("unchecked", [", ".join(plan.unchecked)] if plan.unchecked else [])
    notes = [note for note in evidence.notes if "set aside" not in note]
    return rows + _labelled("note", [*notes, *_one_price(wanted)])


def _one_price(wanted: Wanted) -> list[str]:
    """Where one price was stated for several GPUs, that it was taken for each."""
    price = next((r for r in wanted.statements
                  if isinstance(r, Fact) and r.quantity == "price_per_gpu_hour"), None)  # fmt: skip
    several = any(axis.name == "gpu" and axis.values != () for axis in wanted.over)
    if price is None or not several or wanted.prices:
        return []
    return ["one price was stated, and is taken for every GPU; 'at GPU $2.50/h, ...' states each"]


def _equal(plan: Plan) -> str:
    return f"{plan.equal} combinations come to the same; fewer GPUs, then tpot, then tp decided"


def _binding(wanted: Wanted, plan: Plan) -> list[str]:
    goal = wanted.goals[0]
    limits = {row.quantity for row in wanted.statements if isinstance(row, Limit)}
    rows = [
        # Without the memory a line that has no end has no best.
        name
        if not plan.points and name not in limits
        else f"{name}: without it {_amount(goal.name, value)}"
        for name, value in plan.binding
    ]
    return rows or ["nothing but the choices themselves"]


def _excluded(plan: Plan) -> list[str]:
    # Of a line that has no end nothing can be counted.
    found = sorted(plan.excluded, key=lambda row: -row.count) if plan.points else []
    texts = []
    for row in found:
        alone = f", {row.alone} by it alone" if row.alone else ""
        texts.append(f"{row.name} {row.count}{alone}")
    kept = f"{plan.feasible} of {plan.combinations} combinations have a value that meets all"
    return [*texts, kept]


# -- tables


def _table(wanted: Wanted, rows: Sequence[Row], lost: bool) -> Table:
    goals = [goal.name for goal in wanted.goals]
    names = [name for name in rows[0].point]
    told = dict.fromkeys((*goals, *(n for n in _IN_TABLE if n in rows[0].values)))
    told = dict.fromkeys(name for name in told if name not in names)
    columns = (*map(label, names), *map(label, told), *(("why not",) if lost else ()))
    body = []
    for place, row in enumerate(rows[:_MOST_ROWS]):
        cells = [_cell(name, row.point[name]) for name in names]
        cells += [_amount(name, row.values[name]) if name in row.values else "" for name in told]
        if lost:
            cells.append(_lost(wanted, rows[0], row) if place else "best")
        body.append(tuple(cells))
    numeric = tuple(label(n) for n in (*names, *told) if n not in NAMED)
    return Table(tuple(columns), tuple(body), numeric)


def _lost(wanted: Wanted, best: Row, row: Row) -> str:
    """By which criterion the row comes after the best."""
    named = {goal.name for goal in wanted.goals}
    order = (*wanted.goals, *(Goal(name) for name in TIES if name not in named))
    for goal, one, other in zip(order, row.ranks, best.ranks, strict=True):
        if abs(one - other) > 1e-9 * max(abs(one), abs(other)):
            if goal.name in _THAN and goal.name not in named:
                return f"equal, {_THAN[goal.name]}"
            share = abs(one / other - 1) if other else 0
            return f"{goal.name} {100 * share:.3g} % {'more' if goal.sense == 'min' else 'less'}"
    return "equal in all"


def _front(wanted: Wanted, plan: Plan) -> Document:
    goals = " and ".join(f"{_WORDS[goal.sense]} {goal.name}" for goal in wanted.goals)
    blocks: list[Block] = [Heading(f"{len(plan.rows)} configurations that none beats: {goals}")]
    blocks.append(_table(wanted, plan.rows, False))
    if len(plan.rows) > _MOST_ROWS:
        blocks.append(Line(f"  {len(plan.rows) - _MOST_ROWS} more; --json has all"))
    rows = _labelled("excluded", _excluded(plan)) + _labelled("read as", wanted.read_as)
    return (*blocks, Fields(tuple(rows)))


# -- none, or not all


def _none(wanted: Wanted, plan: Plan) -> str:
    goal = wanted.goals[0]
    count = plan.combinations
    return f"no {goal.name}: none of {count} combinations meets every limit"


def _reasons(wanted: Wanted, plan: Plan) -> list[Block]:
    found = plan.clashes
    rows: list[tuple[str, str]] = []
    if found is not None:
        rows += _labelled("clash", [" and ".join(group) for group in found.clashes])
        rows += _labelled("give up", [" and ".join(group) for group in found.corrections[:8]])
        rows += _labelled("relax", [_relief(row) for row in found.reliefs])
    rows += _labelled("excluded", _excluded(plan))
    rows += _labelled("read as", wanted.read_as)
    rows += _labelled("unchecked", [", ".join(plan.unchecked)] if plan.unchecked else [])
    return [Fields(tuple(rows))]


def _relief(row: Relief) -> str:
    if row.to is None:
        text = f"no value of {row.name} would do by itself"
        known = row.best is not None and row.name in catalogue().quantities
        return f"{text}; it reaches {_amount(row.name, row.best)} at best" if known else text
    to = _amount(row.name, row.to) if row.name in catalogue().quantities else f"{float(row.to):.6g}"
    was = row.stated
    shown = _amount(row.name, was) if row.name in catalogue().quantities else f"{float(was):.6g}"
    return f"{row.name} {row.sign} {to} instead of {shown}    at {_choice(row.point)}"


def _unproved(wanted: Wanted, plan: Plan, answer: Unproved) -> Document:
    goal = wanted.goals[0]
    blocks: list[Block] = [Heading(f"error[unproved]: {answer.reason}")]
    rows: list[tuple[str, str]] = []
    if plan.rows:
        best = plan.rows[0]
        value = _amount(goal.name, best.values[goal.name])
        rows.append((BEST_FOUND, f"{goal.name} = {value} ({_choice(best.point)})"))
    if plan.bound is not None:
        word = "below" if goal.sense == "min" else "above"
        rows.append(("proved", f"not {word} {_amount(goal.name, plan.bound)}"))
    rows += _labelled("read as", wanted.read_as)
    rows += _labelled("unchecked", [", ".join(plan.unchecked)] if plan.unchecked else [])
    return (*blocks, Fields(tuple(rows)), *continues("plan", answer))


# -- words


def _choice(point: Mapping[str, Any]) -> str:
    return ", ".join(f"{label(name)} {_cell(name, value, '')}" for name, value in point.items())


def _cell(name: str, value: Any, counted: str | None = None) -> str:
    return str(value) if isinstance(value, str) else _amount(name, value, counted)


def _amount(name: str, value: Any, counted: str | None = None) -> str:
    """The value with its unit; `counted` is what is said behind a number of something."""
    from fractions import Fraction

    quantity = catalogue().quantities[name]
    if isinstance(value, float):
        value = Fraction(value) if not value.is_integer() else Fraction(int(value))
    label = quantity.label if counted is None or quantity.unit.text != "1" else counted
    return display(value, quantity.unit, label)


def _labelled(word: str, texts: Sequence[str]) -> list[tuple[str, str]]:
    return [(word if place == 0 else "", text) for place, text in enumerate(texts)]
