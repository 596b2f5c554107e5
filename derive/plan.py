"""`plan min cost_per_hour ... over tp, pp, batch top 5`: the best of all configurations, proved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from time import monotonic
from typing import Any

from derive.asked import Asked, refuse_outside
from derive.conversation import Conversation
from derive.deadline import TimedOut, within
from derive.outcome import Outcome
from derive.plan_card import plan_card, refused_card
from derive.plan_json import plan_data
from derive.progress import progress
from derive.question import Question
from derive.replace import replaced
from derive.session import Reply
from derive.stopped import stopped, stopped_outcome
from formulas.scenario import scenario
from formulas.statements import Axis, Statement
from solvers.answer import Answer, Choice, Exact, Infeasible, Unbounded, Unproved
from solvers.axes import NAMED, at_point, shown_value
from solvers.number import same
from solvers.search.plan import planned
from solvers.search.proved import answered
from solvers.search.task import Goal, Plan, Task

# So long the search may take less than the question: the card is made in the rest.
_SHARE = 0.9
_LEAST = 0.001
PRICE = "price_per_gpu_hour"


@dataclass(frozen=True)
class Wanted:
    """What a plan is asked, from a line, a file or Python."""

    statements: tuple[Statement, ...]
    goals: tuple[Goal, ...]
    over: tuple[Axis, ...]
    conditions: tuple[Any, ...] = ()
    prices: Mapping[str, Fraction] | None = None
    top: int = 1
    front: bool = False
    read_as: tuple[str, ...] = ()

    def task(self) -> Task:
        """The task of the solver, of no time yet; Problem for what is not known."""
        for statement in self.statements:
            refuse_outside(statement)
        return Task(
            scenario(self.statements),
            self.goals,
            self.over,
            self.conditions,
            self.prices or {},
            self.top,
            self.front,
        )


def answer_plan(conversation: Conversation, question: Question) -> tuple[Conversation, Outcome]:
    """The best configuration; `why` and its like speak of it from now on."""
    wanted = Wanted(
        replaced(conversation.statements, question.statements),
        tuple(Goal(name, sense) for sense, name in question.goals),
        question.over,
        question.conditions,
        dict(question.prices),
        question.top or 1,
        "front" in question.words,
        question.read_as,
    )
    outcome = plan_outcome(wanted, conversation.seconds)
    if outcome.reply is not None:
        conversation = replace(conversation, last=outcome.reply)
    return conversation, outcome


def plan_outcome(wanted: Wanted, seconds: float) -> Outcome:
    """The card and the object of a plan."""
    goal = wanted.goals[0]
    started = monotonic()
    try:
        with within(seconds):
            task = wanted.task()
            # What was read and built till now is of the question's time as well.
            left = seconds * _SHARE - (monotonic() - started)
            limit = max(left, _LEAST) if seconds else 0.0
            plan = planned(replace(task, seconds=limit), progress())
            answer = answer_of(task, plan, seconds)
    except TimedOut:
        return stopped_outcome("plan", goal.name, seconds)
    # The answer's point, asked as a plain question, so that why, sens and relax know it.
    stated = _stated(wanted, answer)
    asked = Asked(goal.name, "", stated, read_as=wanted.read_as)
    reply = Reply(asked, answer)
    if plan.refused is not None or plan.unbounded:
        return refused_card(reply, wanted)
    status = {Choice: "ok", Infeasible: "infeasible"}.get(type(answer), "unproved")
    document = plan_card(wanted, plan, answer)
    data = plan_data(wanted, plan, answer, status)
    kept = reply if isinstance(answer, Choice) else None
    return Outcome(status, document, data, kept)


def _stated(wanted: Wanted, answer: Answer) -> tuple[Statement, ...]:
    from formulas.statements import Choose, Fact, UseGpu

    if not isinstance(answer, Choice):
        return wanted.statements
    rows: list[Statement] = []
    for name, value in answer.choice.items():
        text = f"{name} = {value}"
        if name == "gpu":
            stated = (row for row in wanted.statements if isinstance(row, UseGpu))
            count = next((row.count for row in stated), None)
            number = "" if count is None else f"{count} x "
            rows.append(UseGpu(value, count, f"gpu {number}{value}"))
        elif name in NAMED:
            if value != "none":
                rows.append(Choose(name, value, text))
        else:
            rows.append(Fact(name, Fraction(value), text=text))
    price = _price(wanted, answer)
    if price is not None:
        rows.append(Fact(PRICE, price, text=f"price = ${float(price):g}/h"))
    searched = {axis.name for axis in wanted.over}
    kept = tuple(
        row for row in wanted.statements if getattr(row, "choice", "") not in searched
    )  # fmt: skip
    return replaced(kept, tuple(rows))


def _price(wanted: Wanted, answer: Choice) -> Fraction | None:
    gpu = answer.choice.get("gpu")
    prices = wanted.prices or {}
    if gpu is None:
        from formulas.hardware import find_gpu
        from formulas.statements import UseGpu

        named = next((r.name for r in wanted.statements if isinstance(r, UseGpu)), None)
        gpu = None if named is None else find_gpu(named).name
    return prices.get(str(gpu))


def answer_of(task: Task, plan: Plan, seconds: float) -> Answer:
    """The best row, asked once more as a plain question; it must come to the same.

    `seconds` is what the question could take, for one that was stopped.
    """
    goal = task.goals[0]
    if plan.refused is not None:
        return replace(plan.refused, find=plan.refused.find or goal.name)
    if plan.unbounded:
        return Unbounded(goal.name, goal.sense)
    if not plan.rows:
        if not plan.proved:
            return stopped(goal.name, seconds)
        return Infeasible(goal.name, f"none of {plan.combinations} combinations meets every limit")
    best = plan.rows[0]
    point = at_point(task.scenario, best.point)
    price = _price_at(task, best.point, point)
    if price is not None:
        point = point.with_value(PRICE, price)
    found = answered(goal.name, point)
    value = Fraction(best.values[goal.name])
    if not isinstance(found, Exact) or not same(found.value, value):
        return Unproved(goal.name, "the best configuration does not prove itself", value)
    broken = [check.name for check in found.evidence.checks if not check.holds]
    if broken:
        return Unproved(goal.name, f"the best configuration breaks {', '.join(broken)}", value)
    choice = {name: shown_value(value) for name, value in best.point.items()}
    names = tuple(name for name, _ in plan.binding) or ("domain",)
    answer = Choice(goal.name, found.value, choice, names, found.evidence)
    if not plan.proved and not task.front:
        return stopped(goal.name, seconds, found.value, found.evidence)
    return answer


def _price_at(task: Task, point: Mapping[str, Any], there: Any) -> Fraction | None:
    from formulas.hardware import find_gpu
    from formulas.statements import UseGpu

    named = next((row.name for row in there.statements if isinstance(row, UseGpu)), None)
    return None if named is None else task.prices.get(find_gpu(named).name)
