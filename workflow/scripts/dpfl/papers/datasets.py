"""Which data set the numbers of a paper speak of."""

from dpfl import plugins


def base(dataset: str) -> str:
    """Return the data set that a table speaks of: features count as what they are features of."""
    return plugins.constant("data", dataset, "BASE", dataset)
