"""Pages in a browser: filters, what is downloaded, views, and the frame of Snakemake's report."""

import base64
import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from markupsafe import Markup
from results_folder import SILENT, TOLD

from dpfl.report import board, judged, layout, paper
from dpfl.report.reader import Folder

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(not BROWSER, reason="needs chromium")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--dump-dom")
VIEWS = Markup('<nav class="views"><a href="#claims">c</a></nav>')
VIEWS += Markup('<section class="view" id="answer">a</section>')
VIEWS += Markup('<section class="view" id="claims">b</section>')


@pytest.fixture(scope="module")
def index(results: Path) -> str:
    read = paper.read_all([TOLD, SILENT], results.parent / "papers")
    shown = {
        "board": board.of_sources(judged.of_run(Folder(results), read.values())),
        "answers": "",
        "runs": 1,
        "beside": "",
    }
    return layout.render(
        "index", "index", [], title="t", unfinished=[], cells="", this_run=[], **shown
    )


def told(home: Path, page: str, script: str, query: str = "") -> dict:
    """Open a page in a browser, and return what a script in it returns."""
    asked = f"told.textContent = JSON.stringify(await (async () => {{{script}}})())"
    run = f"<script>onload = () => setTimeout(async () => {{{asked}}}, 500)</script>"
    (home / "page.html").write_text(f'{page}<pre id="told"></pre>{run}', encoding="utf-8")
    call = [BROWSER, *FLAGS, f"--user-data-dir={home}/browser", f"file://{home}/page.html{query}"]
    done = subprocess.run(call, capture_output=True, text=True, timeout=120)
    return json.loads(html.unescape(re.search('<pre id="told">(.*?)</pre>', done.stdout, re.S)[1]))


def test_filters_come_from_the_address_and_files_hold_what_is_shown(index: str, tmp_path) -> None:
    script = """const one = document.querySelector('[data-filter=verdict]'), first = csv(shown());
      one.value = 'matches'; one.dispatchEvent(new Event('change'));
      const rows = [...document.querySelectorAll('.matrix tr[id]')].filter((row) => !row.hidden);
      document.querySelector('[data-as=citation]').click();
      return {first, now: shown(), rows: rows.map((row) => row.id), search: location.search,
              cite: document.getElementById('count').textContent}"""
    found = told(tmp_path, index, script, "?verdict=holds")
    head, row = found["first"].splitlines()
    assert head.startswith('"id","paper","claim"') and row.startswith(f'"{TOLD}-better","{TOLD}"')
    assert [one["claim"] for one in found["now"]] == ["printed"]
    assert found["rows"] == [f"{TOLD}-printed"] and found["search"] == "?verdict=matches"
    assert found["cite"].startswith("The dpfl developers") and "?verdict=matches" in found["cite"]


@pytest.mark.parametrize("name", ["index", TOLD])
def test_in_a_frame_links_to_other_pages_are_text_and_views_open(index, name, tmp_path) -> None:
    """Snakemake's report shows pages as data; a link to another page is about:blank#blocked."""
    page = layout.render("paper", TOLD, [("index.html", "Claims")], title="t", body=VIEWS)
    script = """const own = (which) => [...document.querySelectorAll(which)];
      own('.cell b, header a, header nav').forEach((one) => one.click());
      own('.views a').forEach((one) => one.click());
      const find = () => ({links: own('a:not([href^="#"])').length, cells: own('.cell').length,
        views: own('.view').map((view) => view.offsetHeight > 0)});
      setTimeout(() => parent.postMessage(find(), '*'), 300)"""
    text = index if name == "index" else page
    text = f"{text}<script>setTimeout(() => {{{script}}}, 1000)</script>"
    data = base64.b64encode(text.encode()).decode()
    frame = f'<iframe src="data:text/html;charset=utf8;base64,{data}"></iframe>'
    found = told(
        tmp_path, frame, "return new Promise((done) => { onmessage = ({data}) => done(data); })"
    )
    cells, views = (2, []) if name == "index" else (0, [False, True])
    assert found == {"links": 0, "cells": cells, "views": views}
