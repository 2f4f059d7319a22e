"""What stands beside a printed accuracy, in words: ours and theirs are seldom of the same kind.

Ours is test accuracy of the model after the last round. What a table prints, its paper.yaml says:

    printed:
      table 3: { accuracy: training, epochs: 25 }

Both keys may be left out for what is not printed; a column `epochs` of published.csv goes first.
A third, `by`, names the paper that a table was taken from, if it is another one that ran the method
again.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from dpfl.base.suggestions import unknown
from dpfl.papers import folder, published
from dpfl.words.numerals import counted


def compared(paper: str, number: published.Printed, length: str) -> str:
    """Return what is compared with what; `length` says how long ours trains, as `10 epochs`."""
    told = folder.load(paper).about
    about, source = told.get("printed", {}).get(number.table, {}), by(told, number.table)
    kind, epochs = about.get("accuracy"), number.coordinate("epochs") or about.get("epochs")
    theirs = f"{kind} accuracy" if kind else "accuracy, of which examples is not said,"
    after = f" after {counted(float(epochs), 'epoch')}" if epochs else ", epochs not printed"
    rerun = f", of a rerun by {source}" if source else ""
    said = f"test accuracy after {length} beside printed {theirs}{after}{rerun}"
    return said.replace(",,", ",")


def by(about: Mapping[str, Any], table: str) -> str:
    """Return which other paper printed a table of a paper.yaml; "" if it was the paper itself."""
    return about.get("printed", {}).get(table, {}).get("by", "")


def mistakes(paper: str) -> Iterator[str]:
    """Find tables that a paper.yaml describes and published.csv lacks."""
    named = folder.load(paper).about.get("printed", {})
    where = folder.shown(folder.path_of(paper, folder.ABOUT))
    yield from unknown(named, published.tables(paper), f"{where}: printed has", ", no table there")
