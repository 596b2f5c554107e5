"""Pictures: what they show against the answers' objects and the data, and how they are drawn."""

from __future__ import annotations

import io
import itertools
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.image import imread
from matplotlib.text import Text

from derive.conversation import Conversation
from derive.draw import drawn, figure_of, settings
from derive.outcome import Outcome
from derive.picture import Bar, Curve, Mark, Picture, Scale, Span
from derive.question import canonical, parse
from derive.session import Session
from formulas.errors import Problem
from tests.conftest import ROOT, Command
from tests.oracle import Model

LLAMA = "model llama-3.1-70b, gpu 8 x h100-sxm, tp = 8"
SENS = f"sens max context given {LLAMA}, batch = 32, tpot <= 30 ms"
FRONT = (
    "plan front min cost_per_hour, min tpot given model llama-3.1-70b, prompt = 3k, output = 1k, "
    "rate = 4 req/s, tpot <= 60 ms over gpu in {h100-sxm, b200}, tp in 1..8, weight_dtype, batch "
    "at h100-sxm $2.50/h, b200 $5/h"
)
SURFACE = FRONT.replace("min tpot", "min tpot, min ttft")
ROOFLINE = f"roofline given {LLAMA}, batch = 32, context = 8k"
REGION = f"region batch, context given {LLAMA}, tpot <= 30 ms, batch <= 64"
COLUMNS = (
    "region tp, batch given model llama-3.1-70b, gpu 8 x h100-sxm, context = 8k, tpot <= 30 ms"
)
LINES = {
    "sens": SENS, "front": FRONT, "surface": SURFACE, "roofline": ROOFLINE, "region": REGION,
    "columns": COLUMNS,
}  # fmt: skip
_SAID: dict[str, Outcome] = {}


def said(line: str) -> Outcome:
    """What `plot LINE` comes to; each line is answered once."""
    if line not in _SAID:
        _SAID[line] = Conversation().say(f"plot {line}")[1]
    return _SAID[line]


def picture(line: str) -> Picture:
    found = said(line).picture
    assert found is not None
    return found


# -- what they show


def test_the_bars_are_those_of_sens() -> None:
    rows = Conversation().say(SENS)[1].data["sensitivities"]
    bars = picture(SENS).bars
    names = {f"{r['name']} limit" if r["origin"] == "limit" else r["name"]: r for r in rows}
    assert [abs(bar.length) for bar in bars] == sorted((abs(b.length) for b in bars), reverse=True)
    assert {bar.name: bar.length for bar in bars} == {
        name: row["elasticity"] for name, row in names.items() if abs(row["elasticity"]) >= 5e-5
    }
    for bar in bars:
        row = names[bar.name]
        # What binds next, and how far off that is.
        for end, what in (("low", "below"), ("high", "above")):
            if end in row and row[what] != "nothing":
                assert row[what] in bar.note
                move = 100 * (row[end] - row["value"]) / row["value"]
                told = [float(part) for part in re.findall(r"[-+][\d.]+(?= %)", bar.note)]
                assert any(part == pytest.approx(move, rel=5e-3) for part in told)


def test_a_front_is_that_of_the_plan() -> None:
    rows = Conversation().say(FRONT)[1].data["rows"]
    shown = picture(FRONT)
    points = [(row["values"]["cost_per_hour"], row["values"]["tpot"]) for row in rows]
    assert sorted(mark.at for mark in shown.marks) == sorted(points)
    for one, other in itertools.permutations((mark.at for mark in shown.marks), 2):
        assert not all(a <= b for a, b in zip(one, other, strict=True)), (one, other)
    (stairs,) = shown.curves[0].pieces
    assert set(points) <= set(stairs)
    # No step of the stairs is below a configuration: between two of them there is none.
    for corner in stairs:
        assert any(all(p <= c for p, c in zip(at, corner, strict=True)) for at in points)


def test_goals_that_are_sought_one_after_the_other_have_the_same_front() -> None:
    line = FRONT.replace("plan front", "plan")
    assert picture(line).marks == picture(FRONT).marks


