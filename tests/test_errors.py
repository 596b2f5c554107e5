"""The errors to the letter, apart from device facts: sentence, line, carets, help."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from derive.asked import asked_of
from derive.complain import complain
from derive.conversation import Conversation
from derive.question import parse
from formulas.errors import Problem


def said(line: str) -> str:
    """What is said of a line on its own: while it is read, or while its names are looked up."""
    with pytest.raises(Problem) as caught:
        asked_of(parse(line)).request()
    return complain(caught.value, line)


def said_after(*lines: str) -> str:
    """What is said of the last line, when the others were said before."""
    conversation = Conversation()
    *before, last = lines
    for line in before:
        conversation, _ = conversation.say(line)
    with pytest.raises(Problem) as caught:
        conversation.say(last)
    return complain(caught.value, last)


READ = {
    "E1": """
        error[unit]: unknown unit 'gb'
          vram_bytes = 80 gb
                          ^^
          units are case-sensitive: GB = 10^9 bytes, GiB = 2^30 bytes, Gbit = 10^9 bits
        """,
    "E2": """
        error[unit]: 'Gb/s' can be read two ways
          link_bandwidth = 400 Gb/s
                               ^^^^
          write 400 Gbit/s (= 50 GB/s) or 400 GB/s
        """,
    "E3": """
        error[dimension]: tpot is a time, 30 GB is a size
          tpot <= 30 GB
                  ^^^^^
          tpot     s^1
          30 GB    B^1
          did you mean a bandwidth term? size / bandwidth = time
        """,
    "E4": """
        error[name]: no variable 'contxt'
          max contxt given tpot <= 30 ms
              ^^^^^^
          did you mean 'context'? (search: formulas contxt)
        """,
    "E8": """
        error[number]: ',' separates facts, it is not a digit separator
          batch = 1,000
                   ^
          write 1000, 1_000 or 1k
        """,
    "E13": """
        error[syntax]: line ends where a value was expected
          tpot <=
                  ^
          example: tpot <= 30 ms
        """,
}


@pytest.mark.parametrize("text", READ.values(), ids=READ)
def test_an_error_of_reading(text: str) -> None:
    expected = dedent(text).strip()
    line = expected.split("\n")[1].strip()
    with pytest.raises(Problem) as caught:
        parse(line)
    assert complain(caught.value) == expected
    assert said_after(line) == expected


def test_e9_a_config_without_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "llama", "hidden_size": 64}')
    monkeypatch.chdir(tmp_path)
    assert (
        said_after("model ./config.json")
        == dedent("""
        error[model]: config.json has no 'num_hidden_layers'
          model ./config.json
                ^^^^^^^^^^^^^
          state it:  n_layers = ...      (a missing num_key_value_heads means no grouped heads, and is shown as assumed)
        """).strip()  # noqa: E501
    )


def test_e10_a_gpu_of_several_forms() -> None:
    expected = dedent("""
        error[gpu]: 'h100' names 3 devices
          gpu 8 x h100
                  ^^^^
          h100-sxm-80gb (3.35 TB/s), h100-pcie-80gb (2 TB/s), h100-nvl-94gb (3.9 TB/s)
        """).strip()
    assert said_after("gpu 8 x h100") == expected


@pytest.mark.parametrize(
    ("line", "place", "help_lines"),
    [
        ("tp = 3", "     ^", ["tp must divide n_heads = 64: 1, 2, 4, 8"]),
    ],
)
def test_e12_a_tp_that_divides_nothing(line: str, place: str, help_lines: list[str]) -> None:
    sentence, shown, carets, *rest = said_after("model llama-3.1-70b", line).split("\n")
    assert sentence == "error[domain]: tp = 3 is not allowed"
    assert (shown, carets) == (f"  {line}", f"  {place}")
    assert rest[0].strip().startswith(help_lines[0])
    # Oracle: the divisors of 64.
    allowed = rest[0].partition(": ")[2].split(", ")
    assert all(64 % int(n) == 0 for n in allowed)


@pytest.mark.parametrize("line", ["mbu = 80", "tp = 0", "acceptance_rate = 2"])
def test_e12_a_value_outside_its_domain(line: str) -> None:
    sentence, shown, carets, *rest = said_after(line).split("\n")
    name, _, value = line.partition(" = ")
    assert sentence == f"error[domain]: {name} = {value} is not allowed"
    assert shown == f"  {line}"
    assert carets.strip("^ ") == ""
    assert carets.rstrip().endswith("^")
    assert rest


def test_every_error_has_its_place_and_a_repair() -> None:
    for text in READ.values():
        rows: list[Any] = dedent(text).strip().split("\n")
        assert rows[0].startswith("error[")
        assert set(rows[2].strip()) == {"^"}
        assert len(rows) > 3
