"""The parts of a line that look different while it is typed."""

from __future__ import annotations

import re

from derive.commands import DRAWN, PICTURES, VERBS
from derive.repl_words import WORDS

_FIRST = "|".join((*VERBS, "max", "min", "why not", *WORDS))
_PICTURE = rf"plot\s+(?:{'|'.join((*DRAWN, *PICTURES))})"
_PARTS = re.compile(
    "|".join(
        (
            r"(?P<comment>#.*)",
            rf"(?P<verb>(?:(?<=\A)|(?<=derive>)|(?<=:))\s*(?:{_PICTURE}|{_FIRST}|\?)(?![\w.]))",
            r"(?P<tail>(?<![\w.])(?:given|where|with|st|over|by|for|to|top|as|in|step|log2?)"
            r"(?![\w.]))",
            r"(?P<choice>(?<![\w.])(?:model|gpu|weight_dtype|kv_dtype|mig_profile|engine|profile)"
            r"(?![\w.]))",
            r"(?P<product>(?<=model )[\w./~\\-]+|(?<=gpu )[a-z][\w.-]*|(?<= x )[a-z][\w.-]*)",
            r"(?P<number>(?<![\w.])\$?[0-9][0-9_.]*(?:[kMGT]i?(?![\w/]))?"
            r"(?:\s?(?:%|[A-Za-z]+(?:/[A-Za-z]+)?)(?=\s*(?:$|[,)}:#]|given|over|to\b)))?)",
            r"(?P<relation>:=|<=|>=|->|[=<>\u2264\u2265\u2192])",
            r"(?P<name>[A-Za-z_][\w.]*)",
        )
    )
)


def coloured(line: str) -> list[tuple[str, str]]:
    """The line in pieces, each with the name of its style; together they are the line."""
    pieces, end = [], 0
    for match in _PARTS.finditer(line):
        if match.start() > end:
            pieces.append(("", line[end : match.start()]))
        pieces.append((match.lastgroup or "", match.group()))
        end = match.end()
    if end < len(line):
        pieces.append(("", line[end:]))
    return pieces
