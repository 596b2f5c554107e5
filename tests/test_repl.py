"""The real prompt in a pseudo-terminal, and without a terminal: driven as a person would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pexpect = pytest.importorskip("pexpect", reason="pexpect drives the prompt")
if not hasattr(pexpect, "spawn"):
    pytest.skip("no pseudo-terminals here", allow_module_level=True)

ROOT = Path(__file__).parent.parent
PATIENCE = 20
SHEET = "n_layers = 32, n_kv_heads = 8, d_head = 128, kv_bytes_per_element = 2"
HELD = 2 * 32 * 8 * 128 * 2
LONG = (
    "which tp, pp, dp, kv_dtype given model deepseek-v3, gpu 1024 x h100-sxm, batch = 64, "
    "context = 8k, tpot <= 30 ms"
)
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x08|\r")
DOWN, TAB, ENTER, CTRL_C, CTRL_D, CTRL_R, UP, RIGHT = (
    "\x1b[B", "\t", "\r", "\x03", "\x04", "\x12", "\x1b[A", "\x1b[C",
)  # fmt: skip


class Person:
    """Somebody at a terminal: types, and reads what is shown."""

    def __init__(self, history: Path, **environment: str) -> None:
        env = {
            **os.environ, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1",
            "DERIVE_HISTORY": str(history), "COLUMNS": "100", "LINES": "40", **environment,
        }  # fmt: skip
        self.child: Any = pexpect.spawn(
            sys.executable, ["-m", "derive"], env=env, cwd=str(ROOT), dimensions=(40, 100),
            encoding="utf-8", timeout=PATIENCE,
        )  # fmt: skip
        self.child.delaybeforesend = None
        self.prompt()

    def prompt(self) -> str:
        """Wait for the prompt; what was shown before it, without the marks that move a cursor."""
        # The prompt's last act is to show the cursor, in the mode in which pasting is bracketed.
        self.child.expect(r"\x1b\[\?2004h")
        before = str(self.child.before)
        self.child.expect(r"derive>.*?\x1b\[\?25h")
        return _ESCAPE.sub("", before)

    def types(self, text: str) -> None:
        self.child.send(text)

    def sees(self, pattern: str) -> str:
        self.child.expect(pattern)
        return str(self.child.after)

    def says(self, line: str) -> str:
        """The line, and what it comes to."""
        self.types(line + ENTER)
        return self.prompt()

    def leaves(self) -> int:
        self.types(CTRL_D)
        self.child.expect(pexpect.EOF)
        self.child.close()
        return int(self.child.exitstatus)


@pytest.fixture
def history(tmp_path: Path) -> Path:
    return tmp_path / "state" / "history"


@pytest.fixture
def person(history: Path) -> Iterator[Person]:
    found = Person(history)
    yield found
    found.child.close(force=True)


def test_facts_hold_and_undo_takes_them_back(person: Person) -> None:
    assert "n_layers = 32" in person.says(SHEET)
    assert "131\u202f072" in person.says("kv_bytes_per_token")
    assert "n_layers = 64" in person.says("n_layers = 64")
    assert "262\u202f144" in person.says("kv_bytes_per_token")
    assert "undone  kv_bytes_per_token" in person.says("undo")
    assert "undone  n_layers = 64" in person.says("undo")
    assert "131\u202f072" in person.says("kv_bytes_per_token")
    assert person.leaves() == 0


def test_an_error_has_its_caret_under_the_line(person: Person) -> None:
    shown = person.says("max contxt given batch = 32").splitlines()
    rows = [row for row in shown if row.strip()]
    place = next(i for i, row in enumerate(rows) if set(row.strip()) == {"^"})
    assert rows[place] == " " * len("derive> max ") + "^" * len("contxt")
    assert "error[name]: no variable 'contxt'" in rows[place + 1]
    assert "did you mean 'context'" in rows[place + 2]
    assert not any("contxt given" in row for row in rows[place:])


def test_completion_by_position(person: Person) -> None:
    for begun, whole in (
        ("max context_t", "context_tokens"),
        ("model llama-3.1-7", "llama-3.1-70b"),
        ("gpu 8 x h200-s", "h200-sxm"),
        ("tpot <= 30 u", "us"),
        ("whi", "which"),
        ("weight_dtype = nvf", "nvfp4"),
        ("load README.m", "README.md"),
    ):
        person.types(begun + TAB)
        person.sees(re.escape(whole[len(re.split(r"[ ]", begun)[-1]) :]))
        person.types(CTRL_C)
        person.prompt()


def test_the_list_says_what_each_name_is(person: Person) -> None:
    person.types("max conte" + TAB)
    person.sees("tokens of one sequence|tok ")


def test_history_by_arrow_search_and_ghost(person: Person, history: Path) -> None:
    person.says(SHEET)
    person.says("kv_bytes_per_token")
    person.types(UP)
    person.sees("kv_bytes_per_token")
    person.types(UP)
    person.sees("d_head")
    person.types(CTRL_C)
    person.prompt()
    person.types(CTRL_R + "d_head")
    person.sees("kv_bytes_per_element")
    person.types(ENTER)
    person.types(CTRL_C)
    person.prompt()
    person.types("kv_bytes_per_t")
    person.sees("oken")
    person.types(RIGHT + ENTER)
    assert "131\u202f072" in person.prompt()
    assert person.leaves() == 0
    assert history.read_text().splitlines()[:2] == [SHEET, "kv_bytes_per_token"]
    assert history.stat().st_mode & 0o077 == 0


def test_history_is_there_next_time_and_after_a_crash(history: Path) -> None:
    first = Person(history)
    first.says("n_layers = 33")
    first.child.kill(9)
    first.child.close(force=True)
    assert history.read_text() == "n_layers = 33\n"
    second = Person(history)
    second.types(UP)
    second.sees("33")
    second.types(CTRL_C)
    second.prompt()
    assert second.leaves() == 0


def test_ctrl_c_ends_a_long_search_and_nothing_else(person: Person) -> None:
    person.says("mbu = 77%")
    person.types(LONG + ENTER)
    person.sees(r"\?2004l")
    time.sleep(1.0)
    person.types(CTRL_C)
    assert "stopped; nothing has changed" in person.prompt()
    assert "131\u202f072" in person.says(f"kv_bytes_per_token given {SHEET}")
    assert "mbu = 77" in person.says("facts").replace("0.77", "77")
    assert "undone  kv_bytes_per_token" in person.says("undo")
    assert person.leaves() == 0


def test_ctrl_c_at_the_prompt_throws_the_line_away(person: Person) -> None:
    person.types("tpot given" + CTRL_C)
    person.prompt()
    assert "n_layers = 32" in person.says(SHEET)


def test_save_and_replay(person: Person, tmp_path: Path, derive: Callable[..., Any]) -> None:
    path = tmp_path / "sizing.derive"
    person.says("layers 32")
    person.says(SHEET.partition(", ")[2])
    answered = person.says("kv_bytes_per_token")
    assert "4 lines saved" in person.says("max n_layers given kv_bytes_per_token <= 1 MB") + (
        person.says(f"save {path}")
    )
    assert person.leaves() == 0
    ran = derive("run", str(path))
    assert (ran.code, ran.err) == (0, "")
    assert "131\u202f072" in answered
    assert "131\u202f072" in ran.out
    lines = path.read_text().splitlines()
    assert lines[1] == "n_layers = 32"
    again = Person(tmp_path / "other")
    assert "131\u202f072" in again.says(f"load {path}")
    assert "n_layers = 32" in again.says("facts")
    assert again.leaves() == 0


def test_a_pasted_transcript_is_read_line_by_line(person: Person) -> None:
    text = f"derive> {SHEET}\nderive> kv_bytes_per_token\n"
    person.types(f"\x1b[200~{text}\x1b[201~")
    person.types(ENTER)
    shown = person.prompt()
    assert "131\u202f072" in shown
    person.types("\x1b[200~n_layers = 64\nkv_bytes_per_tken\nkv_bytes_per_token\n\x1b[201~" + ENTER)
    shown = person.prompt()
    assert "no variable 'kv_bytes_per_tken'" in shown
    assert "1 more line" in shown


def test_colour_unless_no_color_is_set(history: Path) -> None:
    for environment, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        found = Person(history, **environment)
        found.types("max contxt" + ENTER)
        found.sees("did you mean")
        # 30 to 37 and 90 to 97 set a colour; 0, 1 and 7 do not.
        assert bool(re.search(r"\x1b\[(?:\d+;)*(?:3[0-7]|9[0-7]|38)", found.child.before)) == (
            coloured
        )
        found.child.close(force=True)


def test_quit_leaves(person: Person) -> None:
    person.types("quit" + ENTER)
    person.child.expect(pexpect.EOF)
    person.child.close()
    assert person.child.exitstatus == 0


# -- without a terminal that edits lines


def test_a_dumb_terminal_has_a_plain_prompt(tmp_path: Path) -> None:
    env = {**os.environ, "TERM": "dumb", "DERIVE_HISTORY": str(tmp_path / "history")}
    child = pexpect.spawn(
        sys.executable, ["-m", "derive"], env=env, cwd=str(ROOT), encoding="utf-8",
        timeout=PATIENCE, dimensions=(40, 100),
    )  # fmt: skip
    child.expect_exact("derive> ")
    child.sendline(f"kv_bytes_per_token given {SHEET}")
    child.expect("131.072 B/tok")
    child.expect_exact("derive> ")
    child.sendline("max contxt")
    child.expect(r"\n {12}\^{6}\r\n")
    child.expect_exact("derive> ")
    child.sendintr()
    child.expect_exact("derive> ")
    child.sendline(LONG)
    time.sleep(1.0)
    child.sendintr()
    child.expect_exact("stopped; nothing has changed")
    child.expect_exact("derive> ")
    child.sendeof()
    child.expect(pexpect.EOF)
    assert "\x1b" not in child.before
    child.close()
    assert child.exitstatus == 0
    assert (tmp_path / "history").read_text().splitlines()[1] == "max contxt"


def test_a_pipe_is_answered_without_a_prompt(derive: Callable[..., Any]) -> None:
    ran = derive(stdin=f"# facts\n{SHEET}\n\nderive> kv_bytes_per_token\nquit\ntpot\n")
    assert (ran.code, ran.err) == (0, "")
    assert "131\u202f072 B/tok" in ran.out
    assert "derive>" not in ran.out
    assert "\x1b" not in ran.out


def test_a_pipe_ends_at_the_first_line_that_cannot_be_read(derive: Callable[..., Any]) -> None:
    ran = derive(stdin=f"{SHEET}\n\nmax contxt\nkv_bytes_per_token\n")
    assert ran.code == 2
    assert "line 3" in ran.err
    assert "error[name]: no variable 'contxt'" in ran.err
    assert "131" not in ran.out


def test_the_exit_code_of_a_pipe_is_that_of_its_last_answer(derive: Callable[..., Any]) -> None:
    assert derive(stdin="").code == 0
    assert derive(stdin="tpot\n").code == 3
    assert derive(stdin="max context given batch = 32\n").code == 5


def test_a_question_needs_no_word_before_it(derive: Callable[..., Any]) -> None:
    plain = derive(f"kv_bytes_per_token given {SHEET}")
    assert (plain.code, plain.err) == (0, "")
    assert plain.out == derive("ask", f"kv_bytes_per_token given {SHEET}").out
    spread = derive("max", "context", "given", "batch = 2", "--json")
    assert spread.code == 5


# -- imports

STARTED = """
import sys, threading
import derive.cli
import derive.repl
import derive.repl_terminal
heavy = {"sympy", "numpy", "networkx", "z3", "mpmath", "derive.question", "formulas.quantities"}
print("loaded", *(heavy & sys.modules.keys()))
"""


def test_the_prompt_needs_nothing_heavy() -> None:
    """Nor the reader of lines and the vocabulary, which together take a third of the start."""
    ran = subprocess.run(
        [sys.executable, "-c", STARTED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "loaded\n"
