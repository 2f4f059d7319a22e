"""What the papers printed, beside the cells that it is about."""

import pytest

from dpfl.tables import published

ANCHORS = "arXiv 2311.14056, table 2"
TABLE3 = [{"table": "table3", "methods": {"fsdp-central": "fsdp"}}]
TABLE5 = [
    {"table": "table5", "reading": "only", "methods": {"m": "fsdp-m"}},
    {"table": "table5", "reading": "without", "methods": {"src": "fsdp-m", "m": "fsdp-r"}},
]


def found(references, dataset, method, epsilon, **variant):
    return [p["value"] for p in published.values(references, dataset, method, epsilon, variant)]


@pytest.mark.parametrize(
    ("dataset", "epsilon", "rank", "value"),
    # Zhou and Qian 2022, table 3, corners
    [
        ("mnist", 2.0, 10, 96.12),
        ("mnist", 8, 1000, 97.89),
        ("cifar10", 2.0, 1000, 71.26),
        ("cifar10", 8.0, 10, 75.77),
    ],
)
def test_table_3_by_rank(dataset, epsilon, rank, value):
    assert found(TABLE3, dataset, "fsdp-central", epsilon, rank=rank) == [value]


def test_features_count_as_what_they_are_features_of():
    assert found(TABLE3, "cifar10-scatter", "fsdp-central", 4.0, rank=50) == [74.83]


@pytest.mark.parametrize(
    ("dataset", "method", "epsilon", "rank"),
    [
        ("mnist", "fsdp-central", 3.0, 50),
        ("mnist", "fsdp-central", "inf", 50),
        ("mnist", "fsdp-central", 2.0, 51),
        ("mnist", "dpsgd", 2.0, 50),
        ("digits", "fsdp-central", 2.0, 50),
    ],
)
def test_nothing_is_invented(dataset, method, epsilon, rank):
    assert found(TABLE3, dataset, method, epsilon, rank=rank) == []


def test_a_table_without_ranks_speaks_of_every_rank():
    assert found(TABLE5, "mnist", "src", 2.0, rank=7) == [95.37]


def test_a_letter_can_be_read_in_two_ways():
    assert found(TABLE5, "mnist", "m", 2.0) == [95.37, 96.18]
    readings = published.values(TABLE5, "mnist", "m", 2.0, {})
    assert [(p["row"], p["reading"]) for p in readings] == [
        ("fsdp-m", "only"),
        ("fsdp-r", "without"),
    ]


@pytest.mark.parametrize(
    ("model", "dataset", "epsilon", "value"),
    # arXiv 2311.14056, table 2
    [
        ("mnist-cnn", "mnist", 2.0, [96.10]),
        ("mnist-cnn-tanh", "mnist", 4.0, [98.51]),
        ("scatter-cnn", "cifar10-scatter", 4.0, [70.28]),
        ("scatter-cnn", "cifar10-scatter", 8.0, []),
        ("digits-cnn", "mnist", 2.0, []),
    ],
)
def test_anchors_stand_beside_a_network_whatever_the_method(model, dataset, epsilon, value):
    models = {
        "mnist-cnn": "plain DP-SGD CNN",
        "mnist-cnn-tanh": "tempered sigmoid",
        "scatter-cnn": "ScatterNet",
    }
    anchors = [{"table": ANCHORS, "models": models}]
    assert found(anchors, dataset, "strong", epsilon, model=model) == value
    assert found(anchors, dataset, "strong", epsilon) == []


def test_the_tables_with_accuracies_and_their_rows():
    assert published.tables() == {"table3", "table5", ANCHORS}
    assert published.rows(ANCHORS) == {"plain DP-SGD CNN", "tempered sigmoid", "ScatterNet"}
    letters = {f"fsdp-{letter}" for letter in "msrc"}
    assert published.rows("table5") == {"dpsgd", "fsdp", *letters}
