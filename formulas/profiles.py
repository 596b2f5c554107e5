"""Profiles: constants of speed that were fitted to measurements, shipped or made by a person.

A profile is a TOML file. A question names it, and the part of it that an engine has as
NAME/ENGINE; its constants for the question's GPU, weight format and model are facts then.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from formulas.errors import Problem, nearest
from formulas.speed_quantities import CONSTANTS_OF_SPEED
from formulas.statements import Choose, Fact, Statement
from formulas.storage import BYTES_PER_ELEMENT
from formulas.tables import freeze, load

FOLDER_VARIABLE = "DERIVE_PROFILES"
SHIPPED = ("measured",)
# Shares are moved by a factor of their odds, and so stay shares.
SHARES = frozenset(
    ("mbu", "mfu", "link_share", "expert_mfu_share", "waiting_share", "prefix_hit_rate")
)
# The constants that a question takes from a profile. What a benchmark's own prompts had cached is
# none of them.
OF_QUESTIONS = (
    "mbu", "mfu", "link_latency", "step_overhead", *(q.name for q in CONSTANTS_OF_SPEED),
)  # fmt: skip
LEVELS = ("engine", "gpu", "precision", "model")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}")
_LARGEST_FILE = 4 * 10**6
_DIGITS = 6
_ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Profile:
    """One file: `table` is its content, with exact decimals."""

    name: str
    table: Mapping[str, Any]

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that were measured."""
        return tuple(_tables(self.table.get("engine")))

    def facts(self, labels: Mapping[str, str]) -> dict[str, Fraction]:
        """The constants under the labels; a label that was not measured moves nothing."""
        base = _tables(self.table).get("constants", {})
        found: dict[str, Fraction] = {}
        for name in OF_QUESTIONS:
            value = base.get(name)
            if not isinstance(value, Fraction | int) or isinstance(value, bool):
                raise _damaged(self.name, f"no number 'constants.{name}'")
            factors = [
                _tables(self.table.get(level)).get(labels.get(level, ""), {}).get(name, _ONE)
                for level in LEVELS
            ]
            found[name] = _moved(self.name, name, Fraction(value), factors)
        return found


def find_profile(text: str) -> tuple[Profile, str]:
    """The profile that `text` names and the engine it names; Problem where there is none."""
    name, _, engine = text.strip().lower().partition("/")
    if name not in _known() and not engine:
        owners = [p for p in SHIPPED if name in _read(p).engines]
        name, engine = (owners[0], name) if owners else (name, "")
    known = _known()
    if name not in known:
        near = nearest(name, list(known))
        advice = (f"did you mean '{near}'?",) if near else ()
        listing = f"there are {', '.join(known)}; derive calibrate FILE.csv makes one"
        raise Problem("name", f"no profile '{name[:60]}'", (*advice, listing), text)
    profile = _read(name)
    if engine and engine not in profile.engines:
        listing = f"it has {', '.join(profile.engines) or 'no engines'}"
        raise Problem("name", f"profile {name} has no engine '{engine[:60]}'", (listing,), text)
    if not engine and len(profile.engines) == 1:
        engine = profile.engines[0]
    return profile, engine


def profile_facts(
    rows: Iterable[Statement], labels: Mapping[str, str]
) -> tuple[list[tuple[str, Fraction, str, str]], list[str]]:
    """What named profiles say: (quantity, value, origin, text) each, and what to know of it.

    A constant that a person states is theirs.
    """
    rows = tuple(rows)
    stated = {row.quantity for row in rows if isinstance(row, Fact)}
    given: list[tuple[str, Fraction, str, str]] = []
    notes: list[str] = []
    for row in rows:
        if not isinstance(row, Choose) or row.choice != "profile":
            continue
        profile, engine = find_profile(row.value)
        engine = engine or next((e for e in profile.engines if e == labels.get("engine")), "")
        origin = f"profile {profile.name}{'/' if engine else ''}{engine}"
        facts = profile.facts({**labels, "engine": engine}) | _cache(profile, engine, labels)
        given += [(n, v, origin, row.text) for n, v in facts.items() if n not in stated]
        notes += _notes(profile, origin, {**labels, "engine": engine})
    return given, notes


