"""Names of data sets for readers: every data set has one of its own."""

import pytest

from dpfl import plugins
from dpfl.figures import datasets
from dpfl.papers import folder


@pytest.mark.parametrize(
    "name, title",
    [
        ("mnist", "MNIST"),
        ("mnist-scatter", "scattering features of MNIST"),
        ("cifar10-patches", "patch features of CIFAR-10"),
        ("cifar10-patches-scatter", "patch and scattering features of CIFAR-10"),
    ],
)
def test_a_data_set_is_called_for_readers(name, title):
    assert datasets.title(name) == title


@pytest.mark.parametrize("name", ["digits", "digits-scatter"])
def test_a_data_set_without_a_name_is_called_by_its_own(name, monkeypatch):
    monkeypatch.delitem(folder.shared("data_sets"), "digits")
    assert datasets.title(name) == name


def test_no_two_data_sets_are_called_alike_or_by_their_keys():
    names = plugins.names("data")
    titles = {datasets.title(name) for name in names}
    assert len(titles) == len(names) and not titles & set(names)
