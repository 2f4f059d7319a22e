"""Reads the values that a stage of tuning has named: the one place that does."""

from pathlib import Path

from dpfl.files import read_json
from dpfl.tuning import Values


def values(stage: Path, slot: int) -> Values:
    """Return the values of a slot, by setting; UserError for a file that is not whole."""
    return read_json(stage)["values"][slot]