def profile_folder() -> Path:
    """Where a person's profiles are: DERIVE_PROFILES, else the platform's folder for settings."""
    own = os.environ.get(FOLDER_VARIABLE, "").strip()
    if own:
        return Path(own).expanduser()
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "derive" / "profiles"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", home)) / "derive" / "profiles"
    return Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "derive" / "profiles"


def profile_name(text: str) -> str:
    """A name as files have it; Problem where it cannot be one."""
    name = text.strip().lower()
    if not _NAME.fullmatch(name) or name in SHIPPED or name.endswith(".toml"):
        reason = "ships with derive" if name in SHIPPED else "is no name of a profile"
        advice = "letters, digits, '.', '_' and '-', at most 60, such as my-h100s"
        raise Problem("name", f"'{text[:60]}' {reason}", (advice,), text[:60])
    return name


def _known() -> tuple[str, ...]:
    folder = profile_folder()
    own = sorted(file.stem for file in folder.glob("*.toml")) if folder.is_dir() else []
    return (*SHIPPED, *(name for name in own if _NAME.fullmatch(name) and name not in SHIPPED))


def _read(name: str) -> Profile:
    if name in SHIPPED:
        return Profile(name, load(f"profile-{name}.toml"))
    file = profile_folder() / f"{name}.toml"
    if file.stat().st_size > _LARGEST_FILE:
        raise _damaged(name, "too large")
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"), parse_float=Fraction)
    except (ValueError, ZeroDivisionError, RecursionError) as error:
        raise _damaged(name, str(error)[:100]) from None
    return Profile(name, freeze(table))


def _damaged(name: str, reason: str) -> Problem:
    advice = "derive calibrate FILE.csv makes it anew"
    return Problem("profile", f"profile {name} cannot be used: {reason}", (advice,), name)


def _tables(value: Any) -> dict[str, Mapping[str, Any]]:
    """The tables inside a table, whatever else a person put there."""
    rows = value.items() if isinstance(value, Mapping) else ()
    return {str(name): row for name, row in rows if isinstance(row, Mapping)}


def _moved(profile: str, name: str, value: Fraction, factors: list[Any]) -> Fraction:
    factor = _ONE
    for one in factors:
        if not isinstance(one, Fraction | int) or isinstance(one, bool) or one <= 0:
            raise _damaged(profile, f"a factor of {name} is no positive number")
        factor *= one
    if value < 0 or (name in SHARES and value > 1):
        raise _damaged(profile, f"constants.{name} is out of its range")
    moved = value * factor
    if name in SHARES and value < 1:
        odds = value / (1 - value) * factor
        moved = odds / (1 + odds)
    return Fraction(f"{float(moved):.{_DIGITS}g}")


def _cache(profile: Profile, engine: str, labels: Mapping[str, str]) -> dict[str, Fraction]:
    """The cache's format that the engine takes for narrow weights, where nobody states one."""
    name = _tables(profile.table).get("narrow_cache", {}).get(engine)
    narrow = labels.get("precision", "bf16") not in ("bf16", "fp16")
    if not narrow or labels.get("kv_dtype") or name not in BYTES_PER_ELEMENT:
        return {}
    return {"kv_bytes_per_element": BYTES_PER_ELEMENT[name]}


def _notes(profile: Profile, origin: str, labels: Mapping[str, str]) -> list[str]:
    about = _tables(profile.table).get("profile", {})
    notes = [f"{origin}: fitted to {about.get('rows', 'some')} measurements, {about.get('fitted')}"]
    unseen = [
        f"{level} {labels[level]}".strip()
        for level in ("engine", "gpu", "model")
        if labels.get(level, "") not in _tables(profile.table.get(level))
    ]
    intervals = _tables(profile.table).get("intervals", {})
    suffix = "_elsewhere" if unseen and "ttft_elsewhere" in intervals else ""
    kind = labels.get("kind", "dense")
    for name, key in (("tpot", f"tpot_{kind}{suffix}"), ("ttft", f"ttft{suffix}")):
        ends = intervals.get(key)
        if isinstance(ends, tuple) and len(ends) == 2:
            # Each thing that was not measured adds to what is not known.
            low, high = (float(end) ** max(1, len(unseen)) for end in ends)
            notes.append(f"8 of 10 measured {name} were {low:.2f} to {high:.2f} of the prediction")
    if unseen:
        notes.append(f"not measured: {', '.join(unseen)}; the constants are what others share")
    return notes
