"""Questions from Python: a session holds what is stated, and every question gets a reply."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from derive.asked import Asked, asked_of
from derive.axes import axis_of, name_of
from derive.deadline import solve_asked
from derive.question import Question, parse
from derive.stated import Facts, stated
from formulas.catalogue import catalogue
from formulas.statements import Statement
from solvers.answer import Answer, Exact, Step

if TYPE_CHECKING:
    from derive.conversation import Conversation
    from derive.document import Document
    from derive.outcome import Outcome
    from derive.paper import Paper
    from derive.plot import Drawing


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with the question that it answers."""

    asked: Asked
    answer: Answer

    @property
    def value(self) -> Any:
        """The value in the quantity's own unit, None where there is none."""
        return self.to_dict().get("value")

    @property
    def unit(self) -> str:
        """The contract's word for the quantity's own unit."""
        unit = self.asked.quantity.unit
        return unit.text or str(unit)

    @property
    def status(self) -> str:
        """One of ok, infeasible, missing, contradiction, unbounded, unproved."""
        from derive.wording import status

        return status(self.answer)

    @property
    def binding(self) -> tuple[str, ...]:
        """The limits that a largest or smallest value runs into."""
        return self.answer.binding if isinstance(self.answer, Exact) else ()

    @property
    def steps(self) -> tuple[Step, ...]:
        """The relations used, inputs first."""
        return self.answer.evidence.steps

    def sensitivities(self) -> dict[str, float]:
        """By name, what one per cent of each fact does to the value, in per cent.

        Raises Problem where the value has no slope, with the reason.
        """
        from derive.sens import sensitivities

        return {row.name: float(row.elasticity) for row in sensitivities(self)}

    def plot(self, path: str | Path | None = None) -> Drawing:
        """The bars of what one per cent of each fact does to the value, which a notebook shows.

        `path` is a .svg or a .png that they are written to. Problem where the value has no slope.
        """
        from derive.plot import plotted
        from derive.sens import outcome_of

        return plotted(outcome_of(self), path)

    def to_dict(self) -> dict[str, Any]:
        """The flat object that `derive ask --json` prints."""
        from derive.as_json import answer_object

        return answer_object(self.answer, self.asked.unit, self.asked.quantity)

    def derivation(self) -> Paper:
        """The derivation as a document, which any format renders."""
        from derive.derivation import derivation

        return derivation(self)

    def to_latex(self) -> str:
        """The derivation as a LaTeX document, ready for pdflatex."""
        from derive.as_tex import as_tex

        return as_tex(self.derivation())

    def to_markdown(self, flavour: str = "github") -> str:
        """The derivation as Markdown for `github` or `jupyter`."""
        from derive.as_markdown import as_markdown

        return as_markdown(self.derivation(), flavour)

    def to_html(self) -> str:
        """The derivation as one HTML file that needs nothing else."""
        from derive.as_html import as_html

        return as_html(self.derivation())

    def text(self, steps: bool = False, width: int = 100) -> str:
        """The card."""
        from derive.as_text import as_text

        return as_text(self.document(steps), width)

    def document(self, steps: bool = False) -> Document:
        """The card as blocks, which any output format renders."""
        from derive.card import card

        return card(self.answer, self.asked, steps)

    def outcome(self) -> Outcome:
        """The reply as what its line comes to."""
        from derive.outcome import Outcome

        return Outcome(self.status, self.document(), self.to_dict(), self)

    def __str__(self) -> str:
        return self.text()

    def _repr_latex_(self) -> str:
        from derive.notebook import steps_latex

        return steps_latex(self)

    def _repr_html_(self) -> str:
        return self.outcome()._repr_html_()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from derive.notebook import bundle

        return {**bundle(self.document()), "text/latex": self._repr_latex_()}


