"""What stands beside a printed number, and how sides were tuned, is said in every row."""

import numpy as np
import pandas as pd
import pytest
from claims_of_runs import exact
from test_published import beside

from dpfl.judging import judge as judging
from dpfl.papers import folder, published
from dpfl.planning import plan
from dpfl.planning.compose import compose
from dpfl.seeds import fairness
from dpfl.words import vocabulary as words


@pytest.mark.parametrize(
    ("printed", "epochs", "told"),
    [
        ({}, "", "accuracy, of which examples is not said, epochs not printed"),
        ({}, "25", "accuracy, of which examples is not said, after 25 epochs"),
        ({"table 1": {"accuracy": "training"}}, "", "training accuracy, epochs not printed"),
        ({"table 1": {"accuracy": "test", "epochs": 1}}, "", "test accuracy after 1 epoch"),
        ({"table 1": {"accuracy": "test", "epochs": 1}}, "50", "test accuracy after 50 epochs"),
        (
            {"table 1": {"accuracy": "test", "by": "Poe (2021)"}},
            "2",
            "test accuracy after 2 epochs, of a rerun by Poe (2021)",
        ),
    ],
)
def test_what_is_compared_with_what(monkeypatch, printed, epochs, told):
    paper = folder.Paper("new2024", {"printed": printed}, {})
    monkeypatch.setattr(folder, "load", {"new2024": paper}.get)
    coordinates = (("epochs", epochs),) if epochs else ()
    number = published.Printed("table 1", "sgd", "accuracy_pct", 90.0, coordinates, 2)
    said = published.compared("new2024", number, "10 epochs")
    assert said == f"test accuracy after 10 epochs beside printed {told}"


def test_epochs_are_those_of_the_cell(default):
    """Ten rounds of one local epoch, printed as training accuracy: read from the files."""
    [number] = beside(default, "mnist", "zhou2022/fsdp-k", "fsdp-central", 2.0, rank=10)
    federation = compose(default | {"scale": "mnist"})["zhou2022"]["federations"]["central"]
    assert federation["rounds"] * federation["local_epochs"] == 10
    assert number["compared"] == (
        "test accuracy after 10 epochs beside printed training accuracy, epochs not printed"
    )


@pytest.mark.parametrize(
    ("epsilon", "table", "by"),
    [
        (2.0, "rerun by Bao and Bindschaedler", "Bao and Bindschaedler (2024)"),
        (3.0, "main results", ""),
    ],
)
def test_numbers_that_another_paper_printed_name_it(default, epsilon, table, by):
    [number] = beside(default, "cifar10", "strong/patches-cifar10", "standardised", epsilon)
    assert (number["table"], number["by"]) == (table, by)


def test_cells_name_what_has_chosen_their_values(default):
    made = plan.make(compose(default | {"scale": "mnist", "papers": ["meng2023"]}))
    cells = {
        cell["method"]: cell.get("tuning")
        for cell in made.studies["meng2023/cadabelief"]["cells"]
        if cell["epsilon"] == 2
    }
    assert cells["sgd"] in made.tunings and cells["cadabelief"] in made.tunings
    assert cells["sgd"] != cells["cadabelief"]
    grid = made.studies["meng2023/rates"]["cells"]
    assert not any("tuning" in cell for cell in grid if "rate" in cell["variant"])


def sides(ours, theirs):
    base = 90 + 0.1 * np.arange(5)
    found = exact(a=base + 2, b=base)
    found.runs["tuning"] = found.runs["method"].map({"a": ours, "b": theirs})
    return found


@pytest.mark.parametrize(
    ("ours", "theirs", "word"),
    [("x", "y", "alike"), ("x", "x", "shared"), ("", "", "none"), ("x", "", "one side")],
)
@pytest.mark.parametrize("kind", ["ordering", "gap"])
def test_a_comparison_says_how_its_sides_were_tuned(ours, theirs, word, kind):
    claim = {"id": "c", "kind": kind, "study": "main", "better": "a"}
    rest = {"ordering": {"worse": ["b"]}, "gap": {"worse": "b", "points": 2.0}}[kind]
    table = judging.judge(claim | rest, sides(ours, theirs))
    assert set(table["tuning"]) == {word}


def test_the_least_fair_comparison_counts():
    assert fairness.least(["alike", "one side", "shared", ""]) == "one side"
    assert fairness.least(["alike", "alike"]) == "alike"
    assert fairness.least([]) == ""


def side(**of):
    usual = {"tuned_at": 2.0, "epsilon": 2.0, "unit": "example", "trials": 8, "edge": ""}
    return pd.DataFrame([usual | of])


@pytest.mark.parametrize(
    ("better", "worse", "verdict", "expected"),
    [
        (side(unit="client", tuned_at=8.0), side(), words.HOLDS, words.NOT_TUNED),
        (side(), side(unit="client", tuned_at=8.0), words.INCONCLUSIVE, words.NOT_TUNED),
        (side(unit="client"), side(unit="client"), words.HOLDS, words.HOLDS),
        (side(tuned_at=8.0), side(), words.HOLDS, words.HOLDS),  # of examples
        (side(unit="client", tuned_at=np.nan), side(), words.HOLDS, words.HOLDS),
        (side(unit="client", tuned_at=8.0), side(), words.TOO_FEW, words.TOO_FEW),
        (side(), side(edge="rate", trials=5), words.HOLDS, words.FEWER_TRIALS),
        (side(), side(edge="rate", trials=5), words.OPPOSITE, words.OPPOSITE),
        (side(edge="rate", trials=5), side(), words.OPPOSITE, words.FEWER_TRIALS),
        (side(edge="rate", trials=5), side(), words.SMALL, words.SMALL),
        (side(edge="rate", trials=5), side(), words.DIFFERS, words.FEWER_TRIALS),
        (side(edge="rate"), side(edge="rate"), words.HOLDS, words.HOLDS),
        (side(trials=5), side(), words.OPPOSITE, words.OPPOSITE),
    ],
)
def test_a_verdict_that_rests_on_how_a_side_was_tuned_is_open(better, worse, verdict, expected):
    assert fairness.judged(verdict, better, worse) == expected
