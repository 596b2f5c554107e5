"""Bad and hostile input through the real command: a clear message, the right code, nothing run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
FIRST = re.compile(r"error\[([a-z]+)\]: \S.*")
PATIENCE = 20

# A line, the kind of its mistake, what its first line says, what the carets mark, a line of help.
LINES = {
    "unknown unit": (
        "tpot given vram = 80 gb", "unit", "unknown unit 'gb'", "gb", "case-sensitive",
    ),
    "two units": (
        "tpot given link_bandwidth = 400 Gb/s", "unit", "two ways", "Gb/s", "400 Gbit/s",
    ),
    "unknown name": (
        "max contxt given batch = 32", "name", "no variable 'contxt'", "contxt", "'context'",
    ),
    "unknown model": (
        "max context given model llama-9", "model", "no model 'llama-9'", "llama-9",
        "derive models",
    ),
    "unknown gpu": (
        "max context given gpu 8 x h900", "gpu", "'h900'", "h900", "derive gpus",
    ),
    "unknown format": (
        "max context given kv_dtype = fp9", "domain", "kv_dtype = fp9", "fp9", "bf16",
    ),
    "wrong dimension": (
        "tpot given tpot <= 30 GB", "dimension", "tpot is a time, 30 GB is a size", "30 GB",
        "size / bandwidth = time",
    ),
    "ambiguous gpu": (
        "max context given gpu 8 x h100", "gpu", "names 3 devices", "h100", "h100-sxm",
    ),
    "bare comma": (
        "tpot given batch = 1,000", "number", "',' separates facts", ",", "1_000",
    ),
    "outside its domain": (
        "tpot given mbu = 80", "domain", "mbu = 80 is not allowed", "80", "80%",
    ),
    "negative": (
        "tpot given batch = -1", "domain", "batch = -1", "-1", "at least 1",
    ),
    "no gpu": (
        "tpot given gpu 0 x h100-sxm", "number", "at least 1 GPU", "0", "gpu 8 x h100-sxm",
    ),
    "1e400": ("tpot given batch = 1e400", "number", "exponent", "1e400", ""),
    "400 digits": ("tpot given batch = " + "9" * 400, "number", "400 digits", "9" * 40, ""),
    "a power": ("tpot given batch = 9^9^9", "number", "exponent", "9", ""),
    "a large power": ("tpot given batch = (9^60)^60", "number", "digits", "(9^60)^60", ""),
    "division by 0": ("tpot given batch = 1/0", "number", "division by 0", "0", ""),
    "NaN": ("tpot given batch = nan", "name", "'nan'", "nan", ""),
    "infinity": ("tpot given batch = inf", "name", "'inf'", "inf", ""),
    "deep": ("tpot given batch = " + "(" * 2000 + "1", "syntax", "deep", "(", ""),
    "ends early": ("tpot given tpot <=", "syntax", "line ends", "", "tpot <= 30 ms"),
    "nothing asked": ("", "syntax", "nothing asked", None, "tpot given"),
    "only facts": ("batch = 32", "syntax", "nothing asked", None, "tpot given"),
    "control characters": ("tpot given \x1b[2Jbatch = 3", "syntax", "not expected", None, "','"),
    "no UTF-8": ("tpot given \udcff batch = 3", "syntax", "not expected", None, "','"),
    "code": ("__import__('os')", "syntax", "not a function", "__import__", "+ - * /"),
    "code for a value": (
        "tpot given batch = __import__('os').system('true')", "syntax", "not a function",
        "__import__", "+ - * /",
    ),
    "a lambda": ("tpot given batch = (lambda: 1)()", "name", "'lambda'", "lambda", ""),
    "an attribute": ("tpot.__class__", "name", "'tpot.__class__'", "tpot.__class__", ""),
}  # fmt: skip


def problem(text: str, kind: str, word: str, help_: str = "") -> list[str]:
    """The lines of a message in the form of all messages: what is wrong, where, what to do."""
    first, *rest = lines = text.splitlines()
    found = FIRST.fullmatch(first)
    assert found, first
    assert found[1] == kind
    assert word in first
    assert len(lines) <= 7
    assert all(line.startswith("  ") for line in rest)
    assert max(map(len, lines)) <= 160
    assert "Traceback" not in text
    assert help_ in "\n".join(rest)
    assert not [char for char in text if not char.isprintable() and char != "\n"]
    return lines


# Asked in a process of their own; the others in this one, by the same function.
OF_A_PIPE = ("unknown unit", "400 digits", "deep", "nothing asked", "no UTF-8", "code")


@pytest.mark.parametrize("name", LINES)
def test_a_bad_line_gets_one_clear_message(
    derive: Callable[..., Any], here: Callable[..., tuple[int, str, str]], name: str
) -> None:
    line, kind, word, marked, help_ = LINES[name]
    if name in OF_A_PIPE:
        ran = derive("ask", "-", stdin=line.encode("utf-8", "surrogateescape"))
        found = (ran.code, ran.out, ran.err)
    else:
        found = here("ask", line)
    assert found[:2] == (2, "")
    lines = problem(found[2], kind, word, help_)
    if marked is not None:
        shown, carets = lines[1], lines[2]
        place = carets.index("^")
        assert set(carets.strip()) == {"^"}
        assert shown[place:].startswith(marked)


def test_a_line_of_a_megabyte(derive: Callable[..., Any]) -> None:
    for text in ("x" * 1_000_000, "tpot given " + "batch = 1, " * 90_000, " " * 2_000_000 + "tpot"):
        started = time.monotonic()
        ran = derive("ask", "-", stdin=text)
        assert time.monotonic() - started < PATIENCE
        assert (ran.code, ran.out) == (2, "")
        problem(ran.err, "syntax", "characters")


def test_a_megabyte_in_json_is_one_answer(derive: Callable[..., Any]) -> None:
    good = '{"find": "mbu", "given": {"mbu": 1}}'
    long = [
        '{"find": "tpot", "given": {"batch": "' + "1" * 999_900 + '"}}',
        '{"find": "tpot", "given": {"model": "' + "x" * 999_900 + '"}}',
        '{"find": "' + "y" * 999_900 + '"}',
        '{"find": "tpot", "using": ["' + "u" * 999_900 + '"]}',
        '{"find": "tpot", "given": {"' + "g" * 999_900 + '": 1}}',
        '{"ask": "' + "tpot, " * 160_000 + '"}',
        "[" * 1_000_000,
        "9" * 1_000_000,
        '{"' + "k" * 999_900 + '": 1}',
        "z" * 3_000_000,
    ]
    started = time.monotonic()
    ran = derive("ask", "--jsonl", stdin="\n".join(part for line in long for part in (line, good)))
    assert time.monotonic() - started < PATIENCE
    answers = [json.loads(line) for line in ran.out.splitlines()]
    assert (ran.code, ran.err) == (0, "")
    assert [a["status"] for a in answers] == ["error", "ok"] * len(long)
    for answer in answers[::2]:
        assert FIRST.fullmatch(answer["message"])
        assert len(answer["message"]) < 200
        assert answer["error"] != "bug"


# -- a config.json that somebody brings

GOOD = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "torch_dtype": "bfloat16",
}


def changed(**keys: Any) -> str:
    return json.dumps({k: v for k, v in {**GOOD, **keys}.items() if v != "absent"})


CONFIGS = {
    "missing key": (changed(num_hidden_layers="absent"), "has no 'num_hidden_layers'"),
    "a text for a number": (changed(num_hidden_layers="32"), "'num_hidden_layers' is"),
    "a list for a number": (changed(num_hidden_layers=[32]), "'num_hidden_layers' is"),
    "negative": (changed(num_attention_heads=-32), "'num_attention_heads' is -32"),
    "nought": (changed(num_key_value_heads=0), "'num_key_value_heads' is 0"),
    "10^400": (changed(hidden_size=10**400), "401 digits"),
    "1e400": (changed(hidden_size=0.5).replace("0.5", "1e400"), "1e400"),
    "NaN": (changed(hidden_size=float("nan")), "NaN"),
    "a thousand deep": ('{"a": ' * 1000 + "1" + "}" * 1000, "deep"),
    "a hundred thousand deep": ("[" * 100_000, "deep"),
    "no object": ("[1, 2]", "not an object"),
    "no JSON": ("num_hidden_layers = 32", "not JSON"),
    "empty": ("", "not JSON"),
    "code": (changed(hidden_size="__import__('os')"), "'hidden_size' is"),
}


@pytest.fixture(scope="module")
def of_configs(
    derive: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """Every config asked in one process, with a good one after each."""
    folder = tmp_path_factory.mktemp("configs")
    (folder / "good.json").write_text(json.dumps(GOOD))
    questions = []
    for name, (text, _) in CONFIGS.items():
        path = folder / f"{name}.json".replace(" ", "-")
        path.write_text(text)
        for identity, file in ((name, path), (None, folder / "good.json")):
            given = {"model": str(file), "kv_dtype": "bf16"}
            question = {"id": identity, "find": "kv_bytes_per_token", "given": given}
            questions.append(json.dumps(question))
    ran = derive("ask", "--jsonl", stdin="\n".join(questions))
    assert (ran.code, ran.err) == (0, "")
    answers = [json.loads(line) for line in ran.out.splitlines()]
    assert {a.get("value") for a in answers[1::2]} == {2 * 32 * 8 * 128 * 2}
    return {answer["id"]: answer for answer in answers[::2]}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_broken_config_is_named(of_configs: dict[str, dict[str, Any]], name: str) -> None:
    answer = of_configs[name]
    kind = "model" if name == "missing key" else "config"
    assert (answer["status"], answer["error"]) == ("error", kind)
    assert answer["message"].startswith(f"error[{kind}]: config.json")
    assert CONFIGS[name][1] in answer["message"]
    assert len(answer["message"]) < 200


def test_a_broken_config_on_the_command_line(derive: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(CONFIGS["missing key"][0])
    ran = derive("ask", "kv_bytes_per_token", "--model", str(path))
    assert (ran.code, ran.out) == (2, "")
    lines = problem(ran.err, "model", "config.json has no 'num_hidden_layers'", "n_layers = ...")
    assert lines[2].strip() == "^" * len(str(path))


@pytest.mark.parametrize("name", ["big", "no-text", "absent", "folder", "device"])
def test_a_file_that_is_no_config(derive: Callable[..., Any], tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.json"
    if name == "big":
        with path.open("wb") as file:
            file.truncate(100 * 2**20)
    elif name == "no-text":
        path.write_bytes(b"\xff\xfe\x00")
    elif name == "folder":
        path.mkdir()
    elif name == "device":
        path.symlink_to("/dev/zero")
    started = time.monotonic()
    ran = derive("ask", "kv_bytes_per_token", "--model", str(path))
    assert time.monotonic() - started < PATIENCE
    assert (ran.code, ran.out) == (2, "")
    problem(ran.err, "config" if name in ("big", "no-text") else "file", "")


# -- nothing is executed

WATCH = """
import os, sys
CANARY = sys.argv.pop(1)