def test_the_third_goal_of_a_front_is_a_colour() -> None:
    shown = picture(SURFACE)
    rows = Conversation().say(SURFACE)[1].data["rows"]
    found = {(mark.at, mark.rank) for mark in shown.marks}
    assert found == {
        ((r["values"]["cost_per_hour"], r["values"]["tpot"]), r["values"]["ttft"]) for r in rows
    }
    assert shown.third is not None
    assert shown.third.title == "ttft [ms]"
    assert shown.curves == ()


@pytest.mark.parametrize("sense", [("max", "min"), ("min", "max"), ("max", "max")])
def test_the_stairs_of_a_front_are_reached_by_a_configuration(sense: tuple[str, str]) -> None:
    from derive.plot_front import picture as front

    signs = [1 if word == "max" else -1 for word in sense]
    points = [(1.0, 9.0), (2.0, 7.0), (5.0, 4.0)]
    if sense != ("max", "max"):
        points = [(1.0, 4.0), (2.0, 7.0), (5.0, 9.0)]
    names = ("output_token_rate", "batch")
    data = {
        "goals": [{"sense": s, "name": n} for s, n in zip(sense, names, strict=True)],
        "rows": [{"tp": i, "values": dict(zip(names, p, strict=True))}
                 for i, p in enumerate(points)],
        "feasible": 3, "combinations": 3, "proved": True,
    }  # fmt: skip
    (stairs,) = front(data).curves[0].pieces
    for corner in stairs:
        beaten = [[sign * (p - c) >= 0 for sign, p, c in zip(signs, at, corner, strict=True)]
                  for at in points]  # fmt: skip
        assert any(all(row) for row in beaten), corner


def places() -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in said(ROOFLINE).data["rows"]}


def test_the_ridge_is_where_the_roofs_of_the_data_sheet_meet() -> None:
    # NVIDIA's data sheet: 989.4 TFLOP/s dense in BF16, 3.35 TB/s.
    peak, bandwidth = 989.4e12, 3.35e12
    marks = {mark.name.partition("\n")[0]: mark for mark in picture(ROOFLINE).marks}
    assert marks["ridge"].at == pytest.approx((peak / bandwidth, peak))
    (line,) = picture(ROOFLINE).curves[0].pieces
    for x, y in line:
        assert y == pytest.approx(min(peak, bandwidth * x))
    assert line[0][0] < peak / bandwidth < line[-1][0]
    for mark in marks.values():
        assert mark.at[1] <= min(peak, bandwidth * mark.at[0]) * (1 + 1e-9)
        assert line[0][0] < mark.at[0] < line[-1][0]


def test_the_work_of_a_roofline_is_that_of_the_contract() -> None:
    facts = {
        "n_layers": 80, "d_model": 8192, "n_heads": 64, "n_kv_heads": 8, "d_head": 128,
        "n_params": 70553706496, "vram_bytes": 80 * 10**9, "memory_bandwidth": 3350 * 10**9,
        "peak_flops": 9894 * 10**11, "link_bandwidth": 450 * 10**9, "tp": 8, "batch": 32,
        "context_tokens": 8000, "prompt_tokens": 8000,
    }  # fmt: skip
    model = Model({name: Fraction(value) for name, value in facts.items()})
    rows = places()
    work = model["micro_batch"] * model["flops_per_token"] / 8
    moved = model["weight_bytes_read_per_gpu"] + model["kv_bytes_read_per_gpu"]
    step = rows["decode step"]
    assert step["arithmetic_intensity"] == pytest.approx(float(work / moved), rel=1e-6)
    assert step["predicted"] == pytest.approx(float(work / model["step_time"]), rel=1e-6)
    assert step["bound"] == "memory"
    prefill = rows["prefill"]
    # Two operations for each weight of two bytes: the prompt's tokens, and attention beside them.
    assert 8000 < prefill["arithmetic_intensity"] < 1.2 * 8000
    assert prefill["bound"] == "compute"
    assert rows["decode, weights"]["arithmetic_intensity"] == 32
    assert rows["decode, attention"]["arithmetic_intensity"] == 8


