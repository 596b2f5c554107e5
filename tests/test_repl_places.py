"""Completion by position, and the colours of a line: without a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derive.names import quantity_named
from derive.question import parse
from derive.repl_candidates import candidates
from derive.repl_colours import coloured
from derive.repl_position import place_in
from formulas.hardware import gpus
from formulas.models import models
from formulas.quantities import SCALARS
from formulas.units import parse_unit
from tests.transcripts import NAMES, lines_of

LINES = [line for name in NAMES for line in lines_of(name)]


@pytest.mark.parametrize(
    ("text", "kind", "begun"),
    [
        ("", "start", ""),
        ("wh", "start", "wh"),
        ("derive> ma", "start", "ma"),
        ("max con", "quantity", "con"),
        ("tpot given ba", "item", "ba"),
        ("tpot given batch = 32, con", "item", "con"),
        ("batch = 32, ", "item", ""),
        ("model lla", "model", "lla"),
        ("model = lla", "model", "lla"),
        ("tpot given model ./con", "model", "./con"),
        ("gpu h1", "gpu", "h1"),
        ("gpu 8 x ", "gpu", ""),
        ("gpu 8 x h100-s", "gpu", "h100-s"),
        ("batch = 2, gpu = 8 x b2", "gpu", "b2"),
        ("min tpot over gpu in {h100-sxm, h2", "gpu", "h2"),
        ("8 x h1", "gpu", "h1"),
        ("tpot <= 30 ", "unit", ""),
        ("tpot <= 30 m", "unit", "m"),
        ("max context given vram_bytes = 80 G", "unit", "G"),
        ("max context given tpot <= 30m", "unit", "m"),
        ("tpot -> u", "unit", "u"),
        ("kv_bytes_per_token given batch = 2 -> ", "unit", ""),
        ("weight_dtype = n", "choice", "n"),
        ("tpot given kv_dtype f", "choice", "f"),
        ("tpot ", "tail", ""),
        ("tpot gi", "tail", "gi"),
        ("max context given batch = 2 ov", "unit", "ov"),
        ("which tp, p", "name", "p"),
        ("min tpot given batch = 2 over tp, kv", "name", "kv"),
        ("sens context by mem", "name", "mem"),
        ("save /tm", "path", "/tm"),
        ("load ", "path", ""),
        ("sweep tpot over batch in 1..9 to out", "path", "out"),
        ("show kv_b", "shown", "kv_b"),
        ("use dec", "relation", "dec"),
        ("drop batch, t", "stated", "t"),
        ("set dig", "setting", "dig"),
        ("? tp", "help", "tp"),
        ("help tp", "help", "tp"),
        ("whatif tp = 4: max", "question", "max"),
        ("why not tp", "item", "tp"),
        ("plot ", "picture", ""),
        ("derive> plot ro", "picture", "ro"),
        ("plot region batch, con", "name", "con"),
        ("plot sens max con", "quantity", "con"),
        ("plot roofline given gpu h1", "gpu", "h1"),
        ("plot sens tpot to out", "path", "out"),
        ("batch / tp", "quantity", "tp"),
        ("tpot given batch = 2 # com", "nothing", ""),
    ],
)
def test_the_place_of_the_cursor(text: str, kind: str, begun: str) -> None:
    found = place_in(text)
    assert (found.kind, found.begun) == (kind, begun)
    assert text[found.start :] == begun


def texts(line: str) -> list[str]:
    return [found.text for found in candidates(line)]


def test_behind_plot_stands_what_has_a_picture() -> None:
    assert texts("plot ") == ["roofline", "region", "sens", "plan"]
    assert coloured("plot region batch, tpot")[0] == ("verb", "plot region")


def test_units_behind_a_bound_have_its_dimension() -> None:
    for name in ("tpot", "vram_bytes", "memory_bandwidth", "price", "peak_flops"):
        own = quantity_named(name).unit
        found = texts(f"{name} <= 3 ")
        assert found
        assert all(parse_unit(word).same_dimension(own) for word in found)
        for word in found:
            parse(f"{name} <= 3 {word}")
    assert {"ms", "us", "s", "h"} <= set(texts("tpot <= 3 "))
    assert not {"GB", "tok"} & set(texts("tpot <= 3 "))


@given(st.sampled_from([q for q in SCALARS if q.value is None]), st.data())
def test_every_quantity_is_found_by_its_beginning(quantity: object, data: st.DataObject) -> None:
    name = quantity.name  # type: ignore[attr-defined]
    length = data.draw(st.integers(min_value=1, max_value=len(name)))
    found = {row.text: row for row in candidates(f"max {name[:length]}")}
    assert name in found
    assert quantity.meaning in found[name].meaning  # type: ignore[attr-defined]
    assert found[name].start == 4


def test_models_gpus_and_choices_are_those_of_the_tables() -> None:
    assert texts("model ") == list(models())
    assert texts("gpu 8 x ") == list(gpus())
    assert "llama-3.1-70b" in texts("model 70")
    assert set(texts("kv_dtype = fp8")) >= {"fp8", "fp8_e4m3"}
    assert "measured" in texts("profile = ")
    assert any(name.startswith("vllm") for name in texts("engine = "))


def test_drop_offers_what_is_stated_and_nothing_else() -> None:
    assert [row.text for row in candidates("drop ", lambda: ["batch", "gpu"])] == ["batch", "gpu"]
    assert candidates("drop ") == ()


def test_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("one.derive", "two.derive", ".hidden", "a b"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    assert texts("load ") == ["one.derive", "sub/", "two.derive"]
    assert texts("load .h") == [".hidden"]
    assert texts(f"model {tmp_path}/o") == [f"{tmp_path}/one.derive"]
    assert texts("load none/") == []


@given(st.text(max_size=60))
def test_nothing_typed_breaks_completion_or_colours(text: str) -> None:
    for found in candidates(text)[:20]:
        assert 0 <= found.start <= len(text)
    assert "".join(piece for _, piece in coloured(text)) == text


@pytest.mark.parametrize("line", LINES)
def test_every_beginning_of_a_real_line_has_a_place(line: str) -> None:
    for end in range(len(line) + 1):
        place = place_in(line[:end])
        assert line[place.start : end] == place.begun
    assert "".join(piece for _, piece in coloured(line)) == line


def test_the_colours_of_the_headline() -> None:
    found = coloured("max context given tpot <= 30 ms, gpu 8 x h100-sxm # now")
    styles = {piece.strip(): style for style, piece in found}
    assert styles["max"] == "verb"
    assert styles["given"] == "tail"
    assert styles["30 ms"] == "number"
    assert styles["gpu"] == "choice"
    assert styles["h100-sxm"] == "product"
    assert styles["# now"] == "comment"
    assert styles["context"] == styles["tpot"] == "name"
