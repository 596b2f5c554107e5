"""A session without a terminal: undo, redo, drop, edit, set, save and load."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.commands import VERBS
from derive.conversation import Conversation
from derive.question import canonical, parse
from derive.repl_dialogue import Dialogue, State
from derive.repl_lines import begins_a_question, lines_in
from derive.repl_words import WORDS
from formulas.errors import Problem
from formulas.statements import Fact, Limit

START = Dialogue(State(Conversation(seconds=0.0)))
ASKED = "kv_bytes_per_token"
SHEET = "n_layers = 32, n_kv_heads = 8, d_head = 128, kv_bytes_per_element = 2"
MODEL = 2 * 32 * 8 * 128 * 2

small = st.integers(min_value=1, max_value=64)
FACTS = ("batch = {}", "tp = 2, batch = {}", "tpot <= {} ms", "mbu = {}%", "1 <= tp <= {}",
         "prompt = {}k", "tp in {{1, {}}}", "model llama-3.1-8b", "gpu {} x h100-sxm",
         "step_overhead = 1..{} ms", "kv_dtype = fp8")  # fmt: skip
OTHERS = ("drop batch", "drop tp, tpot", "drop model", "set digits 6", "set steps yes", "reset",
          f"{ASKED} given {SHEET}", f"max n_layers given {SHEET}, kv_bytes_per_token <= 1 MB",
          "use decode_step_kv for step_time", "facts", "edit", "formulas kv cache", "? tpot",
          "edit 1 batch = 3", "undo", "undo 2", "redo", "help", "set")  # fmt: skip
lines = st.one_of(
    st.tuples(st.sampled_from(FACTS), small).map(lambda pair: pair[0].format(pair[1])),
    st.sampled_from(OTHERS),
)


def said(*rows: str, start: Dialogue = START) -> Dialogue:
    for row in rows:
        start = start.say(row)[0]
    return start


def tried(dialogue: Dialogue, row: str) -> Dialogue:
    """The dialogue after the line; the same one after a line that cannot be said."""
    try:
        return dialogue.say(row)[0]
    except Problem:
        return dialogue


# -- undo and redo


@given(st.lists(lines, max_size=6), lines.filter(lambda row: not row.startswith(("undo", "redo"))))
def test_undo_after_any_line_gives_back_the_very_same_conversation(
    before: list[str], row: str
) -> None:
    start = START
    for line in before:
        start = tried(start, line)
    after = tried(start, row)
    if len(after.past) == len(start.past):
        assert after.now is start.now
        return
    undone = after.say("undo")[0]
    assert undone.now is start.now
    assert undone.now.conversation is start.now.conversation
    assert undone.past == start.past
    redone = undone.say("redo")[0]
    assert (redone.now, redone.past, redone.future) == (after.now, after.past, after.future)
    assert redone.now is after.now


@given(st.lists(lines, min_size=1, max_size=8))
def test_all_undone_is_the_beginning_and_all_redone_the_end(rows: list[str]) -> None:
    end = START
    for row in rows:
        end = tried(end, row)
    if not end.past:
        return
    begun = end.say(f"undo {len(end.past)}")[0]
    assert begun.now is START.now
    assert begun.past == ()
    assert begun.say(f"redo {len(end.past)}")[0].now is end.now


def test_a_new_line_ends_what_could_be_redone() -> None:
    after = said("batch = 1", "batch = 2", "undo", "batch = 3")
    with pytest.raises(Problem, match="nothing to redo"):
        after.say("redo")
    with pytest.raises(Problem, match="nothing to undo"):
        START.say("undo")


@pytest.mark.parametrize("row", ["facts", "edit", "set", "? tpot", "formulas kv", "show tpot"])
def test_a_look_changes_nothing(row: str) -> None:
    before = said("batch = 2")
    assert before.say(row)[0] is before


@pytest.mark.parametrize(
    "row", ["max contxt", "batch = 80 gb", "drop tpot", "edit 9 batch = 1", "edit 1 batc = 3",
            "undo x", "set digits 99", "set colour red", "load nowhere.derive",
            "kv_bytes_per_token = 400 KiB"],
)  # fmt: skip
def test_a_line_that_cannot_be_said_changes_nothing(row: str) -> None:
    before = said(SHEET)
    with pytest.raises(Problem) as caught:
        before.say(row)
    assert caught.value.line
    assert before == said(SHEET)


# -- facts and drop


@given(st.lists(lines, max_size=5), small)
def test_what_is_said_and_dropped_leaves_what_was_there(before: list[str], count: int) -> None:
    start = START
    for line in before:
        start = tried(start, line)
    known = start.now.conversation.statements
    if any(getattr(row, "quantity", "") == "draft_tokens" for row in known):
        return
    after = said(f"draft_tokens = {count}", "drop k_draft", start=start)
    assert after.now.conversation.statements == known


def test_drop_takes_values_limits_choices_and_preferences() -> None:
    full = said("batch = 2, 1 <= batch <= 8", "model llama-3.1-8b", "kv_dtype fp8",
                "use decode_step_kv for step_time", "batch / tp <= 4")  # fmt: skip
    assert full.say("drop batch")[0].now.conversation.statements == tuple(
        row for row in full.now.conversation.statements
        if not (isinstance(row, Fact | Limit) and row.quantity == "batch")
        and "batch" not in str(getattr(row, "left", ""))
    )  # fmt: skip
    assert not said("drop step_time", start=full).now.conversation.prefer
    kept = said("drop model, kv_dtype", start=full).now.conversation.statements
    assert not [row for row in kept if "llama" in str(row) or "fp8" in str(row)]


def test_facts_say_which_line_said_them() -> None:
    after = said("batch = 2, tp = 4", ASKED + " given " + SHEET, "context = 8k", "batch = 3")
    data = after.say("facts")[1].data
    assert data["facts"] == [
        {"line": 1, "text": "tp = 4"},
        {"line": 3, "text": "context_tokens = 8000"},
        {"line": 4, "text": "batch = 3"},
    ]


# -- edit


@given(st.lists(st.sampled_from(FACTS), min_size=1, max_size=5), small, st.data())
def test_a_line_edited_into_itself_changes_nothing_said(
    rows: list[str], count: int, data: Any
) -> None:
    start = START
    for row in rows:
        start = tried(start, row.format(count))
    if not start.now.entries:
        return
    number = data.draw(st.integers(min_value=1, max_value=len(start.now.entries)))
    same = start.say(f"edit {number} {start.now.entries[number - 1].line}")[0]
    assert [e.line for e in same.now.entries] == [e.line for e in start.now.entries]
    assert _told(same) == _told(start)
    assert same.say("undo")[0].now is start.now


def _told(dialogue: Dialogue) -> list[Any]:
    rows = dialogue.now.conversation.statements
    return [replace(row, text="") for row in rows]


def test_an_edited_line_has_the_later_ones_answered_anew() -> None:
    before = said("n_layers = 32", "n_kv_heads = 8, d_head = 128, kv_bytes_per_element = 2", ASKED)
    after, outcome = before.say("edit 1 n_layers = 64")
    last = after.now.conversation.last
    assert last is not None
    assert last.value == 2 * MODEL
    assert "262" in outcome.text()
    assert after.now.entries[0].line == "n_layers = 64"


def test_the_carets_of_an_edit_stand_under_the_line_as_typed() -> None:
    line = "edit 1   n_layers = 80 gb"
    with pytest.raises(Problem) as caught:
        said("n_layers = 32").say(line)
    assert caught.value.line == line
    assert caught.value.span is not None
    assert line[slice(*caught.value.span)] == "gb"


def test_undo_says_what_it_undoes(tmp_path: Path) -> None:
    path = tmp_path / "two.derive"
    path.write_text("n_layers = 64\nd_head = 64\n")
    after = said("batch = 2", "tp = 4", "edit 1 batch = 3", f"load {path}", "reset")
    told = []
    while after.past:
        after, outcome = after.say("undo")
        told.append(outcome.text().split(maxsplit=1)[1])
    assert told == ["reset", "2 lines of a file", "edit 1 batch = 3", "tp = 4", "batch = 2"]


# -- settings


def test_more_digits_show_more_of_the_same_value() -> None:
    question = f"kv_bytes_per_token / 7 given {SHEET}"
    short, long = (said(*rows).say(question)[1] for rows in ((), ("set digits 12",)))
    assert short.value == long.value
    exact = Fraction(MODEL, 7)
    assert f"{float(exact) / 1000:.2f}"[:4] in short.text().replace("\u202f", "")
    assert f"{float(exact) / 1000:.12g}"[:12] in long.text().replace("\u202f", "")
    assert START.say(question)[1].text() == short.text()


def test_steps_are_shown_once_they_are_wanted() -> None:
    question = "tpot given model llama-3.1-8b, gpu h100-sxm, batch = 16, context = 8k"
    heading = "     step "
    assert heading in said("set steps yes").say(question)[1].text()
    assert heading not in START.say(question)[1].text()
    assert heading not in said("set steps yes", "undo").say(question)[1].text()


def test_time_is_the_limit_of_a_question() -> None:
    assert said("set time 2.5").now.conversation.seconds == 2.5
    assert said("set time 5", "reset").now.conversation.seconds == 5.0


# -- save and load


@given(st.lists(lines, min_size=1, max_size=6))
def test_a_saved_session_comes_to_the_same(
    tmp_path_factory: pytest.TempPathFactory, rows: list[str]
) -> None:
    end = START
    for row in rows:
        end = tried(end, row)
    if not end.now.entries:
        return
    path = tmp_path_factory.getbasetemp() / "saved.derive"
    end.say(f"save {path}")
    again = said(f"load {path}")
    assert [e.line for e in again.now.entries] == [e.line for e in end.now.entries]
    assert again.now.settings == end.now.settings or "reset" in rows
    assert _told(again) == _told(end)
    assert again.now.conversation.prefer == end.now.conversation.prefer
    last, first = again.now.conversation.last, end.now.conversation.last
    assert (last and last.to_dict()) == (first and first.to_dict())


def test_a_saved_session_is_answered_by_derive_run(
    here: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    path = tmp_path / "sizing.derive"
    told = said("n_layers 32", "kv_heads = 8, d_head = 128", "kv_bytes_per_element = 2.0", ASKED)
    told.say(f"save {path}")
    text = path.read_text().splitlines()
    assert text[0].startswith("# derive ")
    assert text[1:] == ["n_layers = 32", "n_kv_heads = 8, d_head = 128",
                        "kv_bytes_per_element = 2 B", ASKED]  # fmt: skip
    code, out, err = here("run", str(path))
    assert (code, err) == (0, "")
    assert told.say(ASKED)[1].text() in out


def test_a_file_that_is_no_session_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "thesis.tex"
    path.write_text("years of work")
    with pytest.raises(Problem, match="no saved session"):
        said("batch = 2").say(f"save {path}")
    assert path.read_text() == "years of work"
    with pytest.raises(Problem, match="nothing was said"):
        START.say(f"save {tmp_path / 'empty.derive'}")
    with pytest.raises(Problem, match="file"):
        said("batch = 2").say(f"save {tmp_path / 'none' / 'x.derive'}")


def test_a_file_that_loads_itself_ends(tmp_path: Path) -> None:
    path = tmp_path / "self.derive"
    path.write_text(f"load {path}\n")
    with pytest.raises(Problem, match="not read so deep"):
        START.say(f"load {path}")


def test_a_loaded_file_with_a_bad_line_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "bad.derive"
    path.write_text("batch = 2\nbatc = 3\n")
    with pytest.raises(Problem, match="no variable 'batc'") as caught:
        START.say(f"load {path}")
    assert any("line 2" in row for row in caught.value.help)


# -- help and lines


def test_the_help_has_every_word_of_the_tables() -> None:
    page = START.say("?")[1].text(width=140)
    for row in (*VERBS.values(), *WORDS.values()):
        assert row.syntax in page
        assert row.help in page
    assert START.say("help")[1].text(width=140) == page


@pytest.mark.parametrize("name", [*VERBS, *WORDS, "max", "min"])
def test_every_word_has_its_own_help(name: str) -> None:
    page = START.say(f"? {name}")[1].text()
    example = page.rpartition("example")[2].strip()
    if name in VERBS or name in ("max", "min"):
        assert canonical(parse(example))
    assert example.startswith(("why not", name[:4], "?"))


@pytest.mark.parametrize("line", ["? tpot", "?tpot", "tpot?", "help tpot", "derive> ? tpot"])
def test_help_on_a_quantity_is_its_page(line: str) -> None:
    assert START.say(line)[1].text() == START.say("show tpot")[1].text()


@pytest.mark.parametrize("name", ["ring_all_reduce", "llama-3.1-70b", "h100-sxm"])
def test_help_on_a_formula_a_model_or_a_gpu(name: str) -> None:
    assert name.partition("-")[0] in START.say(f"? {name}")[1].text()


def test_help_on_nothing_says_what_there_is() -> None:
    with pytest.raises(Problem, match="no help on 'tpto'"):
        START.say("? tpto")


def test_a_text_becomes_lines() -> None:
    text = "# c\n\nderive> batch = 2\n model x,\n\n  gpu y,\r\ncontext = 8k\ntpot # now\n"
    assert lines_in(text) == ("batch = 2", "model x, gpu y, context = 8k", "tpot # now")
    assert lines_in("batch = 2,") == ("batch = 2,",)


@pytest.mark.parametrize(
    ("word", "is_one"),
    [("tpot given batch = 2", True), ("max", True), ("tpot", True), ("batch=2", True),
     ("which", True), ("model", True), ("aks", False), ("runn", False), ("./x.derive", False)],
)  # fmt: skip
def test_a_question_is_known_from_a_mistyped_command(word: str, is_one: bool) -> None:
    assert begins_a_question(word) == is_one
