"""The notebook of a paper: a clean template that tells a paper with studies, and one without."""

import re
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from links import Page
from results_folder import LIVE, SILENT, TOLD

from dpfl.papers import folder as papers
from dpfl.report import markup, method_page, paper, paper_page, reader
from dpfl.report.layout import LINKS

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "paper.ipynb"


@pytest.fixture(scope="module")
def folder(results: Path) -> Path:
    (results.parent / "papers" / TOLD / papers.PAGE).write_text(
        '**In short.** Adam `wins`.\n\nAdam has {{ run.mean("main", method="adam") | fixed }} %.\n'
        "\n| one | two |\n|---|---|\n| 1 | 2 |\n"
        f"\n{LIVE}\n\n<script>c()</script>\n\n"
        f"```mermaid\n{LIVE}\n```\n"
    )
    return results


def test_notebooks_are_stored_without_outputs(root: Path) -> None:
    for path in (root / "notebooks").glob("*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        code = [cell for cell in cells if cell.cell_type == "code"]
        assert code and not any(c.outputs or c.execution_count for c in code), path.name


def executed(drive, folder: Path, paper: str, made: Path, template: Path = NOTEBOOK):
    """Execute the notebook as the workflow does."""
    asked = ("--paper", paper, "--output", made, "--template", template, "--results", folder)
    return drive("notebook", *asked, "--home", folder.parent / "papers")


@pytest.fixture(scope="module")
def html(drive, folder: Path) -> str:
    """The page of the paper, which one kernel makes for all tests here."""
    done = executed(drive, folder, TOLD, folder / f"{TOLD}.ipynb")
    assert done.returncode == 0, done.stderr
    return (folder / "reports" / f"{TOLD}.html").read_text(encoding="utf-8")


def test_the_page_tells_the_paper_in_order(html: str) -> None:
    words = Page(html).words
    told = """Doe and Poe (2020) How sgd & adam differ | What was found Studies Claims Reproduce
Adam wins
This run, scale small: All 2 results: holds 2. Kinds of claim that hold with a proof: ordering 1.
It compares | Adam has 90.0 % | Original [How sgd | Comparisons and controls | Sensitivity: rates
How values were chosen | against SGD, ε 8, n=5 | Not run at this scale: 91.0 | It names no <rate>.
Reproduce This run, scale small | make replicate PAPER=told2020 | federations.default
Download main | The code of this page"""
    parts = re.split(r" \| |\n", told)
    places = [words.find(part) for part in parts]
    assert -1 not in places, parts[places.index(-1)]
    assert places == sorted(places)
    assert " nan" not in words


def test_an_executed_notebook_has_outputs_and_none_of_them_is_an_error(html, folder) -> None:
    cells = nbformat.read(folder / f"{TOLD}.ipynb", as_version=4).cells
    kinds = {out.output_type for cell in cells for out in cell.get("outputs", [])}
    assert kinds and not kinds & {"error", "stream"}


def test_places_pictures_and_links_of_the_page(html: str, folder: Path) -> None:
    found = Page(html)
    assert {"claim-better", "claim-printed", "claim-later"} <= found.places
    assert {"study-main", "study-rates", "study-prices"} <= found.places
    words = (folder / "figures" / TOLD / "main" / "accuracy.txt").read_text(encoding="utf-8")
    assert words.startswith("Adam against SGD") and "://" not in "".join(found.sources)
    assert found.alts == [words.strip(), "How ε = 1 adds up"]  # the second has no words of its own
    for name in (*(f"{page}.html" for page in LINKS), "cells.csv"):
        (folder / "reports" / name).touch()
    wanted = {"index.html", f"../tables/{TOLD}/main.csv", f"../figures/{TOLD}/main/accuracy.pdf"}
    local = {link for link in found.links if "://" not in link}
    assert wanted <= local and {link[1:] for link in local if link[0] == "#"} <= found.places
    assert all((folder / "reports" / link.split("#")[0]).exists() for link in local)


def test_heads_say_what_they_head_and_text_is_escaped(html: str) -> None:
    heads = re.findall(r"<th[ >][^>]*", html)
    assert '<th scope="col">one' in html and all(" scope=" in head for head in heads)
    assert "sgd &lt; adam &amp; &lt;b&gt;both&lt;/b&gt; &gt; chance" in html
    assert "<b>both" not in html and "&lt;3" in html


def test_nothing_that_a_paper_says_is_live(html: str, folder: Path) -> None:
    silent = page_of(folder, SILENT)
    rest = (paper_page.head(silent), paper_page.answer(silent), paper_page.claims(silent))
    link = markup.markdown("[a](javascript:alert(1)) and ![b](javascript:alert(1))")
    for text in (html, *rest, link):
        found = Page(text)
        assert found.tags.count("script") == (text is html)  # the one of all pages
        assert "onerror" not in found.attributes
        assert not [link for link in found.links if link.startswith("javascript")]
    assert "<script>c()</script>" in Page(html).text and LIVE in Page(rest[1]).text


def test_a_paper_that_runs_nothing_still_has_its_page(folder: Path) -> None:
    page = page_of(folder, SILENT)
    assert "The scale small runs no study of this paper." in paper_page.studies(page)
    assert "Not run at this scale: " in paper_page.claims(page)
    assert paper_page.answer(page) and f"PAPER={SILENT}" in paper_page.reproduce(page)


def test_a_notebook_that_exits_is_no_page(drive, folder: Path, tmp_path: Path) -> None:
    ending = nbformat.read(NOTEBOOK, as_version=4)
    ending.cells.insert(2, nbformat.v4.new_code_cell("import sys; sys.exit(0)"))
    nbformat.write(ending, tmp_path / "ending.ipynb")
    page = folder / "reports" / f"{SILENT}.html"
    page.write_text("whole")
    made = tmp_path / f"{SILENT}.ipynb"
    done = executed(drive, folder, SILENT, made, tmp_path / "ending.ipynb")
    text = page.read_text()
    page.unlink()
    assert done.returncode == 1 and text == "whole"
    assert done.stderr.splitlines()[-1].startswith(f"error: {made}: cell 4 of ")


def test_a_mistake_in_a_page_is_one_line(drive, folder: Path, tmp_path: Path) -> None:
    page = folder.parent / "papers" / SILENT / papers.PAGE
    page.write_text("One line.\n{% do guard(1 > 2, 'one is more than two') %}\n")
    done = executed(drive, folder, SILENT, tmp_path / "failed.ipynb")
    page.unlink()
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"error: {page}:2: ")
    assert "one is more than two" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def page_of(folder: Path, key: str = TOLD) -> paper_page.Page:
    return paper_page.read(key, folder, folder.parent / "papers")