@dataclass(frozen=True, init=False)
class Session:
    """What is stated, once for many questions; immutable.

    Example:
        >>> session = Session("kv_dtype = bf16", n_layers=32, n_kv_heads=8, d_head=128)
        >>> session.ask("kv_bytes_per_token").value
        131072
    """

    statements: tuple[Statement, ...]

    def __init__(self, *facts: str, **named: Any) -> None:
        rows = (*stated(facts), *stated(named))
        object.__setattr__(self, "statements", rows)

    def given(self, *facts: str, **named: Any) -> Session:
        """A session that knows these facts as well."""
        wider = Session(*facts, **named)
        object.__setattr__(wider, "statements", (*self.statements, *wider.statements))
        return wider

    def ask(self, text: str) -> Reply:
        """The reply to a line that asks a quantity; Problem where it cannot be read."""
        return self._reply(asked_of(parse(text)))

    def say(self, line: str) -> Outcome:
        """What any line comes to: which, sweep, why, check and the other verbs too."""
        return self._conversation().say(line)[1]

    def which(self, *names: str, given: Facts = ()) -> Outcome:
        """Every choice of the named quantities, and what each breaks; `.rows` has them."""
        return self._told(
            Question("", "which", names=tuple(map(name_of, names)), statements=stated(given))
        )

    def sweep(self, *names: str, over: Mapping[str, Any], given: Facts = ()) -> Outcome:
        """The named quantities along others, {"batch": [1, 2, 4]} or {"batch": "1..64 log2"}."""
        axes = tuple(axis_of(name, values) for name, values in over.items())
        asked = Question(
            "", "sweep", names=tuple(map(name_of, names)), over=axes, statements=stated(given)
        )
        return self._told(asked)

    def plan(
        self,
        minimize: str = "",
        maximize: str = "",
        *,
        over: Mapping[str, Any],
        given: Facts = (),
        require: Iterable[str] = (),
        prices: Mapping[str, Any] | None = None,
        top: int | str = 1,
    ) -> Outcome:
        """The best of all configurations, proved: `over={"tp": [1, 2, 4], "batch": "1..512"}`.

        With `top="all"` every one that is as good as the best.
        """
        from derive.plan_file import plan_of

        facts = (*self.statements, *stated(given))
        return plan_of(minimize, maximize, facts, over, tuple(require), prices or {}, top)

    def check(self, given: Facts = ()) -> Outcome:
        """Whether what is stated fits together."""
        return self._told(Question("", "check", statements=stated(given)))

    def whatif(self, *facts: str, **named: Any) -> WhatIf:
        """The same questions with other facts beside them: `.max("context").data["change"]`."""
        return WhatIf(self, (*stated(facts), *stated(named)))

    def max(self, name: str, given: Facts = ()) -> Reply:
        """The largest value of a quantity under what is given."""
        return self._extreme("max", name, given)

    def min(self, name: str, given: Facts = ()) -> Reply:
        """The smallest value of a quantity under what is given."""
        return self._extreme("min", name, given)

    def _conversation(self) -> Conversation:
        from derive.conversation import Conversation

        return Conversation(self.statements, seconds=0.0)

    def _told(self, question: Question) -> Outcome:
        return self._conversation().answer(question)[1]

    def _extreme(self, sense: str, name: str, given: Facts) -> Reply:
        quantity = catalogue().quantity(name)
        return self._reply(Asked(quantity.name, sense, stated(given)))

    def _reply(self, asked: Asked) -> Reply:
        from dataclasses import replace

        from derive.replace import replaced

        # What a question states holds for it alone, in place of what was said before.
        whole = replace(asked, statements=replaced(self.statements, asked.statements))
        return Reply(whole, solve_asked(whole))


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Questions asked twice: as things are, and with other facts in their place."""

    session: Session
    facts: tuple[Statement, ...]

    def ask(self, text: str) -> Outcome:
        """Both answers to a line, side by side."""
        question = Question(text, "whatif", statements=self.facts, inner=parse(text))
        return self.session._told(question)

    def max(self, name: str, given: Facts = ()) -> Outcome:
        """Both largest values."""
        return self._extreme("max", name, given)

    def min(self, name: str, given: Facts = ()) -> Outcome:
        """Both smallest values."""
        return self._extreme("min", name, given)

    def _extreme(self, sense: str, name: str, given: Facts) -> Outcome:
        inner = Question("", sense, catalogue().quantity(name).name, stated(given))
        return self.session._told(Question("", "whatif", statements=self.facts, inner=inner))
