"""Pages of methods: the most accurate proven cells, two side by side, a page each."""

import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from closed_forms import LOOK
from hypothesis import given, settings
from hypothesis import strategies as st
from links import Page
from results_folder import ABOUT, SILENT, TOLD
from scipy import stats

from dpfl.report import cells, layout, methods, values
from dpfl.report.reader import Folder
from dpfl.seeds import verdicts
from dpfl.seeds.verdicts import PRIVACY
from dpfl.tables import of_study

MAIN = f"{TOLD}/main"
CELL = {
    "dataset": st.sampled_from(["mnist", "mnist-scatter", "fashion-mnist"]),
    "unit": st.sampled_from(["example", "client"]),
    "adjacency": st.sampled_from(["add-or-remove-one", "zero-out"]),
    "epsilon": st.sampled_from([1.0, 8.0, math.inf]),
    "privacy": st.sampled_from(PRIVACY),
    "certified": st.booleans(),
    "eps_certified": st.sampled_from([math.nan, 0.99, 7.99, 9.0]),
    "accuracy": st.floats(0, 100) | st.just(math.nan),
    "tried": st.booleans(),
}

PLACE = ("dataset", "unit", "adjacency", "epsilon")


def pages(folder: Folder) -> dict[str, str]:
    """Write all pages; return them by name."""
    methods.write({folder: ABOUT}, folder.reports, [("index.html", "Claims")])
    names = ["leaderboard", "compare", "methods/sgd", "methods/adam"]
    return {n: (folder.reports / f"{n}.html").read_text(encoding="utf-8") for n in names}


def rows(html: str) -> list[list[str]]:
    """Return the texts of the rows of all tables."""
    lines = re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)
    return [[Page(cell).words for cell in re.findall(r"<td.*?</td>", line)] for line in lines]


def accuracies(folder: Folder, method: str) -> dict[int, float]:
    """Return the accuracies of the cell of a method by seed, read without the package."""
    [own] = [cell for cell in folder.study(MAIN)["cells"] if cell["method"] == method]
    paths = [folder.path / "runs" / run / "summary.json" for run in own["runs"]]
    found = [json.loads(path.read_text()) for path in paths]
    return {one["seed"]: 100 * one["final_test_accuracy"] for one in found}


def change(folder: Folder, method: str, **what) -> None:
    """Change what the runs of a method say, and make the tables of their study anew."""
    for path in (folder.path / "runs").glob(f"{method}-8-*/summary.json"):
        path.write_text(json.dumps(json.loads(path.read_text()) | what))
    of_study.write(folder.study(MAIN), folder.path)
    values.read.cache_clear()


@settings(deadline=None)
@given(st.lists(st.fixed_dictionaries(CELL), max_size=12))
def test_the_leader_is_the_most_accurate_cell_with_a_proof(made: list[dict]) -> None:
    shown = methods.best(pd.DataFrame(made, columns=[*CELL])).to_dict("records")
    leaders: dict[tuple, float] = {}
    for one in made:
        proven = one["privacy"] == "proven" and one["certified"]
        proven = proven and one["eps_certified"] <= one["epsilon"] < math.inf
        if proven and not one["tried"] and one["accuracy"] == one["accuracy"]:
            place = tuple(one[key] for key in PLACE)
            leaders[place] = max(leaders.get(place, 0.0), one["accuracy"])
    for (*alike, epsilon), accuracy in sorted(leaders.items()):
        less = [leaders[k] for k in leaders if [*k[:3]] == alike and k[3] < epsilon]
        if accuracy <= max(less, default=-1.0):
            del leaders[*alike, epsilon]
    places = {tuple(row[key] for key in PLACE): row["accuracy"] for row in shown}
    assert places == leaders and len(shown) == len(leaders)


AUDIT = {"status": "audited", "epsilon": 9.5, "level": 0.01}


@pytest.mark.parametrize("lost", [{"eps_certified": None}, {"audit": AUDIT}, {"eps_certified": 9}])
def test_a_cell_that_loses_its_proof_leaves_the_leaderboard(folder: Folder, lost: dict) -> None:
    """Adam is the more accurate one; without a proof, or beaten by an audit, SGD leads."""
    leads = []
    for changes in ({}, lost):
        change(folder, "adam", **changes)
        found = pages(folder)
        leads.append([row[3] for row in rows(found["leaderboard"]) if row])
    assert leads == [["Adam"], ["SGD"]]
    [[_, _, _, first, second, *_]] = [r for r in rows(found["compare"]) if r[:2] == ["Adam", "SGD"]]
    assert re.fullmatch(r"[\d.]+, (no proof|certificate refuted)", first) and float(second)


