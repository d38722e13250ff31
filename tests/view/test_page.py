"""The page in a real browser: it draws, finds, selects and switches, with thousands of operations too."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from neuron_ctrldep import mlir
from neuron_ctrldep.view import graph_of, to_html
from neuron_ctrldep.view.graph import COLOURS

from .browser import Browser, find_chromium
from .programs import HOSTILE, LOOP, big, hostile
from .test_graph import TASKS

pytestmark = pytest.mark.skipif(find_chromium() is None, reason="no Chromium")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    started = Browser(find_chromium(), tmp_path_factory.mktemp("profile"))
    yield started
    started.close()


def page_of(tmp_path: Path, program: str, **options) -> str:
    file = tmp_path / "deps.html"
    file.write_text(to_html(graph_of(mlir.parse_module(program)), layout="builtin", **options), encoding="utf-8")
    return file.as_uri()


def search(browser: Browser, text: str) -> None:
    browser.evaluate("document.getElementById('search').focus(); document.getElementById('search').value = ''")
    browser.type(text)
    browser.press("Enter")


def test_it_draws_and_says_nothing_in_the_console(browser, tmp_path):
    browser.open(page_of(tmp_path, LOOP))
    assert browser.faults == []
    assert browser.text("#title") == "loop"
    assert browser.pixels(COLOURS["ordered"]) > 50
    assert "control (ORDERED)\n3" in browser.text("#legend")
    assert "DEPENDENCY EDGES (3)" in browser.text("#edges").upper()
    assert "nothing uses what the control dependency forwards" in browser.text("#notes")


def test_search_finds_and_shows_an_operation(browser, tmp_path):
    browser.open(page_of(tmp_path, LOOP))
    search(browser, "multiply")
    shown = browser.text("#selected")
    assert "multiply.4" in shown
    assert "stablehlo.multiply" in shown
    assert "Ordered after (2)" in shown
    assert browser.evaluate("document.getElementById('results').hidden")
    browser.evaluate("document.activeElement.blur()")
    search(browser, "no such name")
    assert "no operation has this name" in browser.evaluate("document.getElementById('results').textContent")


def test_a_click_selects_and_shows_text_and_place(browser, tmp_path):
    browser.open(page_of(tmp_path, LOOP))
    search(browser, "cosine.2")  # brings it to the middle of the picture
    box = browser.evaluate("JSON.stringify(document.getElementById('canvas').getBoundingClientRect())")
    x, y, width, height = (json.loads(box)[key] for key in ("x", "y", "width", "height"))
    browser.evaluate("document.activeElement.blur()")
    browser.press("Escape")
    assert "Click an operation" in browser.text("#selected")
    browser.click(x + width / 2, y + height / 2)
    shown = browser.text("#selected")
    assert "cosine.2" in shown
    assert "model.py:4:7" in shown
    # A link in the panel goes to the other end of an edge.
    browser.evaluate(
        "[...document.querySelectorAll('#selected .link')].find(l => l.innerText === 'multiply.4').click()"
    )
    browser.frame()
    assert browser.text("#selected .name") == "multiply.4"
    browser.click(x + 5, y + 5)
    assert "Click an operation" in browser.text("#selected")


def test_kinds_can_be_told_apart_and_hidden(browser, tmp_path):
    browser.open(page_of(tmp_path, TASKS))
    for kind in ("flow", "anti", "output", "ordered"):
        assert browser.pixels(COLOURS[kind]) > 20, kind
    browser.evaluate("document.querySelectorAll('#legend input')[2].click()")  # FLOW
    browser.frame()
    assert browser.pixels(COLOURS["flow"]) == 0
    assert browser.pixels(COLOURS["anti"]) > 20


def test_before_and_after(browser, tmp_path):
    source = graph_of(mlir.parse_module(TASKS))
    account = {"summary": {"kept": 2}, "edges": [{"src": "p", "dst": "q", "class": "kept", "reason": "a path"}]}
    browser.open(page_of(tmp_path, LOOP, before=source, account=account))
    assert "control (ORDERED)\n3" in browser.text("#legend")
    assert "p → q" in browser.text("#account")
    browser.evaluate("document.querySelector('#stages button').click()")
    browser.frame()
    assert browser.text("#stages [aria-selected=true]") == "Before"
    assert "control (ORDERED)\n1" in browser.text("#legend")
    assert browser.faults == []


def test_a_link_names_an_operation(browser, tmp_path):
    browser.open(page_of(tmp_path, LOOP) + "#op=add.7")
    assert browser.text("#selected .name") == "add.7"


def test_hostile_names_stay_names(browser, tmp_path):
    browser.open(page_of(tmp_path, hostile()))
    assert browser.faults == []
    for name in HOSTILE:
        search(browser, name)
        assert browser.evaluate("document.querySelector('#selected .name').textContent") == name
    assert browser.evaluate("document.title") == "evil"
    assert browser.evaluate("document.images.length") == 0


def test_five_thousand_operations(browser, tmp_path):
    took = browser.open(page_of(tmp_path, big(5000)))
    assert took < 60  # a bound on hanging: two seconds or so on an idle machine
    assert browser.faults == []
    started = time.monotonic()
    search(browser, "op.4321")
    assert browser.text("#selected .name") == "op.4321"
    browser.evaluate("document.activeElement.blur()")
    browser.press("f")  # the whole picture: every node and edge is drawn
    assert time.monotonic() - started < 60
    screenshot = browser.send("Page.captureScreenshot", format="png")["data"]
    assert len(screenshot) > 10_000