MORE = (
    ", batch = 256", ", batch = 256, tp = 4, pp = 2", ", batch = 64, weight_dtype = fp8",
    ", batch = 1",
)  # fmt: skip


@pytest.mark.parametrize("model", ["llama-3.1-8b", "qwen3-30b-a3b", "deepseek-v3", "gpt-oss-120b"])
@pytest.mark.parametrize("more", MORE)
def test_all_work_lies_under_the_roof(model: str, more: str) -> None:
    given = f"model {model}, gpu 8 x h200-sxm, prompt = 2k, output = 500{more}"
    shown = picture(f"roofline given {given}")
    found = said(f"roofline given {given}").data
    names = {row["name"] for row in found["rows"]}
    # The sheet's lines for dense weights and for grouped heads speak of no other.
    assert ("decode, weights" in names) == (model == "llama-3.1-8b")
    assert ("decode, attention" in names) == (model != "deepseek-v3")
    assert {"ridge", "decode step", "prefill"} <= names
    (line,) = shown.curves[0].pieces
    ridge, peak = line[1]
    reached = shown.curves[1].pieces[0][1]
    for row in found["rows"]:
        roof = min(peak, peak / ridge * row["arithmetic_intensity"])
        assert row["attainable_flops"] == pytest.approx(roof)
        if "predicted" in row and row["predicted"] is not None:
            below = min(reached[1], reached[1] / reached[0] * row["arithmetic_intensity"])
            assert row["predicted"] <= below * (1 + 1e-9), row


def test_a_roofline_without_work_says_what_to_add() -> None:
    found = Conversation().say("plot roofline given gpu l40s")[1]
    assert found.picture is not None
    assert [mark.name.partition("\n")[0] for mark in found.picture.marks] == ["ridge"]
    assert any("no decode step: add model NAME" in note for note in found.picture.notes)


def test_stated_work_lies_under_the_roof() -> None:
    line = "roofline given gpu h100-sxm, flops = 1 TFLOP, bytes_moved = 100 GB"
    marks = {mark.name.partition("\n")[0]: mark.at for mark in picture(line).marks}
    assert marks["flops over bytes_moved"] == pytest.approx((10, 33.5e12))


def test_a_roofline_needs_a_gpu() -> None:
    found = said("roofline given batch = 3")
    assert (found.status, found.picture) == ("missing", None)
    assert "gpu N x NAME" in found.text()


# -- how they are drawn


@pytest.fixture(params=LINES, scope="module")
def shown(request: pytest.FixtureRequest) -> Picture:
    return picture(LINES[request.param])


def test_an_svg_has_every_word_as_text(shown: Picture) -> None:
    root = ET.fromstring(drawn(shown, "svg"))
    words = set(" ".join(root.itertext()).split())
    told = [shown.title, shown.x.title, shown.y.title, *shown.notes]
    told += [curve.name for curve in shown.curves if len(shown.curves) > 1]
    told += [mark.name for mark in shown.marks] + [bar.name for bar in shown.bars]
    told += [bar.note for bar in shown.bars]
    assert set(" ".join(told).split()) <= words


def test_a_png_is_whole(shown: Picture) -> None:
    found = drawn(shown, "png")
    assert found.startswith(b"\x89PNG\r\n\x1a\n")
    pixels = imread(io.BytesIO(found))
    height, width = pixels.shape[:2]
    assert 400 <= height <= 2000
    assert 800 <= width <= 2600
    # What is cut off would touch the edge.
    for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):
        assert (edge == 1).all()


def test_the_same_picture_is_the_same_file(shown: Picture) -> None:
    assert drawn(shown, "svg") == drawn(shown, "svg")
    assert b"dc:date" not in drawn(shown, "svg")


def test_no_text_covers_another(shown: Picture) -> None:
    with settings():
        figure = figure_of(shown)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        boxes = [
            (text.get_text(), text.get_window_extent(canvas.get_renderer()).padded(-1))
            for text in figure.findobj(Text)
            if text.get_visible() and text.get_text().strip() and on_axis(text)
        ]
    for (one, box), (other, another) in itertools.combinations(boxes, 2):
        assert not box.overlaps(another), (one, other)


