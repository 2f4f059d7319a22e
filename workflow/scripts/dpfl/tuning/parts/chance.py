"""The accuracy of guessing, above which a network has learned something."""

from dpfl import plugins

TIMES = 1.5
"""Of the accuracy of guessing; a network that always gives the commonest class is at chance."""


def guessing(dataset: str) -> float:
    """Return the accuracy of guessing, in percent."""
    return 100 / plugins.constant("data", dataset, "CLASSES")


def level(dataset: str) -> float:
    """Return the accuracy up to which a network is at chance, in percent."""
    return TIMES * guessing(dataset)
