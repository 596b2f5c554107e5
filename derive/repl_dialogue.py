"""A conversation with its past: every line gives the next state, and undo gives the one before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from derive.commands import VERBS
from derive.complain import located
from derive.conversation import Conversation
from derive.lexer import Cursor, keyword
from derive.outcome import Outcome
from derive.question import canonical, parse
from derive.repl_words import OTHER_WORDS, WORDS
from formulas.amounts import DIGITS, FEWEST_DIGITS
from formulas.errors import Problem, nearest
from formulas.statements import Statement

_WORD = keyword(" ".join((*WORDS, *OTHER_WORDS)))
# Questions about the catalogue: they change nothing, and a saved session does without them.
_LOOKED_UP = ("formulas", "show")
# Their documents are cards, which may show every step.
_CARDS = ("value", "max", "min")
DEEPEST = 5


@dataclass(frozen=True, slots=True)
class Settings:
    """How answers are shown: digits of numbers that are no whole ones, and every step or not."""

    digits: int = FEWEST_DIGITS
    steps: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """A line that was said, in its canonical spelling, and what it states for those after it."""

    line: str
    stated: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """Everything that a line may change."""

    conversation: Conversation = field(default_factory=Conversation)
    entries: tuple[Entry, ...] = ()
    settings: Settings = Settings()

    def with_entry(self, entry: Entry, conversation: Conversation) -> State:
        """The state after a line."""
        return replace(self, conversation=conversation, entries=(*self.entries, entry))


@dataclass(frozen=True, slots=True)
class Dialogue:
    """The state now, those before it and those undone, each the very object that it was."""

    now: State = field(default_factory=State)
    past: tuple[State, ...] = ()
    future: tuple[State, ...] = ()
    over: bool = False
    depth: int = 0

    def say(self, line: str) -> tuple[Dialogue, Outcome]:
        """What the line comes to, and the dialogue after it; Problem for one that cannot be."""
        cursor = Cursor(line)
        try:
            token = DIGITS.set(self.now.settings.digits)
            try:
                return self._answered(line, cursor)
            finally:
                DIGITS.reset(token)
        except Problem as problem:
            raise _with_words(located(problem, line), Cursor(line).start) from None

    def step(self, state: State) -> Dialogue:
        """The dialogue in this state, from which undo leads back."""
        return replace(self, now=state, past=(*self.past, self.now), future=())

    def _answered(self, line: str, cursor: Cursor) -> tuple[Dialogue, Outcome]:
        help_ = _asks_help(line, cursor)
        if help_ is not None:
            return WORDS["help"].handler(self, help_)
        if cursor.look(_WORD):
            typed = cursor.take(_WORD).lower()
            return WORDS[OTHER_WORDS.get(typed, typed)].handler(self, cursor)
        question = parse(line)
        conversation, outcome = self.now.conversation.answer(question)
        if self.now.settings.steps and outcome.reply is not None and question.verb in _CARDS:
            outcome = replace(outcome, document=outcome.reply.document(steps=True))
        if question.verb in _LOOKED_UP or not canonical(question):
            return self, outcome
        stated = question.statements if question.verb == "state" else ()
        entry = Entry(canonical(question), stated)
        return self.step(self.now.with_entry(entry, conversation)), outcome


def _with_words(problem: Problem, start: int) -> Problem:
    """The problem of a line that begins with no name: perhaps a verb was meant."""
    first = problem.span is not None and problem.span[0] == start
    if problem.kind != "name" or not first or problem.candidates:
        return problem
    close = nearest(problem.word, [*VERBS, *WORDS, "max", "min"])
    said = f"did you mean '{close}'?" if close else "?  shows what a line may be"
    problem.help = (said, *problem.help)
    return problem


def _asks_help(line: str, cursor: Cursor) -> Cursor | None:
    """The cursor at what help is asked about: `? tpot`, and `tpot?` as IPython has it."""
    text = line[cursor.start :].strip()
    if text.startswith("?"):
        return Cursor(f"{line[: cursor.start]} {line[cursor.start + 1 :]}")
    if text.endswith("?") and text[:-1].strip().replace("_", "").isalnum():
        return Cursor(line.rstrip()[:-1])
    return None


def replayed(
    start: Dialogue, lines: Iterable[str], first: int = 1
) -> tuple[Dialogue, tuple[tuple[str, Outcome], ...]]:
    """The dialogue after all the lines, and what each came to; Problem with the number of one
    that cannot be said.
    """
    told = []
    dialogue = replace(start, depth=start.depth + 1)
    if dialogue.depth > DEEPEST:
        raise Problem("file", "a file that loads files that load files is not read so deep")
    for number, line in enumerate(lines, start=first):
        try:
            dialogue, outcome = dialogue.say(line)
        except Problem as problem:
            problem.help = (*problem.help, f"line {number}; nothing was changed")
            raise
        told.append((line, outcome))
    return replace(dialogue, depth=start.depth), tuple(told)
