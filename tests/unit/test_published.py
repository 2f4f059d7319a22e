"""What the papers printed beside the cells that it is about; how fairly it is compared."""

import numpy as np
import pandas as pd
import pytest
from bad_input import cases
from claims_of_runs import exact

from dpfl.judging import judge as judging
from dpfl.papers import folder, published
from dpfl.planning.beside import numbers_beside, unmatched
from dpfl.planning.compose import compose
from dpfl.planning.methods import Composition
from dpfl.seeds import fairness
from dpfl.words import vocabulary as words


def beside(default, scale, study, method, epsilon, **variant):
    paper, _, name = study.partition("/")
    config = compose(default | {"scale": scale})[paper]
    return numbers_beside(Composition(config, config["studies"][name], method, variant), epsilon)


FSDP = ("zhou2022/fsdp-k", "fsdp-central")
STRONG, CIFAR10 = ("strong/strong", "strong"), ("strong/strong-cifar10", "strong")


@pytest.mark.parametrize(
    ("scale", "cell", "epsilon", "variant", "found"),
    [
        # Zhou and Qian 2022, table 3, corners; features count as what they are features of
        ("mnist", FSDP, 2.0, {"rank": 10}, [96.12]),
        ("mnist", FSDP, 8, {"rank": 1000}, [97.89]),
        ("cifar10", FSDP, 2.0, {"rank": 1000}, [71.26]),
        ("cifar10", FSDP, 8.0, {"rank": 10}, [75.77]),
        ("cifar10", FSDP, 4.0, {"rank": 50}, [74.83]),
        # nothing is invented
        ("mnist", FSDP, 3.0, {"rank": 50}, []),
        ("mnist", FSDP, "inf", {"rank": 50}, []),
        ("mnist", FSDP, 2.0, {"rank": 51}, []),
        ("mnist", ("zhou2022/fsdp-k", "dpsgd"), 2.0, {"rank": 50}, []),
        ("demo", FSDP, 8.0, {"rank": 50}, []),
        # a number may stand beside a network: arXiv 2311.14056, table 2
        ("mnist", STRONG, 2.0, {"model": "mnist-cnn"}, [96.10]),
        ("mnist", STRONG, 4.0, {"model": "mnist-cnn-tanh"}, [98.51]),
        ("cifar10", CIFAR10, 4.0, {"model": "scatter-cnn"}, [70.28]),
        ("cifar10", CIFAR10, 8.0, {"model": "scatter-cnn"}, []),
        ("mnist", STRONG, 2.0, {"model": "digits-cnn"}, []),
    ],
)
def test_numbers_stand_beside_cells_of_the_printed_settings(
    default, scale, cell, epsilon, variant, found
):
    numbers = beside(default, scale, *cell, epsilon, **variant)
    assert [number["value"] for number in numbers] == found


def test_a_number_of_another_delta_stands_beside_nothing(default):
    assert beside(default | {"delta": 1e-6}, "mnist", *FSDP, 2.0, rank=10) == []


def test_a_letter_can_be_read_in_two_ways(default):
    study = "zhou2022/fsdp-ablation"
    only = beside(default, "mnist", study, "ablation-m", 2.0)
    without = beside(default, "mnist", study, "ablation-src", 2.0)
    assert [(f["row"], f["reading"], f["value"]) for f in only] == [("fsdp-m", "only", 95.37)]
    assert [(f["row"], f["reading"], f["value"]) for f in without] == [("fsdp-m", "without", 95.37)]


LIST = "studies/main/published/0"
EPOCHS = """table,row,metric,value,dataset,epsilon,epochs
table 1,SGD,accuracy_pct,75,digits,8,2
table 1,momentum,accuracy_pct,80,digits,8,2
"""
TOLD = """table,row,metric,value,dataset,epsilon,printed_sd,printed_n,page,read_in,known_by,not_run
table 1,SGD,accuracy_pct,75,digits,8,0.3,5,7,table,a summary,
table 1,momentum,accuracy_pct,80,digits,8,,,,,,
table 1,magic,accuracy_pct,99,digits,8,,,,,,no code of it is known
"""


@pytest.mark.parametrize(
    "made",
    [
        {},
        {"studies.yaml": {"studies/main/vary": {"rounds": [2, 3]}, f"{LIST}/beside": ["rounds"]}},
        {"write": {"published.csv": EPOCHS}},
        {"write": {"published.csv": TOLD}},
    ],
    ids=["matching", "beside two cells, as it says", "epochs are rounds of local epochs", "told"],
)
def test_printed_numbers_beside_a_cell_are_accepted(root, tmp_path, monkeypatch, made):
    """The mistakes are those of bad_input."""
    cases.MEETS["papers"](made, cases.Place(root, tmp_path, monkeypatch))


def test_tables_that_an_analysis_prices_are_left_to_it(default):
    config = compose(default)["zhou2022"]
    prices = {"all": {"prices": published.tables("zhou2022")}}
    assert not list(unmatched("zhou2022", [config | {"analyses": prices}]))
    assert len(list(unmatched("zhou2022", [config | {"analyses": {}}]))) == 66


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
    assert said == f"test accuracy after 10 epochs against printed {told}"


def test_epochs_are_those_of_the_cell(default):
    """Ten rounds of one local epoch, printed as training accuracy: read from the files."""
    [number] = beside(default, "mnist", "zhou2022/fsdp-k", "fsdp-central", 2.0, rank=10)
    federation = compose(default | {"scale": "mnist"})["zhou2022"]["federations"]["central"]
    assert federation["rounds"] * federation["local_epochs"] == 10
    assert number["compared"] == (
        "test accuracy after 10 epochs against printed training accuracy, epochs not printed"
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


ONE = "add-or-remove-one"


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
        (side(adjacency="zero-out"), side(adjacency=ONE), words.HOLDS, words.OTHER_NEIGHBOURS),
        (side(adjacency="zero-out"), side(adjacency=""), words.HOLDS, words.HOLDS),
        (side(adjacency=ONE), side(adjacency=ONE), words.OPPOSITE, words.OPPOSITE),
    ],
)
def test_a_verdict_on_sides_that_are_not_alike_is_open(better, worse, verdict, expected):
    assert fairness.judged(verdict, better, worse) == expected
