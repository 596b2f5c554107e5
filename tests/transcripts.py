"""The golden transcripts: lines of a conversation, and the form of what they come to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from derive.conversation import Conversation

ROOT = Path(__file__).parents[1]
FOLDER = Path(__file__).parent / "golden" / "transcripts"
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.derive")))

_NUMBER = re.compile(r"(?<![\w.-])[0-9][0-9\u202f]*(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?(?![\w-])")
_UNCHECKED = re.compile(r"\n  unchecked .*(?:\n {9,}.*)*")


def form(text: str) -> str:
    """The text without its numbers, without the spaces that fit columns to them, and without what
    could not be checked, which is no matter of form.
    """
    text = _NUMBER.sub("#", _UNCHECKED.sub("", text))
    return re.sub(r"(?<=\S) {2,}", "  ", text)


def lines_of(name: str) -> list[str]:
    """The lines of a transcript that say something."""
    text = (FOLDER / f"{name}.derive").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def questions() -> Iterator[tuple[Conversation, str]]:
    """Every line of every transcript, with the conversation in which it is said."""
    for name in NAMES:
        conversation = Conversation(seconds=0.0)
        for line in lines_of(name):
            yield conversation, line
            conversation, _ = conversation.say(line)
