"""The interactive figure: which cells and printed numbers it shows, and how."""

import json
import math
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml
from results_folder import ABOUT, TOLD

from dpfl.report import explore_chart, explore_page, page
from dpfl.report.reader import Folder

SHORT = "Doe and Poe (2020)"


def drawn(folder: Folder) -> dict:
    """Return the chart that the page holds, in the terms of Vega-Lite."""
    read = page.papers(ABOUT, folder.path.parent / "papers")
    text = str(explore_page.body(folder, read))
    return json.loads(re.search(r"const spec = (\{.*\});", text)[1])


def layer(chart: dict, mark: str) -> list[dict]:
    """Return the rows behind the marks of a kind: `rule`, `point` or `diamond`."""
    kinds = {own["mark"].get("shape", own["mark"]["type"]): own for own in chart["layer"]}
    return chart["datasets"][kinds[mark]["data"]["name"]]


def relabelled(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new))


def cells(**datasets: int) -> pd.DataFrame:
    """Return so many cells of each data set, of one seed each."""
    rows = [{"data": name, "epsilon": 2.0 + i} for name, n in datasets.items() for i in range(n)]
    told = {"paper": "p", "family": "FSDP", "accuracy": 90.0, "certified": True}
    return pd.DataFrame(rows).assign(ci_low=math.nan, ci_high=math.nan, **told)


def test_printed_numbers_are_those_of_data_sets_with_cells(folder: Folder) -> None:
    path = folder.path / "tables" / "published.csv"
    table = pd.read_csv(path)
    other = table.iloc[[0]].assign(dataset="cifar10", printed=12.5)
    pd.concat([table, other]).to_csv(path, index=False)
    shown = layer(drawn(folder), "diamond")
    assert {row["data"] for row in shown} == {"MNIST"}
    assert 12.5 not in {row["accuracy"] for row in shown}


def test_printed_numbers_stand_beside_features_of_their_data_set(folder: Folder) -> None:
    relabelled(folder.path / "tables" / f"{TOLD}/main.csv", ",mnist,", ",mnist-scatter,")
    chart = drawn(folder)
    assert {row["dataset"] for row in layer(chart, "point")} == {"scattering features of MNIST"}
    assert layer(chart, "diamond")


def test_what_another_paper_prints_is_grey_and_names_it(folder: Folder) -> None:
    about = folder.path.parent / "papers" / TOLD / "paper.yaml"
    told = yaml.safe_load(about.read_text()) | {"printed": {"table 1": {"by": "Poe (2021)"}}}
    about.write_text(yaml.safe_dump(told))
    chart = drawn(folder)
    sources = {(row["paper"], row["source"], row["rerun"]) for row in layer(chart, "diamond")}
    assert (SHORT, "Poe (2021)", True) in sources
    assert ("A text of nobody", "A text of nobody", False) in sources
    (diamonds,) = [own for own in chart["layer"] if own["mark"].get("shape") == "diamond"]
    fill = diamonds["encoding"]["fill"]
    assert fill["condition"]["test"] == "datum.rerun" and fill["value"] == "black"


def test_the_data_set_with_most_cells_is_chosen_first() -> None:
    found = cells(digits=2, mnist=3)
    chart = explore_chart.draw(found, pd.DataFrame(columns=explore_page.COLUMNS)).to_dict()
    menus = {own["name"]: own for own in chart["params"] if own["name"].startswith("a_")}
    assert menus["a_data"]["value"] == "mnist"
    assert menus["a_data"]["bind"]["options"] == ["all", "digits", "mnist"]
    assert "bind" not in menus["a_paper"]  # there is one paper


def test_marks_tell_names_instead_of_keys(folder: Folder) -> None:
    chart = drawn(folder)
    rows = layer(chart, "point")
    assert {row["paper"] for row in rows} == {SHORT}
    assert {row["method"] for row in rows} == {"SGD", "Adam"}
    assert SHORT in {row["paper"] for row in layer(chart, "diamond")}


def test_every_interval_has_a_bar(folder: Folder) -> None:
    table = pd.read_csv(folder.path / "tables" / f"{TOLD}/main.csv")
    ends = {(row["ci_low"], row["ci_high"]) for row in layer(drawn(folder), "rule")}
    assert len(ends) == 2
    assert sorted(ends) == [
        (pytest.approx(low), pytest.approx(high))
        for low, high in sorted(zip(table["ci_low"], table["ci_high"], strict=True))
    ]


def test_the_figure_is_as_wide_as_the_page_with_ticks_where_epsilons_are(folder: Folder) -> None:
    chart = drawn(folder)
    assert chart["width"] == "container"
    axis = chart["layer"][0]["encoding"]["x"]["axis"]
    printed = {row["epsilon"] for row in layer(chart, "diamond")}
    assert axis["values"] == sorted({8.0} | printed) == [4.0, 8.0]
