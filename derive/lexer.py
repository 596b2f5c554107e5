"""A cursor over one line: what comes next is looked at with a pattern, and taken."""

from __future__ import annotations

import re

from derive.complain import Span

Pattern = re.Pattern[str]

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*")
# Up to a space or a comma: model ids, paths and GPU names hold hyphens, dots and slashes.
WORD = re.compile(r'"[^"\n]*"|[\w.~/](?:[\w.~/\\:@+]|-(?!>))*')
GPU_WORD = re.compile(r'"[^"\n]*"|[A-Za-z](?:[\w./+]|-(?!>))*')
# The reader of numbers decides what a run of digits, dots and underscores is worth.
_GROUP = r"(?<=[0-9])[\u202f\u2009](?=[0-9]{3}(?![0-9]))"
NUMBER = re.compile(rf"(?=\.?[0-9])(?:[0-9_]|\.(?!\.)|{_GROUP})+(?:[eE][+-]?[0-9]+)?")
RELATION = re.compile(r":=|<=|>=|==|=<|=>|!=|<>|[\u2264\u2265\u2260<>=]")
ARROW = re.compile(r"->|\u2192")
COMMA, DOLLAR, HOLE = re.compile(","), re.compile(r"\$"), re.compile(r"\?")
OPEN, CLOSE = re.compile(r"\("), re.compile(r"\)")
SIGN, FACTOR, POWER = re.compile(r"[+-](?!>)"), re.compile(r"[*/]"), re.compile(r"\^|\*\*")

_SPACE = re.compile(r"(?:\s|#[^\n]*)*")
_ANY = re.compile(rf"{NUMBER.pattern}|\w[\w.]*|{RELATION.pattern}|{ARROW.pattern}|.", re.DOTALL)


def keyword(words: str) -> Pattern:
    """A pattern for one of the words, whole."""
    return re.compile(rf"(?:{words.replace(' ', '|')})(?![A-Za-z0-9_])(?!\.[A-Za-z0-9_])")


class Cursor:
    """A place in the line that only moves forwards; `notes` collects how things were read."""

    __slots__ = ("depth", "end", "notes", "start", "text")

    def __init__(self, text: str) -> None:
        """Stand before the first thing of the line."""
        self.text = text
        self.end = 0
        self.depth = 0
        self.notes: list[str] = []
        self.start = self._after_space(0)

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
