"""What the papers printed, beside the cells that it is about."""

import pytest
from bad_input import cases

from dpfl.papers import published
from dpfl.planning.beside import numbers_beside, unmatched
from dpfl.planning.compose import compose
from dpfl.planning.methods import Composition


def beside(default, scale, study, method, epsilon, **variant):
    paper, _, name = study.partition("/")
    config = compose(default | {"scale": scale})[paper]
    return numbers_beside(Composition(config, config["studies"][name], method, variant), epsilon)


def values(*arguments, **variant):
    return [found["value"] for found in beside(*arguments, **variant)]


@pytest.mark.parametrize(
    ("scale", "epsilon", "rank", "value"),
    # Zhou and Qian 2022, table 3, corners; features count as what they are features of
    [
        ("mnist", 2.0, 10, 96.12),
        ("mnist", 8, 1000, 97.89),
        ("cifar10", 2.0, 1000, 71.26),
        ("cifar10", 8.0, 10, 75.77),
        ("cifar10", 4.0, 50, 74.83),
    ],
)
def test_a_coordinate_is_matched_by_name_with_the_cells_settings(
    default, scale, epsilon, rank, value
):
    assert values(default, scale, "zhou2022/fsdp-k", "fsdp-central", epsilon, rank=rank) == [value]


@pytest.mark.parametrize(
    ("scale", "delta", "method", "epsilon", "rank"),
    [
        ("mnist", 1e-5, "fsdp-central", 3.0, 50),
        ("mnist", 1e-5, "fsdp-central", "inf", 50),
        ("mnist", 1e-5, "fsdp-central", 2.0, 51),
        ("mnist", 1e-5, "dpsgd", 2.0, 50),
        ("mnist", 1e-6, "fsdp-central", 2.0, 10),
        ("demo", 1e-5, "fsdp-central", 8.0, 50),
    ],
)
def test_nothing_is_invented(default, scale, delta, method, epsilon, rank):
    config = default | {"delta": delta}
    assert values(config, scale, "zhou2022/fsdp-k", method, epsilon, rank=rank) == []


def test_a_letter_can_be_read_in_two_ways(default):
    study = "zhou2022/fsdp-ablation"
    only = beside(default, "mnist", study, "ablation-m", 2.0)
    without = beside(default, "mnist", study, "ablation-src", 2.0)
    assert [(f["row"], f["reading"], f["value"]) for f in only] == [("fsdp-m", "only", 95.37)]
    assert [(f["row"], f["reading"], f["value"]) for f in without] == [("fsdp-m", "without", 95.37)]


@pytest.mark.parametrize(
    ("scale", "model", "study", "epsilon", "value"),
    # arXiv 2311.14056, table 2
    [
        ("mnist", "mnist-cnn", "strong", 2.0, [96.10]),
        ("mnist", "mnist-cnn-tanh", "strong", 4.0, [98.51]),
        ("cifar10", "scatter-cnn", "strong-cifar10", 4.0, [70.28]),
        ("cifar10", "scatter-cnn", "strong-cifar10", 8.0, []),
        ("mnist", "digits-cnn", "strong", 2.0, []),
    ],
)
def test_a_number_may_stand_beside_a_network(default, scale, model, study, epsilon, value):
    found = values(default, scale, f"strong/{study}", "strong", epsilon, model=model)
    assert found == value


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
