"""The page is one file that needs nothing, shows every row of the report, and follows names from pane to pane."""

import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import browser
import pytest
import torch
from explained_models import Chain, Sandwich
from torch import nn

import tessiq
from tessiq.explain.report import Report
from tessiq.explain.webpage import LIMIT, page


class Net(nn.Module):
    """A claimed loop, a product, and an operation that is not claimed."""

    def __init__(self) -> None:
        super().__init__()
        self.chain, self.sandwich = Chain(), Sandwich()

    def forward(self, a: torch.Tensor) -> torch.Tensor:
        return self.sandwich(self.chain(a))


@pytest.fixture(scope="module")
def report() -> Report:
    torch._dynamo.reset()
    with torch.no_grad():
        return tessiq.explain(Net(), torch.randn(8, 8))


@pytest.fixture(scope="module")
def saved(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    report.save_html(path)
    return path


@pytest.fixture(scope="module")
def chromium() -> str:
    found = browser.find()
    if found is None:
        pytest.skip(f"no browser: none of {', '.join(browser.NAMES)} starts (apt-get install chromium)")
    return found


class References(HTMLParser):
    """Whatever an element points at."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("src", "href", "srcset", "action", "data")]


def test_page_is_one_file_that_points_at_nothing_outside(saved: Path) -> None:
    text = saved.read_text()
    references = References()
    references.feed(text)
    assert references.found
    assert all(one.startswith("#") or one == "data:," for one in references.found)
    for word in ("url(", "@import", "http://", "https://", "fetch(", "XMLHttpRequest", "import("):
        assert word not in text, word
    assert len(text.encode()) < LIMIT


def test_text_of_a_report_is_text_on_the_page(report: Report) -> None:
    hostile = "</script><script>alert(1)</script>&<b>"
    text = page(replace(report, title=hostile, tessiq_version=hostile))
    assert hostile not in text
    assert text.count("<script>") == 1


@pytest.mark.parametrize("limit", [190_000, 60_000])
def test_large_report_leaves_out_the_least_and_says_so(report: Report, limit: int) -> None:
    large = replace(report, graphs=report.graphs * 12)
    whole = page(large, 1 << 30)
    assert len(whole.encode()) > limit
    assert "Left out" not in whole
    text = page(large, limit)
    assert "Left out to keep the page below" in text
    assert text.count("<section") == 12
    assert text.count('data-rows="kernels"') == 12


def test_rows_are_those_of_the_json(chromium: str, report: Report, saved: Path, tmp_path: Path) -> None:
    report.save_json(tmp_path / "report.json")
    facts = json.loads((tmp_path / "report.json").read_text())
    (graph,) = facts["graphs"]
    visit = browser.visit(
        chromium,
        saved,
        """
        const rows = {};
        for (const one of document.querySelectorAll("table[data-rows]"))
          rows[one.dataset.rows] = (rows[one.dataset.rows] || 0) + one.tBodies[0].rows.length;
        for (const one of document.querySelectorAll("div[data-rows]")) rows[one.dataset.rows] = one.children.length;
        return { rows, buffers: document.querySelectorAll("svg rect").length,
                 made: document.querySelectorAll(".pane[data-pane=fx] b").length };
        """,
    )
    dispatched = [one for one in graph["operations"] if one["fate"].startswith("dispatched")]
    assert visit.value["rows"] == {
        "why-not": len(dispatched),
        "kernels": len(graph["kernels"]),
        "operations": len(graph["operations"]),
        "passes": len(graph["passes"]),
        "spans": len(facts["spans"]),
        "guards": len(facts["guards"]),
    }
    assert dispatched
    assert visit.value["buffers"] == len(graph["memory"]["buffers"])
    assert visit.value["made"] == len([one for one in graph["fx"] if one["name"] != "output"])


FOLLOW = """
const graph = document.querySelector("[data-graph='0']");
const nameOf = (one) => one.dataset.n || one.textContent;
const state = () => Object.fromEntries([...graph.querySelectorAll(".pane")].map((pane) => {
  const on = [...pane.querySelectorAll(".on")];
  const box = pane.getBoundingClientRect();
  const seen = on.some((one) => {
    const at = one.getBoundingClientRect();
    return at.top >= box.top && at.bottom <= box.bottom;
  });
  return [pane.dataset.pane, { marked: on.map(nameOf), seen }];
}));
const pane = (name) => graph.querySelector(`.pane[data-pane=${name}]`);
const named = (where, name) => [...where.querySelectorAll("u, b")].find((one) => nameOf(one) === name);
const result = {};
named(pane("fx"), "exp").click();
result.from_fx = state();
result.hash = location.hash;
named(pane("source"), "relu").click();
result.from_source = state();
named(document.querySelector("table[data-rows=kernels]"), "mm").click();
result.from_table = state();
named(pane("ir"), "sigmoid").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
result.from_keyboard = state();
result.requests = performance.getEntriesByType("resource").map((one) => one.name);
result.paper = getComputedStyle(document.body).backgroundColor;
result.ink = getComputedStyle(document.body).color;
result.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
window.scrollTo(0, 3000);
await new Promise((done) => setTimeout(done, 50));
result.scrolled = window.scrollY;
result.verdict_at = document.querySelector(".verdict").getBoundingClientRect().top;
return result;
"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1400, 500], ids=["wide", "narrow"])
def test_names_lead_from_pane_to_pane_and_the_console_is_quiet(
    chromium: str, saved: Path, dark: bool, width: int
) -> None:
    visit = browser.visit(chromium, saved, FOLLOW, width=width, dark=dark)
    found = visit.value
    assert "failed" not in found, found
    assert visit.console == ()
    assert found["requests"] == []
    for origin, name in (("fx", "exp"), ("source", "relu"), ("table", "mm"), ("keyboard", "sigmoid")):
        state = found[f"from_{origin}"]
        assert isinstance(state, dict)
        for pane in ("fx", "ir", "source"):
            assert state[pane]["marked"], (origin, pane)
            assert set(state[pane]["marked"]) == {name}
            assert state[pane]["seen"], (origin, pane)
    assert found["hash"] == "#0:exp"
    lightness = [sum(map(int, str(found[one])[4:-1].split(","))) for one in ("paper", "ink")]
    assert (lightness[0] < lightness[1]) == dark
    assert found["overflow"] == 0
    assert isinstance(found["scrolled"], int)
    assert found["scrolled"] > 100
    assert 0 <= float(str(found["verdict_at"])) < 60


def test_console_of_a_broken_page_is_seen(chromium: str, saved: Path) -> None:
    broken = saved.with_name("broken.html")
    broken.write_text(saved.read_text().replace('"use strict";', '"use strict"; missing();'))
    assert any("missing is not defined" in line for line in browser.visit(chromium, broken, "return {};").console)
