"""`set`: how long a question may take, and how answers are shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from derive.complain import fault
from derive.document import Document, Fields
from derive.lexer import RELATION, Cursor, keyword
from derive.outcome import Outcome
from derive.repl_dialogue import Dialogue, Entry, State
from derive.repl_reading import done
from formulas.amounts import FEWEST_DIGITS, MOST_DIGITS, read_number, shortened
from formulas.errors import Problem, nearest


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: what it says of itself, how it is read from a state and put into one."""

    help: str
    values: str
    shown: Callable[[State], str]
    changed: Callable[[State, str], State | None]


def _seconds(state: State, text: str) -> State | None:
    try:
        seconds = float(read_number(text.removesuffix("s").strip()))
    except Problem:
        return None
    if not 0 < seconds < 1e8:
        return None
    return replace(state, conversation=replace(state.conversation, seconds=seconds))


def _digits(state: State, text: str) -> State | None:
    usable = text.isascii() and text.isdigit() and len(text) < 3
    if not usable or not FEWEST_DIGITS <= int(text) <= MOST_DIGITS:
        return None
    return replace(state, settings=replace(state.settings, digits=int(text)))


def _steps(state: State, text: str) -> State | None:
    yes = {"yes": True, "on": True, "true": True, "no": False, "off": False, "false": False}
    if text.lower() not in yes:
        return None
    return replace(state, settings=replace(state.settings, steps=yes[text.lower()]))


SETTINGS = {
    "digits": Setting(
        "digits of a number that is no whole one",
        f"a whole number from {FEWEST_DIGITS} to {MOST_DIGITS}",
        lambda state: str(state.settings.digits),
        _digits,
    ),
    "steps": Setting(
        "show every step of an answer",
        "yes or no",
        lambda state: "yes" if state.settings.steps else "no",
        _steps,
    ),
    "time": Setting(
        "seconds that one question may take",
        "a number of seconds above 0",
        lambda state: f"{state.conversation.seconds:g}",
        _seconds,
    ),
}


def say_set(dialogue: Dialogue, cursor: Cursor) -> tuple[Dialogue, Outcome]:
    """One setting has another value; without one, all of them as they are."""
    if cursor.done:
        return dialogue, done(_listed(dialogue.now), "set", **_data(dialogue.now))
    where = cursor.here()
    name = cursor.text[slice(*where)].lower()
    if name not in SETTINGS:
        close = nearest(name, list(SETTINGS))
        advice = f"did you mean '{close}'?" if close else f"one of {', '.join(SETTINGS)}"
        raise fault("name", f"no setting '{shortened(name)}'", where, advice)
    cursor.take(keyword(name))
    cursor.take(RELATION)
    value = cursor.text[cursor.start :].partition("#")[0].strip()
    setting = SETTINGS[name]
    if not value:
        text = f"{setting.shown(dialogue.now)}    {setting.help}: {setting.values}"
        return dialogue, done((Fields(((name, text),)),), "set", **_data(dialogue.now))
    state = setting.changed(dialogue.now, value)
    if state is None:
        span = (cursor.start, cursor.start + len(value))
        raise fault("domain", f"{name} = {shortened(value)} cannot be", span, setting.values)
    entry = Entry(f"set {name} {setting.shown(state)}")
    after = dialogue.step(state.with_entry(entry, state.conversation))
    document = (Fields(((name, setting.shown(state)),)),)
    return after, done(document, "set", **_data(state))


def _listed(state: State) -> Document:
    rows = ((n, f"{s.shown(state):<6} {s.help} ({s.values})") for n, s in SETTINGS.items())
    return (Fields(tuple(rows)),)


def _data(state: State) -> dict[str, str]:
    return {name: setting.shown(state) for name, setting in SETTINGS.items()}
