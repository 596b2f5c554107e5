"""Files that are no config.json, or that were made to harm: each one clear Problem."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from formulas.errors import Problem
from formulas.models import Model, find_model, read_config

CONFIG: dict[str, Any] = json.loads(
    (Path(__file__).parent / "configs" / "dense-gqa-70b" / "config.json").read_text()
)


@pytest.fixture
def read(tmp_path: Path) -> Any:
    """Writes a config.json with those keys, bytes or text, and reads it."""

    def write_and_read(content: dict[str, Any] | str | bytes) -> Model:
        text = json.dumps(content) if isinstance(content, dict) else content
        (tmp_path / "config.json").write_bytes(text.encode() if isinstance(text, str) else text)
        return read_config(str(tmp_path / "config.json"))

    return write_and_read


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"num_hidden_layers": 1' + "0" * 400 + "}", "a number of 401 digits"),
        ('{"num_hidden_layers": -' + "9" * 5000 + "}", "a number of 5000 digits"),
        ('{"rope_theta": 1e400}', "the number 1e400"),
        ('{"rope_theta": 0.' + "1" * 100 + "}", "the number 0.111"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "-Infinity"),
        ("[" * 1000 + "]" * 1000, "nests deeper than 64"),
        ('{"a":' * 1000 + "1" + "}" * 1000, "nests deeper than 64"),
        ("[" * 100_000, "nests deeper than 64"),
        ("[1, 2]", "an array, not an object"),
        ("null", "null, not an object"),
        ('"text"', "a text, not an object"),
        ("7", "a number, not an object"),
        ("", "is not JSON"),
        ("{'num_hidden_layers': 80}", "is not JSON"),
        ('{"num_hidden_layers": 80', "is not JSON"),
        ('"' + '\\"' * 100_000, "is not JSON"),
        (bytes(range(256)), "is not text in UTF-8"),
        (b"\x00" * 100, "is not JSON"),
        (b"\xff\xfe" + '{"a": 1}'.encode("utf-16-le"), "is not text in UTF-8"),
    ],
    ids=range(20),
)
def test_a_file_that_is_no_config(read: Any, content: str | bytes, said: str) -> None:
    with pytest.raises(Problem) as caught:
        read(content)
    assert caught.value.kind == "config"
    assert said in caught.value.message
    assert len(caught.value.message) < 200


def test_brackets_inside_strings_do_not_nest(read: Any) -> None:
    keys = CONFIG | {"note": '[{"' * 500 + "\\"}
    assert read(keys).facts == find_model("llama-3.1-70b").facts


def test_a_byte_order_mark_and_a_repeated_key(read: Any) -> None:
    text = json.dumps(CONFIG)
    repeated = '{"num_hidden_layers": 1, ' + text[1:]
    assert read(b"\xef\xbb\xbf" + repeated.encode()).facts["n_layers"] == 80


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    with path.open("wb") as file:
        file.truncate(100 * 2**20)
    with pytest.raises(Problem, match="has 104857600 bytes, more than 4194304"):
        read_config(str(path))


def test_paths_that_hold_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "folder.json").mkdir()
    for path, said in (
        (tmp_path / "none.json", "no file"),
        (tmp_path, "has no config.json"),
        (tmp_path / "folder.json", "has no config.json"),
        (tmp_path / "pipe.json", "is not a file"),
        ("\0.json", "null character"),
        ("x" * 10_000 + ".json", "cannot be read"),
    ):
        with pytest.raises(Problem, match=said) as caught:
            find_model(str(path)) if str(path).endswith(".json") else read_config(str(path))
        assert caught.value.kind == "file"
        assert caught.value.word == str(path)
        assert len(caught.value.message) < 300
