"""A cursor over one line: what comes next is looked at with a pattern, and taken."""

from __future__ import annotations

import re

from derive.complain import Span

Pattern = re.Pattern[str]

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*")
# Up to a space or a comma: model ids, paths and GPU names hold hyphens, dots and slashes.
# A colon inside a word is part of it; one behind it ends what `whatif` supposes.
WORD = re.compile(r'"[^"\n]*"|[\w.~/](?:[\w.~/\\@+]|:(?=[^\s,])|-(?!>))*')
GPU_WORD = re.compile(r'"[^"\n]*"|[A-Za-z](?:[\w./+]|-(?!>))*')
# The reader of numbers decides what a run of digits, dots and underscores is worth.
_GROUP = r"(?<=[0-9])[\u202f\u2009](?=[0-9]{3}(?![0-9]))"
NUMBER = re.compile(rf"(?=\.?[0-9])(?:[0-9_]|\.(?!\.)|{_GROUP})+(?:[eE][+-]?[0-9]+)?")
RELATION = re.compile(r":=|<=|>=|==|=<|=>|!=|<>|[\u2264\u2265\u2260<>=]")
ARROW = re.compile(r"->|\u2192")
COMMA, DOLLAR, HOLE = re.compile(","), re.compile(r"\$"), re.compile(r"\?")
OPEN, CLOSE = re.compile(r"\("), re.compile(r"\)")
BRACE, END_BRACE, COLON = re.compile(r"\{"), re.compile(r"\}"), re.compile(":")
DOTS, PLUS_MINUS = re.compile(r"\.\.(?!\.)"), re.compile(r"\u00b1|\+/-")
# The one option that may stand within a line; its dashes subtract nothing.
TIME = re.compile(r"--time(?![\w-])")
SIGN = re.compile(rf"(?!{TIME.pattern})[+-](?!>)")
FACTOR, POWER = re.compile(r"[*/\u00d7]"), re.compile(r"\^|\*\*")

# What a terminal shows before a line comes along when the line is copied.
_PROMPT = re.compile(r"\s*derive>")
_SPACE = re.compile(r"(?:\s|#[^\n]*)*")
_ANY = re.compile(rf"{NUMBER.pattern}|\w[\w.]*|{RELATION.pattern}|{ARROW.pattern}|.", re.DOTALL)


def keyword(words: str) -> Pattern:
    """A pattern for one of the words, whole, in small letters or large."""
    return re.compile(rf"(?ai:{words.replace(' ', '|')})(?![A-Za-z0-9_])(?!\.[A-Za-z0-9_])")


class Cursor:
    """A place in the line that only moves forwards; `notes` collects how things were read.

    `depth` counts open parentheses, `work` the steps of calculations with quantities; `listing` is
    true between braces.
    """

    __slots__ = ("depth", "end", "listing", "notes", "start", "text", "work")

    def __init__(self, text: str) -> None:
        """Stand before the first thing of the line."""
        self.text = text
        prompt = _PROMPT.match(text)
        self.end = prompt.end() if prompt else 0
        self.depth = self.work = 0
        self.listing = False
        self.notes: list[str] = []
        self.start = self._after_space(self.end)

    def _after_space(self, position: int) -> int:
        match = _SPACE.match(self.text, position)
        return match.end() if match else position

    @property
    def done(self) -> bool:
        """True where nothing but spaces and comments is left."""
        return self.start >= len(self.text)

    @property
    def glued(self) -> bool:
        """True where no space stands between the last thing and the next."""
        return self.start == self.end

    def look(self, pattern: Pattern) -> re.Match[str] | None:
        """What comes next, where it matches."""
        return pattern.match(self.text, self.start)

    def take(self, pattern: Pattern) -> str:
        """What comes next, where it matches, and the cursor behind it; else the empty text."""
        match = pattern.match(self.text, self.start)
        if match is None:
            return ""
        self.end = match.end()
        self.start = self._after_space(self.end)
        return match.group()

    def here(self) -> Span:
        """The stretch of what comes next; behind the last thing where the line ends."""
        match = None if self.done else _ANY.match(self.text, self.start)
        return match.span() if match else (self.end + 1, self.end + 2)

    def since(self, start: int) -> str:
        """The text from `start` to the end of the last thing taken."""
        return self.text[start : self.end]

    def note(self, text: str) -> None:
        """Remember how something was read; once is enough."""
        if text not in self.notes:
            self.notes.append(text)
