"""Kernels of steps in a line: against exact evaluation, and what is kept of them on disk."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy
import pytest

from derive.question import parse
from formulas.scenario import scenario
from solvers.generated import FOLDER, _is_plain, _key, _read, _write, exact_kernel, numpy_kernel
from solvers.number import same
from solvers.search.program import Program, program_of
from solvers.straight import Straight, numpy_source, shared, straight

OUTPUTS = ("tpot", "ttft", "cost_per_hour", "memory_used_per_gpu", "replica_request_rate")
VARIED = frozenset(("tp", "pp", "batch", "bytes_per_weight"))
DENSE = "model llama-3.1-70b, gpu h100-sxm"
EXPERTS = "model deepseek-v3, gpu h200-sxm, dp = 2, ep = 8"


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    numpy_kernel.cache_clear()
    return tmp_path


def program(model: str) -> Program:
    facts = "prompt = 3000, output = 1000, arrival_rate = 4, price = $2/h"
    known = scenario(parse(f"{model}, {facts}, tp = 4, pp = 2, batch = 8").statements)
    for name in ("tp", "pp", "batch", "bytes_per_weight"):
        value = known.given[name].value if name in known.given else Fraction(2)
        known = known.with_value(name, value)
    return program_of(known, VARIED, ("cost_per_hour",), OUTPUTS)


def points(choose: random.Random, count: int) -> list[dict[str, Fraction]]:
    return [
        {
            "tp": Fraction(choose.choice((1, 2, 3, 4, 8))),
            "pp": Fraction(choose.choice((1, 2, 3, 5))),
            "batch": Fraction(choose.randint(1, 600)),
            "bytes_per_weight": Fraction(choose.choice((1, 2)), choose.choice((1, 2))),
        }
        for _ in range(count)
    ]


@pytest.mark.parametrize("model", [DENSE, EXPERTS])
@pytest.mark.parametrize("share", [False, True])
def test_floats_and_exact_numbers_are_those_of_the_relations(model: str, share: bool) -> None:
    own = program(model)
    line = straight(own.steps, OUTPUTS)
    line = shared(line) if share else line
    fast, exact = numpy_kernel(line), exact_kernel(line)
    for at in points(random.Random(3), 20):
        expected = own.exact(at, OUTPUTS)
        known: dict[str, Any] = {**own.facts, **at}
        values = exact(*(known[name] for name in line.inputs))
        assert all(same(one, other) for one, other in zip(values, expected, strict=True))
        *floats, doubt = fast(*(float(known[name]) for name in line.inputs))
        assert doubt is False
        assert numpy.allclose(floats, [float(v) for v in expected], rtol=1e-12)


def test_axes_broadcast() -> None:
    own = program(DENSE)
    line = straight(own.steps, OUTPUTS)
    known: dict[str, Any] = {name: float(value) for name, value in own.facts.items()}
    known |= {"tp": numpy.array([1.0, 2, 4])[:, None], "pp": 1.0, "bytes_per_weight": 2.0}
    known["batch"] = numpy.arange(1.0, 6)[None, :]
    cost, *_ = numpy_kernel(line)(*(known[name] for name in line.inputs))
    assert cost.shape == (3, 5)


def test_what_is_too_close_to_call_is_told() -> None:
    import sympy

    x = sympy.Symbol("x", positive=True)
    line = Straight(("x",), (("y", sympy.ceiling(x)),), ("y",), ((x, None),))
    _, doubt = numpy_kernel(line)(numpy.array([2.5, 3.0, 3 + 1e-12, 2.999]))
    assert doubt.tolist() == [False, True, True, False]


def test_a_kept_kernel_is_used_again_and_a_corrupt_one_is_not(own_folder: Path) -> None:
    line = straight(program(DENSE).steps, OUTPUTS)
    numpy_kernel(line)
    key = _key(line)
    (path,) = own_folder.glob("*.kernel")
    assert _read(key) == numpy_source(line)
    text = path.read_text(encoding="utf-8")
    for bad in ("", "nonsense", text[:-20], text.replace("tp", "pp"), "\x00" * 50, text * 2):
        path.write_text(bad, encoding="utf-8")
        assert _read(key) is None
        numpy_kernel.cache_clear()
        assert numpy_kernel(line)


def test_code_that_is_no_arithmetic_is_never_run(own_folder: Path) -> None:
    key = _key(straight(program(DENSE).steps, OUTPUTS))
    for source in (
        "import os\n",
        "def kernel(x):\n    return open(x)\n",
        "def kernel(x):\n    return numpy.load(x)\n",
        "def kernel(x):\n    return x.__class__\n",
        "def kernel(x):\n    return [y for y in x]\n",
        "def kernel(x):\n    return numpy.abs(x)\nkernel(3)\n",
    ):
        assert not _is_plain(source)
        _write(key, source)
        assert _read(key) is None


def test_a_folder_that_cannot_be_written_is_no_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    monkeypatch.setenv(FOLDER, str(blocked / "inside"))
    line = straight(program(DENSE).steps, OUTPUTS)
    assert numpy_kernel(line)
    monkeypatch.setenv(FOLDER, "")
    numpy_kernel.cache_clear()
    assert numpy_kernel(line)
