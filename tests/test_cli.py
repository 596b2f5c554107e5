"""The command line: exit codes, forms of output, streams, options in any order, what it imports."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import derive as package
from derive.cli import COMMANDS
from tests.transcripts import form

ROOT = Path(__file__).parent.parent
HEADLINE = (
    "max context given model llama-3.1-70b, gpu 8 x h100-sxm, tp = 8, batch = 32, tpot <= 30 ms"
)
# What each exit code stands for, with a question that leads to it.
CODES = {
    "ok": (0, "kv_bytes_per_token given model llama-3.1-70b"),
    "infeasible": (1, HEADLINE.replace("30 ms", "5 ms")),
    "error": (2, "max contxt given batch = 32"),
    "missing": (3, "kv_bytes_per_token given n_layers = 32"),
    "contradiction": (
        4,
        "kv_bytes_per_token given model llama-3.1-70b, kv_dtype bf16, kv_bytes_per_token = 400 KiB",
    ),
    "unbounded": (5, "max context given batch = 32"),
}
# Cards of every status, by the name of their file.
CARDS = {
    "largest": HEADLINE,
    "smallest": "min gpu_memory_utilization given model qwen2.5-7b, gpu h100-sxm, batch = 50, "
    "context = 3072",
    "value": "kv_bytes_per_token given model llama-3.1-70b, kv_dtype bf16",
    "inverse": "n_layers given kv_bytes_per_token = 128 KiB, n_kv_heads 8, d_head = 128, "
    "kv_bytes_per_element = 2",
    "not-whole": "n_layers given kv_bytes_per_token = 100 kB, n_kv_heads = 8, d_head = 128, "
    "kv_bytes_per_element = 2",
    "range": "context given model llama-3.1-8b, gpu 1 x h100-sxm, batch = 8, tpot <= 10 ms",
    "broken": "memory_used_per_gpu given model llama-3.1-70b, gpu 1 x h100-sxm, batch = 4, "
    "context = 1000",
    "assumed-itself": "mbu given memory_bandwidth = 2 TB/s",
    "infeasible": CODES["infeasible"][1],
    "missing": CODES["missing"][1],
    "missing-names": "tpot given batch = 32",
    "contradiction": CODES["contradiction"][1],
    "two-facts": "batch given batch = 4, batch = 5",
    "unbounded": CODES["unbounded"][1],
    "override": "kv_bytes_per_token given model llama-3.1-70b, kv_dtype bf16, "
    "kv_bytes_per_token := 400 KiB",
}


Here = Callable[..., tuple[int, str, str]]


# -- exit codes


@pytest.mark.parametrize("status", CODES)
def test_the_exit_code_says_what_kind_of_answer_it_is(here: Here, status: str) -> None:
    wanted, question = CODES[status]
    code, out, err = here("ask", question)
    assert code == wanted
    shown = err if status in ("error", "contradiction") else out
    assert shown
    assert (out, err).count("") == 1
    code, out, err = here("ask", "--json", question)
    answer = json.loads(out)
    assert (code, answer["status"]) == (wanted, status)
    assert "id" not in answer
    assert bool(err) == (status == "error")


def test_a_question_out_of_time_is_unproved(here: Here) -> None:
    code, out, _ = here("ask", "--time", "1e-6", HEADLINE)
    assert code == 6
    assert out.startswith("error[unproved]: ")
    assert "--time" in out


def test_a_mistake_of_ours_is_called_one(derive: Callable[..., Any], tmp_path: Path) -> None:
    """Not a stand-in: the packages are copied, and a data file is damaged."""
    for name in ("derive", "formulas", "solvers"):
        copied = tmp_path / name
        copied.mkdir()
        subprocess.run(["cp", "-r", f"{ROOT / name}/.", copied], check=True)
    (tmp_path / "formulas" / "data" / "models.toml").write_text("not = [toml")
    command = [sys.executable, "-m", "derive", "ask", "tpot given model llama-3.1-8b"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 70
    assert ran.stderr.startswith("error[bug]: ")
    assert "Traceback" not in ran.stderr
    ran = subprocess.run(
        [*command, "--debug"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "Traceback" in ran.stderr


# -- commands and options


@pytest.mark.parametrize("arguments", [("--help",), ("ask", "--help")])
def test_help_shows_what_there_is(here: Here, arguments: tuple[str, ...]) -> None:
    code, out, err = here(*arguments)
    assert (code, err) == (0, "")
    words = (
        [command.name for command in COMMANDS] if "ask" not in arguments else ["--json", "--set"]
    )
    assert all(word in out for word in words)


def test_version(here: Here) -> None:
    assert here("--version") == (0, f"derive {package.__version__}\n", "")


@pytest.mark.parametrize("command", [c.name for c in COMMANDS])
def test_every_command_has_help_and_json(here: Here, command: str) -> None:
    assert "--json" in here(command, "--help")[1]


@pytest.mark.parametrize("command", ["list", "numbers", "models", "gpus"])
def test_tables_are_arrays_of_objects_with_an_id(here: Here, command: str) -> None:
    code, out, _ = here(command, "--json")
    rows = json.loads(out)
    assert code == 0
    assert len({row["id"] for row in rows}) == len(rows) > 5
    code, out, _ = here(command)
    assert code == 0
    assert len(out.splitlines()) > 5


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("aks", "tpot"), "'aks'"),
        (("ask", "tpot", "--jsno"), "--jsno"),
        (("--json", "ask", "tpot"), "--json"),
        (("ask", "--json", "--jsonl"), "--jsonl"),
        (("ask", "--time", "soon", "tpot"), "'soon'"),
        (("ask", "--time", "nan", "tpot"), "'nan'"),
        (("ask", "--time", "0", "tpot"), "'0'"),
        (("ask", "--time", "-5", "tpot"), "'-5'"),
        (("ask", "--model"), "--model"),
        (("list", "--steps"), "--steps"),
        (("ask", "--jsonl", "tpot"), "question"),
        (("ask", "--jsonl", "--model", "llama-3.1-8b"), "--model"),
        (("ask", "--jsonl", "--set", "batch = 3"), "--set"),
    ],
    ids=" ".join,
)
def test_a_wrong_option_is_a_usage_error(here: Here, arguments: tuple[str, ...], word: str) -> None:
    code, out, err = here(*arguments)
    assert (code, out) == (2, "")
    first, *rest = err.splitlines()
    assert first.startswith("error[usage]: ")
    assert word in first
    assert len(rest) == 1
    assert rest[0].startswith("  ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", "--json", "--model=llama-3.1-70b", "--set", "kv_dtype=fp8", "kv_bytes_per_token"),
        ("ask", "kv_bytes_per_token", "--set", "kv_dtype=fp8", "--model=llama-3.1-70b", "--json"),
        ("ask", "--set", "kv_dtype=fp8", "kv_bytes_per_token", "--json", "given", "model",
         "llama-3.1-70b"),
        ("ask", "kv_bytes_per_token given", "kv_dtype=fp8", "--json", "--model", "llama-3.1-70b"),
        ("ask", "kv_bytes_per_token # bytes", "--json", "--model=llama-3.1-70b", "--set",
         "kv_dtype = fp8"),
        ("--debug", "ask", "kv_bytes_per_token given kv_dtype fp8, model llama-3.1-70b", "--json"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_options_stand_anywhere(here: Here, arguments: tuple[str, ...]) -> None:
    code, out, err = here(*arguments)
    assert (code, err) == (0, "")
    assert json.loads(out)["value"] == 2 * 80 * 8 * 128


def test_options_state_facts_as_the_question_does(here: Here) -> None:
    options = ("--model", "llama-3.1-70b", "--gpu", "8 x h100-sxm", "--set", "tp = 8")
    spread = here("ask", "max context given tpot <= 30 ms, batch = 32", *options, "--json")
    assert json.loads(spread[1])["value"] == json.loads(here("ask", "--json", HEADLINE)[1])["value"]


def test_an_empty_model_is_not_passed_over(here: Here) -> None:
    code, _, err = here("ask", "kv_bytes_per_token", "--model", "")
    assert code == 2
    assert "model" in err


def test_the_unit_asked_is_the_unit_shown(here: Here) -> None:
    out = here("ask", "kv_bytes_per_token -> KiB", "--model", "llama-3.1-70b")[1]
    assert out.splitlines()[0] == "kv_bytes_per_token = 320 KiB"


def test_steps_are_shown_where_they_are_asked_for(here: Here) -> None:
    short, long = here("ask", HEADLINE)[1], here("ask", HEADLINE, "--steps")[1]
    count = int(re.search(r"steps +(\d+); --steps shows them", short)[1])  # type: ignore[index]
    assert len(long.splitlines()) - len(short.splitlines()) == count + 1
    assert "deployment.step_time" in long


# -- streams


def test_a_question_comes_from_a_pipe(derive: Callable[..., Any]) -> None:
    question = "kv_bytes_per_token given model llama-3.1-70b"
    for arguments, stdin in (
        (("ask", "--json"), f"{question}\n"),
        (("ask", "-", "--json"), f"\ufeff\n\n  {question}\r\n\n"),
        (("ask", "--json", "--model", "llama-3.1-70b"), "kv_bytes_per_token"),
    ):
        ran = derive(*arguments, stdin=stdin)
        assert (ran.code, ran.err) == (0, "")
        assert json.loads(ran.out)["value"] == 327680


@pytest.mark.parametrize(
    ("stdin", "word"),
    [("", "nothing asked"), ("\n \n", "nothing asked"), ("tpot\nttft\n", "2 lines")],
)
def test_a_pipe_holds_one_question(derive: Callable[..., Any], stdin: str, word: str) -> None:
    ran = derive("ask", "-", stdin=stdin)
    assert (ran.code, ran.out) == (2, "")
    assert word in ran.err


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f'set -o pipefail; d() {{ "{sys.executable}" -m derive "$@"; }}; {command}'],
        capture_output=True, text=True, cwd=ROOT, env={**os.environ, **environment}, timeout=60,
        check=False,
    )  # fmt: skip


def test_streams_may_be_closed_or_full() -> None:
    ran = shell("d ask <&-")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "nothing asked" in ran.stderr
    ran = shell("d ask --jsonl <&-")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    ran = shell("d ask mbu --set mbu=1 >&-")
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_an_answer_that_cannot_be_written_is_no_success() -> None:
    ran = shell("d ask mbu --set mbu=1 > /dev/full")
    assert ran.returncode == 2
    assert ran.stderr.startswith("error[file]: ")
    assert "Traceback" not in ran.stderr


def test_a_reader_that_leaves_early_is_no_mistake() -> None:
    line = '{"find": "mbu", "given": {"mbu": 1}}'
    ran = shell(f"yes '{line}' | head -n 3000 | d ask --jsonl | head -n 1")
    assert json.loads(ran.stdout)["value"] == 1
    assert ran.stderr == ""


def test_an_interrupt_ends_without_a_traceback() -> None:
    command = [sys.executable, "-m", "derive", "ask", "--jsonl"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    ) as process:
        assert process.stdin and process.stdout and process.stderr  # noqa: PT018
        process.stdin.write(b'{"find": "mbu", "given": {"mbu": 1}}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["value"] == 1
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
        assert process.stderr.read() == b"stopped\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_narrow_encodings_lose_nothing_but_thin_spaces(
    derive: Callable[..., Any], encoding: str
) -> None:
    question = "kv_bytes_per_token given model llama-3.1-8b, kv_dtype bf16"
    lines = f'{{"id": "\u00e9\u202f", "ask": "{question}"}}\n'
    for arguments, stdin in ((("ask", question), ""), (("ask", "--jsonl"), lines)):
        ran = subprocess.run(
            [sys.executable, "-m", "derive", *arguments], input=stdin.encode(), cwd=ROOT,
            env={**os.environ, "PYTHONIOENCODING": encoding}, capture_output=True, check=False,
        )  # fmt: skip
        assert (ran.returncode, ran.stderr) == (0, b"")
        text = ran.stdout.decode(encoding)
        if stdin:
            answer = json.loads(text)
            assert (answer["id"], answer["value"]) == ("\u00e9\u202f", 131072)
        else:
            space = "\u202f" if encoding == "utf-8" else " "
            assert text.splitlines()[0] == f"kv_bytes_per_token = 131{space}072 B/tok"


# -- imports

IMPORTS = """
import sys
from derive.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print("loaded", *({"sympy", "numpy", "networkx", "z3", "prompt_toolkit"} & sys.modules.keys()))
"""


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        (("--version",), set()),
        (("--help",), set()),
        (("ask", "--help"), set()),
        (("ask", HEADLINE), {"sympy"}),
    ],
    ids=["version", "help", "ask-help", "headline"],
)
def test_nothing_heavy_is_imported_in_vain(arguments: tuple[str, ...], allowed: set[str]) -> None:
    command = [sys.executable, "-c", IMPORTS, *arguments]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    word, *loaded = ran.stdout.splitlines()[-1].split()
    assert word == "loaded"
    assert set(loaded) <= allowed


# -- cards


@pytest.mark.parametrize("name", CARDS)
def test_the_form_of_a_card(here: Here, golden: Callable[[str, str], None], name: str) -> None:
    _, out, err = here("ask", CARDS[name])
    golden(f"cards/{name}.txt", f"$ derive ask {CARDS[name]!r}\n{form(out + err)}")


def test_the_number_of_the_headline_is_worked_by_hand(here: Here) -> None:
    """The largest context meets the limit on TPOT, and one token more does not."""
    first = here("ask", HEADLINE)[1].splitlines()[0].replace("\u202f", "")
    found = re.match(r"context_tokens <= (\d+) tok    largest, a whole number$", first)
    assert found
    assert step_time(int(found[1])) <= 0.030 < step_time(int(found[1]) + 1)


def step_time(context: int) -> float:
    """Llama 3.1 70B in BF16 on 8 H100 SXM at batch 32, from deployment.md."""
    batch, tp, layers = 32, 8, 80
    weights = 2 * 70_553_706_496 / tp
    cache = batch * context * 2 * layers * 8 * 128 * 2 / tp
    message = 2 * batch * 8192
    ring = 2 * (tp - 1) * 1e-6 + 2 * (tp - 1) / tp * message / 450e9
    return (weights + cache) / (3.35e12 * 0.8) + 0.0035 + 2 * layers * ring


def test_a_card_is_no_wider_than_its_terminal(derive: Callable[..., Any]) -> None:
    out = derive("ask", HEADLINE).out
    assert max(map(len, out.splitlines())) <= 100
