"""The prompt of a capable terminal: editing, completion, history, colours."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import History
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from derive.repl_history import HistoryFile

PROMPT = "derive> "
# Fewer letters begin too many words for a list to be of help unasked.
_UNASKED = 2
_STYLE = {
    "prompt": "bold",
    "verb": "ansimagenta",
    "tail": "ansimagenta",
    "choice": "ansiblue",
    "product": "ansicyan",
    "number": "ansigreen",
    "relation": "",
    "name": "",
    "comment": "ansibrightblack",
}


class Terminal:
    """Lines as somebody types them; `first_shown` is called once the first prompt is there."""

    def __init__(
        self,
        history: HistoryFile,
        stated: Callable[[], Iterable[str]],
        first_shown: Callable[[], None],
    ) -> None:
        """Show nothing yet."""
        self.colour = not os.environ.get("NO_COLOR")
        self._session: PromptSession[str] = PromptSession(
            [("class:prompt", PROMPT)],
            history=Lines(history),
            completer=Names(stated),
            lexer=Colours(),
            auto_suggest=AutoSuggestFromHistory(),
            style=Style.from_dict(_STYLE),
            color_depth=None if self.colour else ColorDepth.DEPTH_1_BIT,
            complete_while_typing=True,
            reserve_space_for_menu=6,
        )
        self._first_shown = first_shown

    def lines(self) -> Iterator[str]:
        """What is typed, until Ctrl-D; Ctrl-C throws the line away."""
        self._session.app.after_render += self._shown
        while True:
            try:
                text = self._session.prompt()
            except KeyboardInterrupt:
                continue
            except EOFError:
                return
            yield text

    def _shown(self, _: Any) -> None:
        self._session.app.after_render -= self._shown
        self._first_shown()


class Lines(History):
    """The history in its file, one line after the other."""

    def __init__(self, file: HistoryFile) -> None:
        """Read nothing yet."""
        super().__init__()
        self._file = file

    def load_history_strings(self) -> Iterable[str]:
        """The newest first."""
        self._file.shorten()
        return reversed(self._file.lines())

    def append_string(self, string: str) -> None:
        """Each line of a text on its own; one typed again is kept once."""
        for line in string.splitlines():
            if line.strip() and self._loaded_strings[:1] != [line]:
                super().append_string(line)

    def store_string(self, string: str) -> None:
        """Write it at once."""
        self._file.add(string)


class Names(Completer):
    """Completions by the place in the line."""

    def __init__(self, stated: Callable[[], Iterable[str]]) -> None:
        """Know how to find what is stated."""
        self._stated = stated

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """What may stand before the cursor."""
        from derive.repl_candidates import candidates

        text = document.current_line_before_cursor
        for found in candidates(text, self._stated):
            begun = text[found.start :]
            unasked = not complete_event.completion_requested
            if unasked and (len(begun) < _UNASKED or begun == found.text):
                continue
            yield Completion(
                found.text, start_position=-len(begun), display_meta=found.meaning[:60]
            )


class Colours(Lexer):
    """The line in its colours."""

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """The pieces of each row."""
        from derive.repl_colours import coloured

        rows = document.lines

        def row(number: int) -> StyleAndTextTuples:
            if number >= len(rows):
                return []
            return [
                (f"class:{name}" if name else "", text) for name, text in coloured(rows[number])
            ]

        return row
