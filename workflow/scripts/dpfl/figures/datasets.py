"""Names of data sets for readers (components.yaml); one without is called by its own."""

from typing import Any

from dpfl.papers import folder
from dpfl.papers.datasets import base


def title(dataset: str) -> str:
    """Return what a data set is called, such as `scattering features of MNIST`."""
    named, features = folder.shared("data_sets"), folder.shared("features")
    of = base(dataset)
    kind = dataset.removeprefix(f"{of}-")
    if of in named and kind in features:
        return f"{features[kind]} of {named[of]}"
    return named.get(dataset, dataset)


def of(study: dict[str, Any]) -> str:
    """Return what the data set of a study is called."""
    return title(study["dataset"])
