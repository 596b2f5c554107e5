"""Golden transcripts: the example lines of the language, in the conversations where they belong.

They show the form; the numbers are recomputed, here and in the tests of each verb.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from derive.question import canonical, parse
from tests.transcripts import FOLDER, NAMES, ROOT, form, lines_of

Here = Callable[..., Any]


@pytest.mark.parametrize("name", NAMES)
def test_the_form_of_a_transcript(
    here: Here, golden: Callable[[str, str], None], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    code, out, err = here("run", str(FOLDER / f"{name}.derive"), "--keep-going")
    assert code in range(7)
    assert "error[bug]" not in out + err
    golden(f"transcripts/{name}.txt", form(out + err))


@pytest.mark.parametrize("name", NAMES)
def test_the_canonical_spelling_of_a_transcript_comes_to_the_same(
    here: Here, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    lines = []
    for line in lines_of(name):
        try:
            lines.append(canonical(parse(line)))
        except Exception as problem:
            pytest.fail(f"{line}: {problem}")
    again = tmp_path / "again.derive"
    again.write_text("\n".join(lines), encoding="utf-8")
    first = here("run", str(FOLDER / f"{name}.derive"), "--keep-going", "--json")[1]
    second = here("run", str(again), "--keep-going", "--json")[1]
    assert _numbers(second) == _numbers(first)


def _numbers(lines: str) -> list[tuple[Any, ...]]:
    """What each line came to, without how it was spelt."""
    import json

    rows = [json.loads(line) for line in lines.splitlines()]
    return [(row["status"], row.get("find"), row.get("value"), row.get("rows")) for row in rows]