def test_two_methods_have_the_paired_difference_and_its_own_interval(folder: Folder) -> None:
    one, other = (accuracies(folder, method) for method in ("adam", "sgd"))
    gaps = [one[seed] - other[seed] for seed in one]
    low, high = stats.t.interval(LOOK, 4, np.mean(gaps), stats.sem(gaps))
    compare, adam = (pages(folder)[name] for name in ("compare", "methods/adam"))
    [line] = [row for row in rows(compare) if row[:2] == ["Adam", "SGD"]]
    assert line[2] == f"{np.mean(gaps):+.2f} [{low:+.2f}, {high:+.2f}] (n=5)"
    assert line[3:6] == [f"{np.mean([*own.values()]):.2f}" for own in (one, other)] + ["8"]
    [turned] = [row for row in rows(compare) if row[:2] == ["SGD", "Adam"]]
    assert turned[2] == f"{-np.mean(gaps):+.2f} [{-high:+.2f}, {-low:+.2f}] (n=5)"
    assert line[1:] in rows(adam)  # SGD is of the family that all methods are laid beside


def test_a_failed_seed_makes_no_pair_and_trials_of_rates_make_none(folder: Folder) -> None:
    (folder.path / "runs" / "adam-8-0" / "metrics.csv").unlink()
    path = folder.path / "runs" / "adam-8-0" / "summary.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"final_test_accuracy": 0.1}))
    of_study.write(folder.study(MAIN), folder.path)
    found = cells.pairs(cells.table({folder: ABOUT}))
    assert found["pairs"].tolist() == [4, 4] and {*found["study"]} == {"main"}


def test_a_method_says_what_it_is_its_proof_its_cells_and_its_curves(folder: Folder) -> None:
    sgd = pages(folder)["methods/sgd"]
    assert "clip every example's gradient" in Page(sgd).words
    assert "proven: 4 cells (pld)" in Page(sgd).words
    shown = [row[0] for row in rows(sgd) if "proven" in row]
    assert sorted(shown) == ["4", "4", "4", "8"]
    curve = np.mean([*accuracies(folder, "sgd").values()]) / 5 * np.arange(1, 6)
    [points] = re.findall('points="(.*?)"', sgd)
    heights = [float(point.split(",")[1]) for point in points.split()]
    assert np.corrcoef(heights, curve)[0, 1] == pytest.approx(-1) and len(heights) == 5
    methods._rounds.cache_clear()
    (folder.path / "runs" / "sgd-8-0" / "metrics.csv").unlink()
    assert "<polyline" not in pages(folder)["methods/sgd"]


def test_a_folder_that_runs_nothing_has_empty_pages(folder: Folder) -> None:
    methods.write({folder: [SILENT]}, folder.reports, [])
    assert rows((folder.reports / "leaderboard.html").read_text(encoding="utf-8")) == []


def test_every_method_has_a_page_and_every_cell_its_runs(folder: Folder) -> None:
    pages(folder)
    found = pd.read_csv(folder.reports / cells.CSV)
    assert [len(runs.split()) for runs in found["runs"]] == found["n"].tolist() == [5, 5, 1, 1, 1]
    assert {path.stem for path in (folder.reports / "methods").iterdir()} == {*found["method"]}


def test_reasons_are_told_once() -> None:
    """No ε needs a reason where none is claimed."""
    heads = ["eps_claimed", "eps_certified", "privacy", "reasons", "audit_blind", "mechanism"]
    rows = [(e, np.nan, "no proof", "clips late", "", "p3sgd") for e in (2.0, 8.0)]
    rows.append((2.0, 1.99, "proven", "", "It sees a part.", "dpsgd"))
    rows.append((np.inf, np.nan, "not private", "free", "", "pdpsgd"))
    made = pd.DataFrame(rows, columns=heads)
    made["settings"] = [{"mechanism": {"estimator": name}} for name in made["mechanism"]]
    told = {"accountant": "pld", "privacy_reasons": "no certificate"}
    assert methods.privacy_of(made.assign(**told)) == [
        "no proof: 2 cells (no certificate)",
        "proven: 1 cell (pld)",
        "No proof: clips late",
        "Not seen by an audit: It sees a part.",
        f"Not protected: {methods.UNPROTECTED}",
    ]


@pytest.mark.parametrize(
    ("units", "noise", "told", "untold"),
    [
        (["example"], ["seeded"], ["no privacy for a whole client", "secret seed"], "Unit client"),
        (["client"], ["secure"], ["1/clients", "trusted", "system's entropy"], "Unit example"),
        ([], [], ["No run of this scale is private."], "Unit"),
    ],
)
def test_the_page_on_method_says_whom_epsilons_protect(units, noise, told, untold) -> None:
    shown = dict.fromkeys(("margins", "adding_up", "kinds", "sources"), "")
    shown |= {"tuned": {}, "rules": verdicts}
    text = " ".join(
        layout.render("method", "method", [], title="", units=units, noise=noise, **shown).split()
    )
    assert all(words in text for words in told) and untold not in text
    assert "No ε here pays for that" in text and "sum of their levels" in text
