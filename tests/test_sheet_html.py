"""The sheet in a browser: the filter, the graph, no request, no error, nothing cut off."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from functools import cache
from html import escape, unescape
from pathlib import Path
from typing import Any

import networkx
import pytest

from derive.as_markdown import as_markdown
from derive.sheet import sheet_text
from derive.sheet_graph import layers, needs, placed
from derive.sheet_paper import sheet_paper
from formulas.catalogue import catalogue
from formulas.numbers import numbers

PATIENCE = 120
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
WATCH = (
    "<script>window.wrong = []; addEventListener('error', e => wrong.push(e.message));"
    "console.error = (...a) => wrong.push(a.join(' ')); console.warn = console.error;</script>"
)
DRIVE = """<script>
addEventListener("load", () => {
  const found = {};
  const visible = () => [...document.querySelectorAll("article[id]")]
    .filter(a => a.offsetParent !== null).map(a => a.id);
  found.width = innerWidth;
  found.page = [document.documentElement.scrollWidth, document.documentElement.clientWidth];
  found.formulas = document.querySelectorAll("math").length;
  found.clipped = [...document.querySelectorAll("math")].filter(m => {
    const box = m.closest(".scroll, .table");
    const room = box || m.parentElement;
    if (box && ["auto", "scroll"].includes(getComputedStyle(box).overflowX)) {
      return box.getBoundingClientRect().right > innerWidth + 1;
    }
    const right = m.getBoundingClientRect().right;
    return right > innerWidth + 1 || room.scrollWidth > room.clientWidth + 1;
  }).map(m => m.textContent.slice(0, 60));
  found.flat = [...document.querySelectorAll("math[display]")]
    .filter(m => m.getBoundingClientRect().height < 5).length;
  found.all = visible();
  const box = document.getElementById("filter");
  const type = text => {
    box.value = text;
    box.dispatchEvent(new Event("input"));
    return visible();
  };
  found.kv = type("kv");
  found.two = type("kv transfer");
  found.none = type("no such thing");
  found.back = type("");
  const told = name => {
    document.querySelector(`#graph [data-name="${name}"]`)
      .dispatchEvent(new MouseEvent("click", {bubbles: true}));
    return [document.getElementById("needs").textContent,
      [...document.querySelectorAll("#graph .node.needed")].map(n => n.getAttribute("data-name"))];
  };
  found.tokens = told("kv_bytes_per_token");
  found.sequences = told("max_sequences");
  found.fact = told("n_layers");
  found.requests = performance.getEntriesByType("resource").map(e => e.name);
  found.wrong = wrong;
  parent.document.body.setAttribute("data-found", JSON.stringify(found));
});
</script>"""


@cache
def sheet() -> str:
    return sheet_text("html")


@cache
def browser() -> str:
    found = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("chromium is not installed")
        pytest.skip("chromium is not installed")
    return found


def opened(folder: Path, width: int) -> dict[str, Any]:
    """What the page says of itself in a frame so many pixels wide."""
    page = sheet().replace("<head>", f"<head>{WATCH}", 1).replace("</body>", f"{DRIVE}</body>")
    frame = (
        f'<iframe style="width:{width}px;height:900px;border:0" srcdoc="{escape(page)}"></iframe>'
    )
    outer = folder / "outer.html"
    outer.write_text(f'<!DOCTYPE html><meta charset="utf-8"><body>{frame}</body>', encoding="utf-8")
    done = subprocess.run(
        [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder / 'profile'}",
         f"--window-size={max(width + 40, 800)},1000", "--virtual-time-budget=20000", "--dump-dom",
         outer.as_uri()],
        capture_output=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    match = re.search(r'data-found="([^"]*)"', done.stdout.decode(errors="replace"))
    assert match, done.stderr.decode(errors="replace")[-600:]
    found: dict[str, Any] = json.loads(unescape(match[1]))
    return found


@pytest.mark.parametrize("width", [1280, 400])
def test_the_sheet_in_a_browser(tmp_path: Path, width: int) -> None:
    found = opened(tmp_path, width)
    assert found["width"] == width
    assert found["wrong"] == []
    assert found["requests"] == []
    assert found["formulas"] > 700
    assert found["page"][0] <= found["page"][1]
    assert found["clipped"] == []
    assert found["flat"] == 0
    # The filter.
    ids = [f"formula-{key}" for key in catalogue().formulas]
    assert [i for i in found["all"] if i in ids] == ids
    assert "formula-kv_bytes_per_token" in found["kv"]
    assert "formula-littles_law" not in found["kv"]
    assert "formula-kv_transfer" in found["two"]
    assert found["none"] == []
    assert found["back"] == found["all"]
    # The graph.
    text, marked = found["tokens"]
    wanted = {"n_layers", "n_kv_heads", "d_head", "kv_bytes_per_element"}
    assert set(marked) == wanted
    assert all(name in text for name in wanted)
    directed = networkx.DiGraph((n, name) for name, inputs in needs().items() for n in inputs)
    assert set(found["sequences"][1]) == networkx.ancestors(directed, "max_sequences")
    assert "fact" in found["fact"][0]
    assert found["fact"][1] == []


def test_nothing_comes_from_elsewhere() -> None:
    page = sheet()
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!#)""", page)
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|import\(", page)
    # The only addresses are names of vocabularies.
    assert set(re.findall(r"https?://[^\s\"'<]+", page)) <= {"http://www.w3.org/2000/svg"}


def test_every_formula_and_every_number_is_in_every_form() -> None:
    texts = [sheet(), as_markdown(sheet_paper())]
    for text in texts:
        plain = text.replace("\\_", "_")
        for name in (*catalogue().formulas, *numbers()):
            assert name in plain
    assert len(catalogue().formulas) == 51
    assert len(numbers()) == 70


def test_every_link_leads_somewhere() -> None:
    page = sheet()
    ids = set(re.findall(r'\sid="([^"]+)"', page))
    links = re.findall(r'href="#([^"]+)"', page)
    assert len(links) > 50
    assert set(links) <= ids
    assert len(re.findall(r'\sid="', page)) == len(ids)


def test_the_picture_has_every_quantity_once_and_none_upon_another() -> None:
    edges = needs()
    nodes = placed(layers(edges))
    assert set(nodes) == set(edges)
    for relation in catalogue().relations.values():
        if relation.section != "deployment" and not relation.is_array:
            assert set(relation.inputs) <= set(edges[relation.gives])
    rows = sorted(nodes.values(), key=lambda n: n.top)
    for place, one in enumerate(rows):
        for other in rows[place + 1 :]:
            if other.top - one.top >= 17:
                break
            apart = one.left + one.width <= other.left or other.left + other.width <= one.left
            assert apart, (one.name, other.name)


def test_the_sheet_as_data() -> None:
    found = json.loads(sheet_text("json"))
    assert {row["formula"] for row in found["formulas"]} == set(catalogue().formulas)
    assert len(found["numbers"]) == 70
