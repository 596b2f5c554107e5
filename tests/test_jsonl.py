"""JSON in, JSON out: the flat object that scripts read, whatever the other lines are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from derive.as_json import answer_object
from formulas.catalogue import catalogue
from solvers.answer import Branch, Exact, Interval, Range

SCHEMA = json.loads((Path(__file__).parent.parent / "derive" / "schema.json").read_text("utf-8"))

HEADLINE = {
    "model": "llama-3.1-70b",
    "gpu": "8 x h100-sxm",
    "tp": 8,
    "batch": 32,
    "tpot": "<= 30 ms",
}
CACHE = {"n_layers": 32, "n_kv_heads": 8, "d_head": 128, "kv_dtype": "bf16"}
KV = ["kv_bytes_per_token"]
LIMIT = {"n_kv_heads": 8, "d_head": 128, "kv_dtype": "bf16", "kv_bytes_per_token": "<= 100 kB"}
RECALL = {
    "model": "llama-3.1-8b",
    "gpu": "h100-sxm",
    "tier_bandwidth": "1 GB/s",
    "reload_time": "= recompute_time",
}
ATTENTION = {
    "Q": [[1, 0], [0, 1]],
    "K": [[1, 2], [3, 4]],
    "V": [[5], [7]],
    "M": [[0, "-inf"], [0, 0]],
    "d_k": 2,
}
BLOCK = {"parent_hash": "root", "block_tokens": [1, 2, 3], "extra_keys": ["a"]}
HASH = ["prefix_block_hash"]

# The questions that can be read, each by what it shows.
QUESTIONS: dict[str, dict[str, Any]] = {
    "headline": {"find": "max context", "given": HEADLINE},
    "line": {
        "ask": "max context given model llama-3.1-70b, gpu 8 x h100-sxm, tp = 8, batch = 32, "
        "tpot <= 30 ms"
    },
    "forwards": {"find": "kv_bytes_per_token", "given": CACHE},
    "backwards": {
        "find": "n_layers",
        "given": {"kv_bytes_per_token": 131072, "n_kv_heads": 8, "d_head": 128,
                  "kv_bytes_per_element": 2},
        "using": KV,
    },
    "limits": {"find": "max context", "given": {**HEADLINE, "tpot": ["<= 30 ms", ">= 20 ms"]}},
    "range": {"find": "n_layers", "given": LIMIT},
    "open": {"find": "n_layers", "given": {**LIMIT, "kv_bytes_per_token": "< 100 kB"}},
    "of time": {"find": "tpot", "given": {"tpot": "<= 30 ms"}},
    "one end": {"find": "n_layers", "given": {**LIMIT, "kv_bytes_per_token": ">= 100 kB"}},
    "bound": {
        "find": "step_time",
        "given": {"weight_bytes": "16 GB", "memory_bandwidth": "2 TB/s"},
        "using": ["decode_step_bound"],
    },
    "asked unit": {"ask": "tpot -> us given tpot = 30 ms"},
    "infeasible": {"find": "max context", "given": {**HEADLINE, "tpot": "<= 5 ms"}},
    "missing": {"find": "kv_bytes_per_token", "given": {"n_layers": 32, "d_head": 128}},
    "unbounded": {"find": "max context", "given": {"batch": 32}},
    "contradiction": {
        "find": "kv_bytes_per_token",
        "given": {**CACHE, "kv_bytes_per_token": "= 400 KiB"},
    },
    "two facts": {"find": "batch", "given": {"batch": ["= 4", "= 5"]}},
    "override": {
        "find": "kv_bytes_per_token",
        "given": {**CACHE, "kv_bytes_per_token": ":= 400 KiB"},
    },
    "equation": {"find": "prompt_tokens", "given": RECALL},
    "aliases": {"find": "ctx", "given": {"ctx": "4Ki", "bs": 8}},
    "broken": {
        "find": "memory_used_per_gpu",
        "given": {"model": "llama-3.1-70b", "gpu": "1 x h100-sxm", "batch": 1, "context": 1000},
    },
    "unused": {"find": "kv_bytes_per_token", "given": {**CACHE, "mfu": 0.5}},
    "unchecked": {
        "find": "ttft",
        "given": {"model": "llama-3.1-8b", "gpu": "1 x h100-sxm", "prompt": 2048, "output": 256},
    },
    "assumed": {"find": "weight_bytes", "given": {"n_params": 8e9}},
    "not whole": {
        "find": "n_layers",
        "given": {"kv_bytes_per_token": 100000, "n_kv_heads": 8, "d_head": 128,
                  "kv_bytes_per_element": 2},
        "using": KV,
    },
    "array": {"find": "attention_output", "given": ATTENTION, "using": ["attention"]},
    "hash": {"find": "block_hash", "given": BLOCK, "using": HASH},
    "same hash": {"find": "block_hash", "given": BLOCK, "using": HASH},
    "other salt": {"find": "block_hash", "given": {**BLOCK, "extra_keys": ["b"]}, "using": HASH},
    "other parent": {
        "find": "block_hash",
        "given": {**BLOCK, "parent_hash": "c0ffee"},
        "using": HASH,
    },
    "exact decimals": {"find": "mbu", "given": {"mbu": 0.1}},
    "digits": {"find": "n_params", "given": {"n_params": 123456789012345678901}},
}  # fmt: skip

# Lines that cannot be read as a question, with the kind of mistake and a word of the message.
MISTAKES: dict[str, tuple[str, str, str]] = {
    "no json": ("this is no JSON", "json", "character 1"),
    "an array": ("[1, 2]", "json", "object"),
    "a number": ("5", "json", "object"),
    "half": ('{"find": "tpot"', "json", "character"),
    "deep": ('{"given": ' + "[" * 100_000 + "]" * 100_000 + "}", "json", "deep"),
    "twice": (
        '{"find": "tpot", "given": {"batch": 1, "batch": 2}}',
        "json",
        "'batch' stands twice",
    ),
    "too long": ('{"find": "' + "x" * 1_000_000 + '"}', "json", "1000000"),
}
# Questions that ask for what there is not, with the kind of mistake and a word of the message.
FAULTS: dict[str, tuple[dict[str, Any] | str, str, str]] = {
    "only facts": ({"given": {"batch": 8}}, "json", "nothing asked"),
    "only facts in a line": ({"ask": "batch = 8"}, "syntax", "nothing asked"),
    "empty line": ({"ask": ""}, "syntax", "nothing asked"),
    "find is no text": ({"find": 5}, "json", "'find'"),
    "find is empty": ({"find": ""}, "json", "'find'"),
    "find is a list": ({"find": ["tpot"]}, "json", "'find'"),
    "three words": ({"find": "max min tpot"}, "json", "NAME"),
    "ask and find": ({"ask": "tpot", "find": "tpot"}, "json", "'find'"),
    "unknown key": ({"find": "tpot", "gven": {}}, "json", "'gven'"),
    "unknown find": ({"find": "contxt"}, "name", "'contxt'"),
    "unknown name": ({"find": "tpot", "given": {"bach": 8}}, "name", "'bach'"),
    "unknown formula": ({"find": "tpot", "using": ["nosuch"]}, "name", "'nosuch'"),
    "using is no list": ({"find": "tpot", "using": "e2e_latency"}, "json", "'using'"),
    "given is no object": ({"find": "tpot", "given": [1]}, "json", "'given'"),
    "null": ({"find": "tpot", "given": {"batch": None}}, "json", "'batch'"),
    "true for a number": ({"find": "tpot", "given": {"batch": True}}, "number", "batch"),
    "number for true": ({"find": "probe_ok", "given": {"probe_ok": 1}}, "number", "probe_ok"),
    "a list of numbers": ({"find": "tpot", "given": {"batch": [1, 2]}}, "json", "'batch'"),
    "an object": ({"find": "tpot", "given": {"batch": {"a": 1}}}, "json", "'batch'"),
    "no limits": ({"find": "tpot", "given": {"batch": []}}, "json", "'batch'"),
    "model is a number": ({"find": "tpot", "given": {"model": 5}}, "json", "'model'"),
    "unknown model": ({"find": "tpot", "given": {"model": "nosuch"}}, "model", "'nosuch'"),
    "unknown gpu": ({"find": "tpot", "given": {"gpu": "8 x nosuch"}}, "gpu", "'nosuch'"),
    "ambiguous gpu": ({"find": "tpot", "given": {"gpu": "h100"}}, "gpu", "names 3 devices"),
    "unknown unit": ({"find": "tpot", "given": {"tpot": "30 mz"}}, "unit", "'mz'"),
    "wrong dimension": ({"find": "tpot", "given": {"tpot": "30 GB"}}, "dimension", "size"),
    "bare comma": ({"find": "tpot", "given": {"batch": "1,000"}}, "number", "','"),
    "outside": ({"find": "tpot", "given": {"mbu": 80}}, "domain", "mbu = 80"),
    "negative": ({"find": "tpot", "given": {"batch": -1}}, "domain", "batch = -1"),
    "an array's name": ({"find": "tpot", "given": {"attention.Q": [[1]]}}, "name", "attention"),
    "NaN": ('{"id": "NaN", "find": "tpot", "given": {"batch": NaN}}', "number", "NaN"),
    "infinity": (
        '{"id": "infinity", "find": "tpot", "given": {"batch": -Infinity}}', "number", "Infinity",
    ),
    "1e400": ('{"id": "1e400", "find": "tpot", "given": {"batch": 1e400}}', "number", "exponent"),
    "400 digits": (
        '{"id": "400 digits", "find": "tpot", "given": {"batch": ' + "9" * 400 + "}}",
        "number", "400 digits",
    ),
    "31 digits": (
        '{"id": "31 digits", "find": "tpot", "given": {"batch": 0.' + "1" * 31 + "}}",
        "number", "digits",
    ),
    "deep value": (
        '{"id": "deep value", "find": "tpot", "given": {"batch": '
        + '{"a":' * 900 + "1" + "}" * 900 + "}}", "json", "'batch'",
    ),
    "deep array": (
        '{"id": "deep array", "find": "attention_output", "using": ["attention"], "given": {"Q": '
        + "[" * 500 + "1" + "]" * 500 + "}}", "json", "deep",
    ),
    "user code": ({"find": "__import__('os').system('false')"}, "name", "__import__"),
}  # fmt: skip


def lines() -> Iterator[tuple[str, str]]:
    """Good lines and bad ones in turn."""
    good = [(name, json.dumps({"id": name, **q})) for name, q in QUESTIONS.items()]
    bad = [(name, text) for name, (text, _, _) in MISTAKES.items()]
    bad += [
        (name, q if isinstance(q, str) else json.dumps({"id": name, **q}))
        for name, (q, _, _) in FAULTS.items()
    ]
    for number in range(max(len(good), len(bad))):
        yield from bad[number : number + 1]
        yield from good[number : number + 1]


@pytest.fixture(scope="module")
def rows(derive: Callable[..., Any]) -> list[tuple[str, dict[str, Any]]]:
    """Every line's name with its answer, in the order in which the answers came."""
    asked = list(lines())
    ran = derive("ask", "--jsonl", stdin="".join(f"{text}\n" for _, text in asked))
    assert (ran.code, ran.err) == (0, "")
    answers = [json.loads(line, parse_constant=pytest.fail) for line in ran.out.splitlines()]
    return list(zip([name for name, _ in asked], answers, strict=True))


