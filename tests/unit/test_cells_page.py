"""The page of every cell: its columns, and where the runs of a cell are found."""

import json
import re
import shutil

import pytest
from results_folder import ABOUT, TOLD

from dpfl.report import cells_page, paper
from dpfl.report.reader import Folder

SHORT = "Doe and Poe (2020)"


def text_of(folder: Folder) -> str:
    return str(cells_page.body(folder, paper.read_all(ABOUT, folder.path.parent / "papers")))


def rows(text: str) -> list[dict]:
    """Return the cells that a page shows, by the heads of its columns."""
    heads = re.findall("<th>(.*?)</th>", passed(text, "table_html"))
    return [dict(zip(heads, row, strict=True)) for row in json.loads(passed(text, "data_json"))]


def passed(text: str, name: str) -> str:
    """Return a text that the page hands to the script of its table."""
    return json.loads(re.search(rf'"{name}": ("(?:[^"\\]|\\.)*")', text)[1])


def test_a_column_of_one_value_is_told_in_words(folder: Folder) -> None:
    text = text_of(folder)
    heads = list(rows(text)[0])
    assert {"paper", "data", "unit"}.isdisjoint(heads)
    assert f"data MNIST; paper {SHORT}; unit example." in text


def test_accuracy_and_epsilons_stay_even_where_all_are_the_same(folder: Folder) -> None:
    assert list(rows(text_of(folder))[0])[:3] == ["method", "variant", "accuracy, %"]
    outline = folder.path / "papers" / f"{TOLD}.json"
    outline.write_text(json.dumps(json.loads(outline.read_text()) | {"studies": [f"{TOLD}/main"]}))
    heads = list(rows(text_of(folder))[0])
    assert "study" not in heads and heads[:2] == ["method", "accuracy, %"]
    assert {"ε claimed", "ε certified", "ε audited", "n"} <= {*heads}


def test_a_single_cell_has_its_method_and_its_runs(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = cells_page.cells(folder, [TOLD]).head(1)
    monkeypatch.setattr(cells_page, "cells", lambda *_: found)
    ((row,), text) = rows(text_of(folder)), text_of(folder)
    assert row["method"] == "SGD" and row["runs"].count("<li>") == 5
    assert "In every cell:" in text and "runs <" not in text.split("In every cell:")[1][:200]


def test_epsilons_are_sorted_as_numbers_and_runs_that_lie_here_are_told(folder: Folder) -> None:
    found = rows(text_of(folder))
    assert {tuple(row["ε claimed"]) for row in found} == {("8", 8.0), ("4", 4.0)}
    shown = [row["runs"] for row in found]
    assert [text.count("<li>") for text in shown] == [5, 5, 1, 1, 1]
    assert all("summary.json" in text and "listed" not in text for text in shown)


def test_runs_that_do_not_lie_here_are_counted_and_their_list_is_named(folder: Folder) -> None:
    first = folder.study(f"{TOLD}/main")["cells"][0]["runs"][0]
    for run in (folder.path / "runs").iterdir():
        if run.name != first:
            shutil.rmtree(run)
    shown = [row["runs"] for row in rows(text_of(folder))]
    assert shown[1] == '<a href="cells.csv">5 runs, listed</a>'
    assert shown[0].count("<li>") == 1 and shown[0].endswith(">4 runs, listed</a>")


def test_a_title_has_the_methods_name_beside_it_where_they_differ(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpfl.figures.families.title", {"sgd": "SGD", "adam": "the other"}.get)
    shown = {row["method"] for row in rows(text_of(folder))}
    assert shown == {"SGD", "the other <small>adam</small>"}