def test_a_page_says_in_short_first_and_only_there(html: str) -> None:
    assert '<p class="answer">Adam <code>wins</code>.</p>' in html
    assert html.count("wins</code>") == 1 and "In short" not in html.split('class="code"')[0]
    assert "What was read: All of it." in Page(html).words
    assert "paper_page.head(page)" not in html.split('<details class="code">')[0]


def test_the_first_figure_is_the_first_of_those_named_that_there_is(folder: Path) -> None:
    page = page_of(folder)
    other = {"prices/epsilon-surface": ["other"], "none/accuracy": ["small"]}
    named = {"hero": other | {"main/accuracy": ["small"]}}
    shown = paper_page.hero(replace(page, of=replace(page.of, about=page.of.about | named)))
    assert "This run, scale small. " in shown and "Adam against SGD" in shown
    assert paper_page.hero(page) == ""


def test_kept_results_say_where_they_come_from() -> None:
    about = {"command": "make replicate", "commit": "abc", "core_hours": 2.0, "hardware": []}
    text = method_page.of_kept(about | {"runs": {"trained": 3}, "trained": {}, "versions": {}})
    assert ">make replicate</dd>" in text and ">abc</dd>" in text
    assert "3 training runs, 2 core-hours" in text


def test_rules_stand_once_on_the_page_of_method(folder: Path, html: str) -> None:
    read = {TOLD: paper.read(folder.parent / "papers" / TOLD)}
    shown = method_page.context(reader.Folder(folder), read)
    rule = "matches                   the interval lies within the band"
    text = shown["kinds"]
    assert "A better than B, C and D" in text and "Printed accuracies against ours" in text
    assert shown["margins"] == "1 point" and text.count(rule) == 1
    assert (shown["units"], shown["noise"]) == ({"example"}, {"seeded"})
    assert rule not in html and "method.html" in Page(html).links
