"""The errors to the letter, apart from device facts: sentence, line, carets, help."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from derive.asked import asked_of
from derive.complain import complain
from derive.conversation import Conversation
from derive.question import canonical, parse
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


def after(*lines: str, seconds: float = 60.0) -> str:
    """The card of the last line, when the others were said before."""
    conversation = Conversation(seconds=seconds)
    for line in lines:
        conversation, outcome = conversation.say(line)
    return outcome.text(width=200)


def test_e5_what_lacks() -> None:
    """What would do in place of a model is a matter of the formulas; ours cut heads over GPUs."""
    sentence, line, carets, give, *more, other, known = after(
        "gpu 8 x h100-sxm, batch 32", "tpot"
    ).split("\n")
    assert sentence == "error[missing]: tpot needs 2 more facts"
    assert (line, carets) == ("  tpot", "  ^^^^")
    assert give.startswith("  give   model NAME               or  ")
    assert all(row.startswith(" " * 9) for row in more)
    assert other == "  and    context = ...            or  prompt = ..., output = ..."
    assert known == "  known  gpu 8 x h100-sxm, batch 32"


def test_e6_nothing_does() -> None:
    card = after("model llama-3.1-70b, gpu h100-sxm", "max context given batch = 32, tpot <= 5 ms")
    assert card.split("\n")[0] == "error[infeasible]: no context satisfies this"


def test_e7_a_fact_that_contradicts() -> None:
    expected = dedent("""
        error[conflict]: kv_bytes_per_token = 409 600 B/tok contradicts 327 680 B/tok
          kv_bytes_per_token = 400 KiB
          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          kv_bytes_per_token   2 * n_layers * n_kv_heads * d_head * kv_bytes_per_element = 2*80*8*128*2
          not added. 'kv_bytes_per_token := 400 KiB' overrides kv_bytes_per_token
        """).strip()  # noqa: E501
    stated = ("model llama-3.1-70b", "kv_dtype bf16", "kv_bytes_per_token = 400 KiB")
    assert said_after(*stated) == expected


def test_e11_nothing_limits() -> None:
    # Of the models that are shipped the config says how far they go; a dense one stated by hand
    # does not.
    stated = "n_params = 8e9, n_layers = 32, n_kv_heads = 8, d_head = 128, d_model = 4096"
    expected = dedent("""
        error[unbounded]: nothing given limits context
          max context given batch = 32
              ^^^^^^^
          add one of  model ... and gpu ... (memory), tpot <= ..., ttft <= ...
        """).strip()
    assert after(stated, "max context given batch = 32") == expected


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("modl llama-3.1-70b", "model"),
        ("tpot given gpuu h100-sxm", "gpu"),
        ("weigt_dtype fp8", "weight_dtype"),
        ("swep tpot given batch = 3", "sweep"),
        ("pln min cost_per_hour", "plan"),
        ("tpot given plam = 3", None),
    ],
)
def test_a_mistyped_word_of_the_grammar(line: str, meant: str | None) -> None:
    """Verbs are meant by the first word of a line only."""
    text = said_after(line)
    assert text.startswith("error[name]: no variable '")
    found = re.search(r"did you mean '(\w+)'", text)
    assert (found[1] if found else None) == meant


def test_e14_a_plan_that_is_stopped() -> None:
    line = (
        "plan min cost_per_million_tokens given model llama-3.1-8b, gpu h100-sxm, "
        "prompt_tokens = 3000, output_tokens = 1000, arrival_rate = 3, price_per_gpu_hour = $2/h, "
        "tpot <= 40 ms over tp in 1..16, pp in 1..40, mbu in 0.5..0.9 step 0.01, "
        "gpu_memory_utilization in 0.5..0.95 step 0.001, batch in 1..100000"
    )
    sentence, found, proved, more = after(line, seconds=10.0).split("\n")
    assert sentence == "error[unproved]: stopped after 10 s"
    best = re.fullmatch(
        r"  best found   cost_per_million_tokens = \$([0-9.]+)/Mtok \(tp [0-9]+, .*batch [0-9]+\)",
        found,
    )
    bound = re.fullmatch(r"  proved       not below \$([0-9.]+)/Mtok", proved)
    assert best is not None
    assert bound is not None
    assert float(bound[1]) <= float(best[1])
    assert more == "  plan ... --time 60 continues"


def test_a_line_may_say_how_long_it_takes() -> None:
    line = "max context given model llama-3.1-70b, gpu 4 x h100-sxm, batch = 32, tpot <= 30 ms"
    assert "more, stopped after" not in after(line)
    assert after(f"{line} --time 0.001").startswith("error[unproved]: stopped after 0.001 s")
    # Only this line.
    assert after(f"{line} --time 0.001", line) == after(line)
    assert parse(canonical(parse(f"{line} --time 7.5"))).seconds == 7.5
    with pytest.raises(Problem, match="a number of seconds above 0"):
        parse(f"{line} --time 0")


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


@pytest.mark.parametrize("line", ["mbu = -.7..0.8", "mbu = 0..0.8", "mbu = 0.5..1.2"])
def test_e12_a_range_that_leaves_the_domain(line: str) -> None:
    sentence, shown, *rest = said_after(f"tpot given {line}").split("\n")
    assert sentence.startswith("error[domain]: mbu = ")
    assert shown == f"  tpot given {line}"
    assert "above 0 and at most 1" in rest[-1]
