"""Names of data sets for readers; a data set without one is called by its own."""

from typing import Any

from dpfl.papers.datasets import base

NAMES = {
    "mnist": "MNIST",
    "fashion-mnist": "Fashion-MNIST",
    "cifar10": "CIFAR-10",
    "digits": "handwritten digits",
    "breast-cancer": "breast cancer",
}
FEATURES = {
    "scatter": "scattering features",
    "scatter-whitened": "whitened scattering features",
    "patches": "patch features",
    "patches-scatter": "patch and scattering features",
}
"""What is computed from the pictures of a data set, by the end of the name of such features."""


def title(dataset: str) -> str:
    """Return what a data set is called, such as `scattering features of MNIST`."""
    if dataset in NAMES:
        return NAMES[dataset]
    of = base(dataset)
    kind = dataset.removeprefix(f"{of}-")
    return f"{FEATURES[kind]} of {NAMES[of]}" if of in NAMES and kind in FEATURES else dataset


def of(study: dict[str, Any]) -> str:
    """Return what the data set of a study is called."""
    return title(study["dataset"])
