"""Names of data sets for readers (components.yaml); one without is called by its own."""

from dpfl.papers import folder
from dpfl.papers.datasets import base


def title(dataset: str) -> str:
    """Return what a data set is called, such as `scattering features of MNIST`."""
    named, features = folder.shared("data_sets"), folder.shared("features")
    plain = base(dataset)
    kind = dataset.removeprefix(f"{plain}-")
    if plain in named and kind in features:
        return f"{features[kind]} of {named[plain]}"
    return named.get(dataset, dataset)
