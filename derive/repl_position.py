"""Where in a line the cursor stands, and so what may come there. A table of patterns, no parser:
a line that is being typed is none yet.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

NAME = r"[A-Za-z_][\w.]*"
_TYPED = re.compile(rf"(?:{NAME})?\Z")
_PRODUCT = r"(?:\"[^\"\n]*|[\w.~/][\w.~/\\@+:-]*)?"
_AMOUNT = r"\$?[0-9][0-9_.]*(?:e[+-]?[0-9]+)?(?:[kMGT]i?|Ki)?"


@dataclass(frozen=True, slots=True)
class Place:
    """What may stand at the cursor: the kind of thing, the word begun there and where it begins.

    `of` is the quantity or choice that it belongs to.
    """

    kind: str
    begun: str
    start: int
    of: str = ""


def place_in(text: str) -> Place:
    """The place at the end of the text."""
    for pattern, found in _PLACES:
        if match := pattern.search(text):
            return found(match)
    typed = _TYPED.search(text)
    return Place("nothing", typed.group() if typed else "", len(text))


def _kind(kind: str) -> Callable[[re.Match[str]], Place]:
    def found(match: re.Match[str]) -> Place:
        of = match.groupdict().get("of") or ""
        return Place(kind, match["begun"], match.start("begun"), of)

    return found


_BEGUN = rf"(?P<begun>(?:{NAME})?)\Z"
_SEPARATOR = r"(?:,|(?<![\w.])(?i:given|where|st|with)\s|(?<![\w.])(?i:whatif|check|why\s+not)\s)"
_HEAD = r"\A\s*(?:derive>\s*)?(?:(?i:plot)\s+)?"
_CHOICES = "weight_dtype|kv_dtype|kv_cache_dtype|mig_profile|profile|engine"

# The first pattern that matches the text before the cursor says what may come.
_PLACES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Place]], ...] = tuple(
    (re.compile(pattern), _kind(kind))
    for kind, pattern in (
        ("nothing", r"#[^\n]*(?P<begun>)\Z"),
        ("picture", rf"\A\s*(?:derive>\s*)?(?i:plot)\s+{_BEGUN}"),
        ("start", rf"{_HEAD}{_BEGUN}"),
        ("path", rf"{_HEAD}(?i:save|load)\s+(?P<begun>\"?[^\s\"#]*)\Z"),
        ("path", r"(?<![\w.])(?i:to)\s+(?P<begun>\"?[^\s\"#,]*)\Z"),
        ("help", rf"{_HEAD}(?:\?\s*|(?i:help)\s+)(?P<begun>[\w.-]*)\Z"),
        ("model", rf"(?<![\w.])(?i:model)\s*=?\s*(?:in\s*\{{[^}}]*?)?"
                  rf"(?P<begun>(?<=[\s=,{{]){_PRODUCT})\Z"),
        ("gpu", rf"(?<![\w.])(?i:gpu)\s*=?\s*(?:in\s*\{{[^}}]*?)?(?:[0-9]+\s*[x\u00d7]?\s*)?"
                rf"(?P<begun>(?<=[\s=x\u00d7,{{0-9]){_PRODUCT})\Z"),
        ("gpu", rf"(?:{_HEAD}|{_SEPARATOR}\s*)[0-9]+\s*[x\u00d7]\s*(?P<begun>{_PRODUCT})\Z"),
        ("choice", rf"(?<![\w.])(?P<of>{_CHOICES})\s*(?:=\s*|\s|in\s*\{{[^}}]*?)"
                   r"(?P<begun>[\w.-]*)\Z"),
        ("setting", rf"{_HEAD}(?i:set)\s+{_BEGUN}"),
        ("value", rf"{_HEAD}(?i:set)\s+(?P<of>\w+)\s*=?\s+{_BEGUN}"),
        ("stated", rf"{_HEAD}(?i:drop)\s+(?:{NAME}\s*,\s*)*{_BEGUN}"),
        ("shown", rf"{_HEAD}(?i:show)\s+{_BEGUN}"),
        ("relation", rf"{_HEAD}(?i:use)\s+{_BEGUN}"),
        ("nothing", rf"{_HEAD}(?i:formulas|undo|redo|reset|facts|quit|exit)\s+{_BEGUN}"),
        ("quantity", rf"{_HEAD}(?i:max|min|need|variants|why|sens)\s+{_BEGUN}"),
        ("quantity", rf"(?<![\w.])(?i:max|min)\s+{_BEGUN}"),
        ("name", rf"{_HEAD}(?i:which|relax|sweep|region)\s+(?:{NAME}\s*,\s*)*{_BEGUN}"),
        ("name", rf"(?<![\w.])(?i:over|by|for)\s+(?:[^,]*,\s*)*?{_BEGUN}"),
        ("unit", rf"(?<![\w.])(?P<of>{NAME})\s*(?::=|[<>]=?|=|\u2264|\u2265)\s*{_AMOUNT}\s*"
                 r"(?P<begun>(?:[A-Za-z%$][\w/$]*)?)\Z"),
        ("unit", rf"(?<![\w.])(?P<of>{NAME})\s+{_AMOUNT}\s*(?P<begun>(?:[A-Za-z%$][\w/$]*)?)\Z"),
        ("unit", rf"{_HEAD}(?i:(?:max|min)\s+)?(?P<of>{NAME})\b[^,]*(?:->|\u2192)\s*"
                 r"(?P<begun>[A-Za-z%$\w/]*)\Z"),
        ("item", rf"{_SEPARATOR}\s*{_BEGUN}"),
        ("quantity", rf"(?:[-+*/(]|:=|[<>]=?|=)\s*{_BEGUN}"),
        ("question", rf"(?i:whatif|why\s+not)\s[^:]*:\s*{_BEGUN}"),
        ("tail", rf"[\w%)}}]\s+{_BEGUN}"),
    )
)  # fmt: skip