def watch(event, arguments):
    if event in ("os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen",
                 "socket.connect", "socket.getaddrinfo", "import_hostile"):
        os._exit(99)
    if event == "compile" and arguments[0] is not None:
        source = arguments[0]
        text = source if isinstance(source, str) else bytes(source).decode("utf-8", "replace")
        if CANARY in text:
            os._exit(98)

sys.addaudithook(watch)
from derive.cli import main
sys.exit(main(sys.argv[1:]))
"""


def watched(canary: str, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """The command under a hook that ends it where it starts anything or compiles the canary."""
    return subprocess.run(
        [sys.executable, "-c", WATCH, canary, *arguments],
        input=stdin, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False,
    )  # fmt: skip


def test_nothing_that_a_person_brings_is_executed(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    code = f"__import__('os').system('touch {canary}')"
    config = tmp_path / "config.json"
    config.write_text(changed(hidden_size=code, model_type=code, architectures=[code]))
    givens: list[dict[str, Any]] = [
        {"batch": code},
        {"batch": f"= {code}"},
        {"batch": f"<= {code}"},
        {code: 1},
        {"model": code},
        {"model": str(config)},
        {"gpu": f"8 x {code}"},
        {"kv_dtype": code},
        {"mig_profile": code},
        {"model": f"llama-3.1-8b; touch {canary}"},
        {"model": f"$(touch {canary})"},
        {"model": f"`touch {canary}`"},
        {"batch": [code, code]},
    ]
    questions: list[dict[str, Any]] = [{"find": "tpot", "given": given} for given in givens]
    questions += [{"find": code}, {"ask": code}, {"ask": f"tpot given batch = {code}"}]
    questions += [{"find": "tpot", "using": [code]}, {code: code}]
    questions += [
        {"find": "attention_output", "using": ["attention"], "given": {"Q": [[code]]}},
        {"find": "block_hash", "using": ["prefix_block_hash"],
         "given": {"parent_hash": code, "block_tokens": [1], "extra_keys": [code]}},
    ]  # fmt: skip
    stdin = "\n".join(map(json.dumps, questions))
    ran = watched(canary.name, "ask", "--jsonl", stdin=stdin)
    assert (ran.returncode, ran.stderr) == (0, "")
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(answers) == len(questions)
    # A hash of any text is a hash; all else is refused.
    assert [a["status"] for a in answers] == ["error"] * (len(questions) - 1) + ["ok"]
    assert "bug" not in [a.get("error") for a in answers]
    for arguments in (
        ("ask", code),
        ("ask", "tpot", "--set", f"batch = {code}"),
        ("ask", "tpot", "--model", code),
        ("ask", "tpot", "--gpu", code),
        ("show", code),
        ("show", "kv_bytes_per_token", "for", code),
        ("list", code),
    ):
        ran = watched(canary.name, *arguments)
        assert (ran.returncode, ran.stdout) == (2, ""), arguments
        assert FIRST.match(ran.stderr)
        assert "Traceback" not in ran.stderr
    assert not canary.exists()


def test_the_watch_sees_what_it_is_to_see(tmp_path: Path) -> None:
    """A watch that never barks would prove nothing."""
    for harm, code in (("eval('1 + len(\"canary\")')", 98), ("os.system('true')", 99)):
        script = WATCH.replace("from derive.cli import main", f"{harm}\ndef main(_): return 0")
        ran = subprocess.run(
            [sys.executable, "-c", script, "canary"], capture_output=True, cwd=tmp_path, check=False
        )
        assert ran.returncode == code