@pytest.fixture(scope="module")
def answers(rows: list[tuple[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    return dict(rows)


# -- the stream


def test_every_line_is_answered_in_its_order(rows: list[tuple[str, dict[str, Any]]]) -> None:
    for number, (name, answer) in enumerate(rows, start=1):
        if name in MISTAKES:
            assert (answer["id"], answer["line"]) == (None, number)
        else:
            assert answer["id"] == name
            assert "line" not in answer


@pytest.mark.parametrize("name", [*MISTAKES, *FAULTS])
def test_a_bad_line_gets_an_error_that_names_it(
    answers: dict[str, dict[str, Any]], name: str
) -> None:
    _, kind, word = {**MISTAKES, **FAULTS}[name]
    answer = answers[name]
    assert (answer["status"], answer["error"], answer["value"]) == ("error", kind, None)
    assert answer["message"].startswith(f"error[{kind}]: ")
    assert word in answer["message"]
    assert "Traceback" not in answer["message"]
    assert len(answer["message"]) < 200


def test_an_error_names_what_was_asked_where_that_could_be_read(
    answers: dict[str, dict[str, Any]],
) -> None:
    assert (answers["unknown name"]["find"], answers["unknown name"]["unit"]) == ("tpot", "s")
    assert answers["unknown find"]["find"] is None
    assert answers["ambiguous gpu"]["candidates"] == [
        "h100-sxm-80gb", "h100-pcie-80gb", "h100-nvl-94gb",
    ]  # fmt: skip


def test_ids_come_back_as_they_were(derive: Callable[..., Any]) -> None:
    given = ["0", "-3", "1.5", '""', '"\\ud800"', '"a\\nb"', "12345678901234567890", "1e3"]
    lost = ["null", "true", "[1]", "{}", "1e400", "NaN", "9" * 40]
    text = "".join(f'{{"id": {i}, "find": "mbu", "given": {{"mbu": 1}}}}\n' for i in given + lost)
    ran = derive("ask", "--jsonl", stdin=text + '\n  \n{"find": "mbu"}')
    answers = [json.loads(line, parse_constant=pytest.fail) for line in ran.out.splitlines()]
    assert [a["id"] for a in answers[: len(given)]] == [json.loads(i) for i in given]
    assert all(a["value"] == 1 and "line" not in a for a in answers[: len(given)])
    numbers = [*range(len(given) + 1, len(given) + len(lost) + 1), len(given) + len(lost) + 3]
    assert [(a["id"], a["line"]) for a in answers[len(given) :]] == [(None, n) for n in numbers]


def test_lines_of_any_make_are_read(derive: Callable[..., Any]) -> None:
    good = b'{"id": 1, "find": "mbu", "given": {"mbu": 1}}'
    stdin = b"\xef\xbb\xbf" + good + b"\r\n\xff\xfe\n" + good + b" " * 1_100_000 + b"\n" + good
    ran = derive("ask", "--jsonl", stdin=stdin)
    answers = [json.loads(line) for line in ran.out.splitlines()]
    assert [a["status"] for a in answers] == ["ok", "error", "error", "ok"]
    assert "UTF-8" in answers[1]["message"]
    assert (ran.code, ran.err) == (0, "")


# -- the object


def test_every_object_has_the_same_head(answers: dict[str, dict[str, Any]]) -> None:
    for answer in answers.values():
        order = [k for k in answer if k in ("id", "status", "find", "value", "unit", "display")]
        assert order == ["id", "status", "find", "value", "unit", "display"]
        if answer["find"] is not None:
            units = {q.short_name: q.unit.text for q in catalogue().quantities.values()}
            assert answer["unit"] == units[answer["find"]]


def test_the_largest_context(answers: dict[str, dict[str, Any]]) -> None:
    answer = answers["headline"]
    assert (answer["status"], answer["find"], answer["kind"]) == ("ok", "context_tokens", "exact")
    assert (answer["sense"], answer["binding"]) == ("max", ["tpot"])
    assert answer["value"] == largest_context(0.030)
    assert answer["value"] == int(answer["high"])
    assert (answer["low"], answer["low_open"], answer["high_open"]) == (0, False, False)
    assert answer["display"].replace("\u202f", "") == f"{answer['value']} tok"


def test_a_line_under_ask_is_the_same_question(answers: dict[str, dict[str, Any]]) -> None:
    given, line = answers["headline"], answers["line"]
    assert {k: v for k, v in given.items() if k != "id"} == {
        k: v for k, v in line.items() if k != "id"
    }


def largest_context(limit: float) -> int:
    """Worked by hand from deployment.md: Llama 3.1 70B in BF16 on 8 H100 SXM, batch 32."""
    batch, tp, layers, d_model = 32, 8, 80, 8192
    weights = 2 * 70_553_706_496 / tp
    cache = 2 * layers * 8 * 128 * 2 / tp
    message = 2 * batch * d_model
    ring = 2 * (tp - 1) * 1e-6 + 2 * (tp - 1) / tp * message / 450e9
    room = limit - 0.0035 - 2 * layers * ring
    return int((room * 3.35e12 * 0.8 - weights) / (batch * cache))


def test_constraints_carry_both_sides_and_the_room(answers: dict[str, dict[str, Any]]) -> None:
    rows = {row["name"]: row for row in answers["headline"]["constraints"]}
    tpot, memory = rows["tpot"], rows["memory"]
    assert (tpot["relation"], tpot["limit"], tpot["unit"], tpot["holds"]) == ("<=", 0.03, "s", True)
    for row in (tpot, memory):
        assert row["slack"] == pytest.approx(1 - row["value"] / row["limit"], abs=1e-12)
    assert 0 <= tpot["slack"] < 1e-4 < memory["slack"]
    assert rows["heads_divide"] == {"name": "heads_divide", "holds": True}


def test_several_limits_on_one_quantity(answers: dict[str, dict[str, Any]]) -> None:
    answer = answers["limits"]
    relations = [r["relation"] for r in answer["constraints"] if r["name"] == "tpot"]
    assert sorted(relations) == ["<=", ">="]
    assert (answer["value"], answer["binding"]) == (answers["headline"]["value"], ["tpot"])
    assert largest_context(0.020) <= answer["low"] <= largest_context(0.020) + 1


def test_steps_lead_to_the_value(answers: dict[str, dict[str, Any]]) -> None:
    steps = answers["forwards"]["steps"]
    assert steps[-1] == {
        "relation": "kv_bytes_per_token",
        "solved_for": "kv_bytes_per_token",
        "value": 2 * 32 * 8 * 128 * 2,
        "unit": "byte",
    }
    names = [step["solved_for"] for step in answers["headline"]["steps"]]
    assert names.index("weight_bytes") < names.index("weight_bytes_per_gpu") < names.index("tpot")
    assert answers["headline"]["outcomes"]["tpot"] == pytest.approx(0.03, rel=1e-4)


def test_an_inverse_under_using_assumes_nothing(answers: dict[str, dict[str, Any]]) -> None:
    answer = answers["backwards"]
    assert (answer["value"], answer["kind"], answer["unit"]) == (32, "exact", "1")
    assert isinstance(answer["value"], int)
    assert not answer.keys() & {"assumed", "constraints", "unchecked"}
    assert answers["not whole"]["value"] == 100000 / (2 * 8 * 128 * 2)


def test_a_range_has_its_ends(answers: dict[str, dict[str, Any]]) -> None:
    most = 100_000 / (2 * 8 * 128 * 2)
    answer = answers["range"]
    assert (answer["kind"], answer["value"]) == ("range", None)
    assert (answer["high"], answer["high_open"]) == (pytest.approx(most), False)
    assert (answer["low"], answer["low_open"]) == (1, False)
    assert (answers["of time"]["low"], answers["of time"]["low_open"]) == (0, True)
    assert answers["open"]["high_open"] is True
    assert answers["one end"]["low"] == pytest.approx(most)
    assert not answers["one end"].keys() & {"high", "high_open", "intervals"}


def test_a_bound_is_the_value_of_a_one_sided_relation(answers: dict[str, dict[str, Any]]) -> None:
    answer = answers["bound"]
    assert (answer["status"], answer["kind"]) == ("ok", "bound")
    assert answer["value"] == answer["low"] == 16e9 / 2e12
    assert "high" not in answer
    assert answer["display"] == ">= 8 ms"


def test_display_is_in_the_unit_asked_and_the_value_is_not(
    answers: dict[str, dict[str, Any]],
) -> None:
    answer = answers["asked unit"]
    assert (answer["value"], answer["unit"]) == (0.03, "s")
    assert answer["display"].replace("\u202f", "") == "30000 us"


def test_what_is_stated_and_not_used_is_listed(answers: dict[str, dict[str, Any]]) -> None:
    assert answers["unused"]["unused"] == ["mfu"]
    assert "unused" not in answers["forwards"]


def test_what_is_assumed_is_listed_with_its_value(answers: dict[str, dict[str, Any]]) -> None:
    assert answers["assumed"]["assumed"]["weight_dtype"] == "bf16"
    assert answers["assumed"]["value"] == 16_000_000_000
    assumed = answers["headline"]["assumed"]
    assert (assumed["mbu"], assumed["step_overhead"], assumed["pp"]) == (0.8, 0.0035, 1)
    assert not assumed.keys() & {"tp", "batch", "mfu_of_nothing"}


def test_what_could_not_be_checked_is_listed(answers: dict[str, dict[str, Any]]) -> None:
    assert "memory" in answers["unchecked"]["unchecked"]
    assert "memory" not in answers["headline"].get("unchecked", [])


def test_a_value_is_answered_where_a_constraint_is_broken(
    answers: dict[str, dict[str, Any]],
) -> None:
    answer = answers["broken"]
    memory = next(row for row in answer["constraints"] if row["name"] == "memory")
    assert answer["status"] == "ok"
    assert memory["holds"] is False
    assert memory["slack"] == pytest.approx(1 - memory["value"] / memory["limit"])
    assert memory["slack"] < 0


def test_infeasible_says_what_clashes(answers: dict[str, dict[str, Any]]) -> None:
    answer = answers["infeasible"]
    assert (answer["status"], answer["value"]) == ("infeasible", None)
    stated = {"name": "tpot", "text": "tpot <= 5 ms", "origin": "you"}
    assert stated in answer["conflict"]
    assert "tpot" in answer["message"]


def test_missing_offers_the_smallest_set_first(answers: dict[str, dict[str, Any]]) -> None:
    answer = answers["missing"]
    assert answer["status"] == "missing"
    assert answer["missing"][0] == ["n_kv_heads"]
    sizes = [len(names) for names in answer["missing"]]
    assert sizes == sorted(sizes)


def test_unbounded_says_so(answers: dict[str, dict[str, Any]]) -> None:
    answer = answers["unbounded"]
    assert (answer["status"], answer["value"]) == ("unbounded", None)
    assert answer["message"] == "nothing given limits context_tokens"


def test_a_contradiction_names_both_values_and_every_fact(
    answers: dict[str, dict[str, Any]],
) -> None:
    answer = answers["contradiction"]
    assert answer["status"] == "contradiction"
    assert "409\u202f600 B/tok" in answer["message"]
    assert "131\u202f072 B/tok" in answer["message"]
    said = {row["text"] for row in answer["conflict"]}
    assert said == {
        "kv_bytes_per_token = 400 KiB", "n_layers = 32", "n_kv_heads = 8", "d_head = 128",
        "kv_dtype = bf16",
    }  # fmt: skip
    assert [row["text"] for row in answers["two facts"]["conflict"]] == ["batch = 4", "batch = 5"]


def test_an_override_cuts_the_relation_and_shows_what_it_gives(
    answers: dict[str, dict[str, Any]],
) -> None:
    answer = answers["override"]
    assert (answer["status"], answer["value"]) == ("ok", 400 * 1024)
    assert answer["variants"]["kv_bytes_per_token"] == 131072


def test_one_quantity_may_equal_another(answers: dict[str, dict[str, Any]]) -> None:
    # Reloading N tokens takes as long as computing them: kv N / B = (2 P N + 2 L N^2 d) / F.
    per_second = 989.4e12 * 0.6
    tokens = (131072 / 1e9 * per_second - 2 * 8_030_261_248) / (2 * 32 * 4096)
    assert answers["equation"]["value"] == pytest.approx(tokens, rel=1e-9)
    assert any("not a whole number" in note for note in answers["equation"]["notes"])


def test_aliases_are_read_and_canonical_names_answered(answers: dict[str, dict[str, Any]]) -> None:
    answer = answers["aliases"]
    assert (answer["find"], answer["value"], answer["unused"]) == (
        "context_tokens",
        4096,
        ["batch"],
    )


def test_arrays_are_nested_lists(answers: dict[str, dict[str, Any]]) -> None:
    answer = answers["array"]
    assert answer["status"] == "ok"
    # The first token sees itself alone, the second both: scores (2, 4) over the root of 2.
    weight = 1 / (1 + 2.718281828459045 ** (-2 / 2**0.5))
    assert answer["value"][0] == [5]
    assert answer["value"][1][0] == pytest.approx(5 + 2 * weight)


def test_a_hash_is_a_text_and_depends_on_every_input(answers: dict[str, dict[str, Any]]) -> None:
    values = [answers[n]["value"] for n in ("hash", "same hash", "other salt", "other parent")]
    assert all(isinstance(value, str) and len(value) >= 8 for value in values)
    assert values[0] == values[1]
    assert len(set(values)) == 3


def test_numbers_are_decimals_and_no_digit_is_lost(answers: dict[str, dict[str, Any]]) -> None:
    assert answers["exact decimals"]["value"] == 0.1
    assert answers["digits"]["value"] == 123456789012345678901


# -- objects that few questions lead to


def test_several_intervals_are_listed_below_their_hull() -> None:
    pieces = (
        Interval(Fraction(1), Fraction(5, 2)),
        Interval(Fraction(3), Fraction(4), low_open=True, high_open=True),
        Interval(Fraction(7), None),
    )
    found = answer_object(Range("batch", pieces))
    assert (found["kind"], found["value"], found["low"], found["low_open"]) == (
        "range",
        None,
        1,
        False,
    )
    assert "high" not in found
    assert found["intervals"] == [
        {"low": 1, "low_open": False, "high": 2.5, "high_open": False},
        {"low": 3, "low_open": True, "high": 4, "high_open": True},
        {"low": 7, "low_open": False},
    ]
    assert found["display"] == "[1 seq .. 2.5 seq], (3 seq .. 4 seq), >= 7 seq"
    assert fits(found, {"$ref": "#/$defs/answer"})


def test_several_values_are_branches_with_their_conditions() -> None:
    branches = (Branch(Fraction(2), "memory-bound"), Branch(Fraction(7, 2), "compute-bound"))
    found = answer_object(Exact("batch", Fraction(2), branches))
    assert (found["kind"], found["value"]) == ("exact", 2)
    assert found["branches"] == [
        {"value": 2, "condition": "memory-bound"},
        {"value": 3.5, "condition": "compute-bound"},
    ]
    assert fits(found, {"$ref": "#/$defs/answer"})


def test_numbers_beyond_json_never_make_bad_json() -> None:
    for value in (Fraction(10) ** 400 + Fraction(1, 3), float("inf"), float("-inf")):
        text = json.dumps(answer_object(Exact("tpot", value)))
        json.loads(text, parse_constant=pytest.fail)


# -- the schema


def test_every_question_and_answer_fits_the_schema(answers: dict[str, dict[str, Any]]) -> None:
    for name, answer in answers.items():
        assert list(complaints(answer, {"$ref": "#/$defs/answer"})) == [], name
    for name, question in QUESTIONS.items():
        assert list(complaints({"id": name, **question}, {"$ref": "#/$defs/question"})) == []


@pytest.mark.parametrize(
    "change",
    [
        {"status": "fine"},
        {"kind": "sort of"},
        {"unit": 5},
        {"high_open": "no"},
        {"binding": "tpot"},
        {"constraints": [{"name": "tpot"}]},
        {"constraints": [{"name": "tpot", "holds": True, "value": 1}]},
        {"steps": [{"relation": "tpot"}]},
        {"branches": [{"value": 1, "condition": ""}]},
        {"another": 1},
        {"id": None},
        {"status": "missing"},
        {"status": "error"},
        {"find": None},
    ],
    ids=str,
)
def test_the_schema_refuses_another_object(
    answers: dict[str, dict[str, Any]], change: dict[str, Any]
) -> None:
    assert list(complaints({**answers["headline"], **change}, {"$ref": "#/$defs/answer"}))


@pytest.mark.parametrize("question", [{}, {"find": "tpot", "ask": "tpot"}, {"find": 1}, {"a": 1}])
def test_the_schema_refuses_another_question(question: dict[str, Any]) -> None:
    assert list(complaints(question, {"$ref": "#/$defs/question"}))


def test_the_schema_knows_every_key_of_the_design() -> None:
    keys = {
        *("id", "status", "find", "value", "unit", "display", "kind", "low", "high", "branches"),
        *("choice", "outcomes", "binding", "constraints", "steps", "variants", "assumed"),
        *("unused", "unchecked", "conflict", "relaxations", "missing", "message", "low_open"),
        *("high_open", "intervals", "line"),
    }
    assert keys <= SCHEMA["$defs"]["answer"]["properties"].keys()


TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def complaints(value: Any, schema: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the value, by the part of draft 2020-12 that the schema uses."""
    for word, wanted in schema.items():
        yield from RULES[word](value, wanted, schema)


def fits(value: Any, schema: dict[str, Any]) -> bool:
    return not any(complaints(value, schema))


def of_type(value: Any, names: str | list[str]) -> bool:
    names = [names] if isinstance(names, str) else names
    if isinstance(value, bool):
        return "boolean" in names
    return any(isinstance(value, TYPES[name]) for name in names)


def properties(value: Any, wanted: dict[str, Any], _: Any) -> Iterator[str]:
    for key in value.keys() & wanted.keys() if isinstance(value, dict) else ():
        yield from (f"{key}: {text}" for text in complaints(value[key], wanted[key]))


def further(value: Any, wanted: Any, schema: dict[str, Any]) -> Iterator[str]:
    for key in (
        value.keys() - schema.get("properties", {}).keys() if isinstance(value, dict) else ()
    ):
        if wanted is False:
            yield f"another key {key}"
        else:
            yield from complaints(value[key], wanted)


def dependent(value: Any, wanted: dict[str, list[str]], _: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key in value.keys() & wanted.keys():
            yield from (f"{key} without {n}" for n in wanted[key] if n not in value)


def either(value: Any, wanted: dict[str, Any], schema: dict[str, Any]) -> Iterator[str]:
    return complaints(value, schema.get("then" if fits(value, wanted) else "else", {}))


def items(value: Any, wanted: dict[str, Any], _: Any) -> Iterator[str]:
    for part in value if isinstance(value, list) else ():
        yield from complaints(part, wanted)


def unless(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any, Any], Iterator[str]]:
    def rule(value: Any, wanted: Any, _: Any) -> Iterator[str]:
        if not test(value, wanted):
            yield f"{str(value)[:60]} is not {wanted}"

    return rule


def nothing(*_: Any) -> Iterator[str]:
    yield from ()


RULES: dict[str, Callable[[Any, Any, Any], Iterator[str]]] = {
    "$ref": lambda value, path, _: complaints(value, SCHEMA["$defs"][path.rpartition("/")[2]]),
    "type": unless(of_type),
    "enum": unless(lambda value, names: value in names),
    "const": unless(lambda value, only: value == only),
    "minimum": unless(lambda value, least: value >= least),
    "minLength": unless(lambda value, least: not isinstance(value, str) or len(value) >= least),
    "minItems": unless(lambda value, least: not isinstance(value, list) or len(value) >= least),
    "required": unless(lambda value, keys: not isinstance(value, dict) or {*keys} <= value.keys()),
    "anyOf": unless(lambda value, schemas: any(fits(value, s) for s in schemas)),
    "oneOf": unless(lambda value, schemas: sum(fits(value, s) for s in schemas) == 1),
    "allOf": unless(lambda value, schemas: all(fits(value, s) for s in schemas)),
    "properties": properties,
    "additionalProperties": further,
    "dependentRequired": dependent,
    "items": items,
    "if": either,
    "then": nothing,
    "else": nothing,
    "description": nothing,
}
