"""Lines that follow each other: facts persist, and `why` speaks of the answer before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from derive.commands import VERBS
from derive.outcome import Outcome
from derive.question import Question, parse
from derive.session import Reply
from formulas.statements import Statement

# Verbs whose file is no document.
_OWN_FILES = ("sweep", "plot")


@dataclass(frozen=True)
class Conversation:
    """What has been said so far; immutable, every line gives the next one.

    `prefer` names the relation that answers for a quantity, `last` is the answer that `why`,
    `sens` and `relax` speak of.
    """

    statements: tuple[Statement, ...] = ()
    prefer: Mapping[str, str] = field(default_factory=dict)
    last: Reply | None = None
    seconds: float = 60.0

    def say(self, line: str) -> tuple[Conversation, Outcome]:
        """What the line comes to, and the conversation after it; Problem for an unreadable line."""
        return self.answer(parse(line))

    def answer(self, question: Question) -> tuple[Conversation, Outcome]:
        """The same for a line that has been read; `to FILE` writes its document, and `--time`
        holds for this line.
        """
        seconds = question.seconds or (question.inner.seconds if question.inner else None)
        if seconds is not None:
            after, outcome = replace(self, seconds=seconds)._written(question)
            return replace(after, seconds=self.seconds), outcome
        return self._written(question)

    def _written(self, question: Question) -> tuple[Conversation, Outcome]:
        target = question.to or (question.inner.to if question.inner else None)
        if target is None or question.verb in _OWN_FILES:
            return self._answered(question)
        from derive.to_file import checked_document, written

        path = checked_document(target)
        after, outcome = self._answered(question)
        return after, written(path, outcome)

    def _answered(self, question: Question) -> tuple[Conversation, Outcome]:
        from derive.answering import answer_question, answer_state

        if question.verb in VERBS:
            after, outcome = VERBS[question.verb].handler(self, question)
            return after, replace(outcome, data={**outcome.data, "verb": question.verb})
        if question.verb == "state":
            return answer_state(self, question)
        return answer_question(self, question)

    def knowing(self, *statements: Statement) -> Conversation:
        """The conversation in which these statements hold as well."""
        return replace(self, statements=(*self.statements, *statements))