def on_axis(text: Text) -> bool:
    """Numbers of an axis beyond its ends exist, but are not drawn."""
    axes = text.axes
    if axes is None:
        return True
    ticks = [*axes.xaxis.get_ticklabels(which="both"), *axes.yaxis.get_ticklabels(which="both")]
    if text not in ticks:
        return True
    x, y = axes.transData.inverted().transform(axes.transData.transform(text.get_position()))
    low, high = sorted(axes.get_xlim())
    bottom, top = sorted(axes.get_ylim())
    along_x = text in axes.xaxis.get_ticklabels(which="both")
    return bool(low <= x <= high) if along_x else bool(bottom <= y <= top)


def test_drawing_leaves_no_trace() -> None:
    before = dict(mpl.rcParams)
    drawn(picture(SENS), "svg")
    assert dict(mpl.rcParams) == before


def test_nothing_is_kept_for_a_window(tmp_path: Path) -> None:
    """Pyplot keeps every figure, and asks for a display."""
    program = (
        "import sys; from derive import Session\n"
        f"Session({LLAMA!r}).max('context', given='batch = 32').plot({str(tmp_path / 'x.svg')!r})\n"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    run = [sys.executable, "-W", "error", "-c", program]
    result = subprocess.run(run, capture_output=True, text=True, check=True, cwd=ROOT)
    assert (result.stdout, result.stderr) == ("False\n", "")


STRANGE = "a\x00b\ud800 <&> $x_1$ 模型 " + "w" * 300


@pytest.mark.parametrize(
    "strange",
    [
        Picture("sens", STRANGE, Scale(STRANGE, "%"), Scale(STRANGE), notes=(STRANGE,),
                bars=(Bar(STRANGE, 1e-9, STRANGE), Bar("b", -1e12))),
        Picture("front", STRANGE, Scale("x", STRANGE), Scale("y"), notes=(STRANGE,),
                marks=tuple(Mark(STRANGE, (1.0, 1.0), float(n)) for n in range(99)),
                third=Scale(STRANGE)),
        Picture("region", "", Scale("x", log=True), Scale("y", log=True),
                (Curve(STRANGE, (((1.0, 0.0), (1e9, 0.0)), ((5.0, 5.0),))),),
                areas=((Span(1.0, 0.0, 1e-9), Span(1e9, 0.0, 1e15)), (Span(4.0, 0.0, 3.0),))),
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", ["svg", "png"])
def test_whatever_there_is_is_drawn(strange: Picture, form: str) -> None:
    found = drawn(strange, form)
    if form == "svg":
        ET.fromstring(found)


# -- the verb, Python and files


@pytest.mark.parametrize("name", LINES)
def test_a_line_is_spelt_so_that_it_reads_the_same(name: str) -> None:
    line = f"plot {LINES[name]} to out.svg"
    spelt = canonical(parse(line))
    assert canonical(parse(spelt)) == spelt
    assert spelt.startswith("plot ")
    assert spelt.endswith(" to out.svg")


@pytest.mark.parametrize("ending", ["svg", "png", "SVG"])
def test_a_picture_is_written_where_it_is_asked(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"picture.{ending}"
    found = Conversation().say(f"plot {SENS} to {path}")[1]
    assert f"picture written to {path}" in found.text()
    assert found.data["file"] == str(path)
    assert found.data["verb"] == "plot"
    assert path.read_bytes() == drawn(picture(SENS), ending.lower())
    json.dumps(found.to_dict())


def test_plot_speaks_of_the_answer_before() -> None:
    start = Conversation().say(f"max context given {LLAMA}, batch = 32, tpot <= 30 ms")[0]
    found = start.say("plot sens")[1]
    assert found.picture == picture(SENS)
    assert "to FILE.svg" in found.text()


def test_answers_of_python_are_plotted(tmp_path: Path) -> None:
    session = Session(LLAMA)
    reply = session.max("context", given="batch = 32, tpot <= 30 ms")
    drawing = reply.plot(tmp_path / "bars.svg")
    assert drawing.picture == picture(SENS)
    assert (tmp_path / "bars.svg").read_text("utf-8") == drawing._repr_svg_()
    assert session.say(SENS).plot().picture == picture(SENS)
    assert Session().say(FRONT).plot().picture == picture(FRONT)
    assert session.say("plot roofline given batch = 32, context = 8k").plot().picture == (
        picture(ROOFLINE)
    )
    assert drawing.save(tmp_path / "bars.png").read_bytes().startswith(b"\x89PNG")


def test_an_answer_without_a_picture_says_which_have_one() -> None:
    with pytest.raises(Problem, match="no picture") as caught:
        Session(LLAMA).say("check").plot()
    assert "sens, plan front, region" in caught.value.help[0]
    with pytest.raises(Problem, match="no picture"):
        Session(LLAMA).max("context", given="batch = 32, tpot <= 1 ms").plot()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("plot", "plot draws sens, plan, roofline, region"),
        ("plot tpot", "plot draws sens, plan, roofline, region"),
        ("plot region batch", "a region has two quantities"),
        ("plot region batch, context, tpot", "a region has two quantities"),
        ("plot plan min tpot given batch = 2 over tp", "a front has two or three quantities"),
        ("plot roofline over tp", "'over' does not belong to 'plot'"),
        ("plan min tpot given batch = 2 over tp to plan.tex", "'to' does not belong to 'plan'"),
    ],
)
def test_lines_that_cannot_be_read(line: str, message: str) -> None:
    with pytest.raises(Problem, match=re.escape(message)) as caught:
        Conversation().say(line)
    assert caught.value.help


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("picture.pdf", "in .svg or .png"),
        ("folder.svg", "is a directory"),
        ("nowhere/x.svg", "no directory"),
        ("x" * 300 + ".svg", "cannot be written"),
    ],
)
def test_files_that_no_picture_is_written_to(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(Problem, match=message):
        Conversation().say(f"plot {SENS} to {tmp_path / name}")
    with pytest.raises(Problem, match=message):
        said(SENS).plot(tmp_path / name)


def test_a_refused_question_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "none.svg"
    found = Conversation().say(f"plot sens max context given {LLAMA}, tpot <= 30 ms to {path}")[1]
    assert found.status == "missing"
    assert not path.exists()


def test_the_command_draws(derive: Command, tmp_path: Path) -> None:
    path = tmp_path / "roof.svg"
    done = derive("plot", *ROOFLINE.split(), "to", str(path))
    assert (done.code, done.err) == (0, "")
    assert "decode step" in done.out
    ET.parse(path)
    done = derive("plot", *SENS.split(), "--json")
    assert json.loads(done.out)["picture"]["kind"] == "sens"
    assert derive("plot", "sens", "tpot", "to", "x.pdf").code == 2
    assert "plot QUESTION" in derive("ask", "--help").out


WITHOUT = (
    "import sys; sys.modules['matplotlib'] = None\n"
    "from derive.cli import main\n"
    "sys.exit(main(sys.argv[1:]))"
)


@pytest.fixture
def without() -> Callable[..., subprocess.CompletedProcess[str]]:
    """The command in a process that cannot import matplotlib."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", WITHOUT, *words]
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)

    return run


def test_without_matplotlib_the_extra_is_named(
    without: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    path = tmp_path / "roof.svg"
    done = without("plot", *ROOFLINE.split(), "to", str(path))
    assert done.returncode == 2
    assert done.stdout == ""
    assert "error[plot]" in done.stderr
    assert "pip install 'derive-llm[plot]'" in done.stderr
    assert not path.exists()
    # The card needs no drawing.
    done = without("plot", *ROOFLINE.split())
    assert (done.returncode, done.stderr) == (0, "")
    assert "decode step" in done.stdout


def test_only_drawing_imports_matplotlib() -> None:
    program = (
        "import sys; from derive import Session\n"
        f"found = Session({LLAMA!r}).say('plot roofline given batch = 2, context = 8k')\n"
        "print([m for m in ('matplotlib', 'numpy', 'z3') if m in sys.modules])"
    )
    run = [sys.executable, "-c", program]
    result = subprocess.run(run, capture_output=True, text=True, check=True, cwd=ROOT)
    assert result.stdout == "[]\n"
