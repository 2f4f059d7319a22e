"""The rows of the analysis `budget`, and what readers see of them."""

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from dpfl.figures import datasets, style
from dpfl.privacy import accounting, events
from dpfl.words.columns import plain, rounded
from dpfl.words.numerals import rounded_up

_RELEASES = 2  # means and second moments
_MOST_EPOCHS = 1000
_TICKS = (1, 2, 3, 5, 10, 20, 50)

COLUMNS = {
    "": {
        "data set": plain("dataset"),
        "model": plain("model"),
        "batch": plain("batch_size"),
        "noise multiplier": rounded("noise_multiplier", "{:.2f}"),
        "of statistics": rounded("statistics", "{:g}"),
        "epochs": plain("epochs"),
        "claimed ε": rounded("claimed", "{:g}"),
        "classic RDP": rounded("classic_rdp", "{:.3f}"),
        "PLD": rounded("pld", "{:.3f}"),
        "shuffled": rounded("shuffled", "{:.2f}"),
    }
}


def rows(settings: dict[str, Any]) -> pd.DataFrame:
    """Return a row for every command: its epochs, which are not printed, and three prices."""
    return pd.DataFrame([_row(settings, own) for own in settings["rows"]])


def _row(settings: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    rate, z = own["batch_size"] / own["examples"], own["noise_multiplier"]
    released = (settings["statistics"],) * _RELEASES if own["normalised"] else ()

    def price(epochs: int, accountant: str) -> float:
        steps = own["examples"] // own["batch_size"] * epochs
        event = events.varying(rate, [(z, steps)], released)
        return accounting.epsilon_of(event, settings["delta"], accountant)

    epochs = _epochs(lambda count: price(count, "classic-rdp"), settings["epsilon"])
    # An epoch has every example in one batch: it sees the noise once.
    shuffled = events.varying(1.0, [(z, epochs)], released)
    return {
        "dataset": own["dataset"],
        "model": own["model"],
        "batch_size": own["batch_size"],
        "noise_multiplier": z,
        "statistics": settings["statistics"] if own["normalised"] else float("nan"),
        "epochs": epochs,
        "claimed": settings["epsilon"],
        "delta": settings["delta"],
        "classic_rdp": price(epochs, "classic-rdp"),
        "pld": price(epochs, "pld"),
        "shuffled": accounting.epsilon_of(shuffled, settings["delta"], "gaussian"),
    }


def _epochs(price: Callable[[int], float], epsilon: float) -> int:
    """Return the number of epochs whose price comes nearest to the claim; prices rise."""
    after = bisect_left(range(1, _MOST_EPOCHS), epsilon, key=price) + 1
    return min((max(1, after - 1), after), key=lambda count: abs(price(count) - epsilon))


def draw(tables: dict[str, pd.DataFrame]) -> Figure:
    """Draw the three prices of every command on one axis."""
    table = tables[""]
    figure, axes = style.canvas(1, 1, panel=(8.0, 0.9 + 0.45 * len(table)))
    ax, heights = axes[0, 0], [-index for index in range(len(table))]
    marks = {"classic_rdp": ("classic RDP", "#0072B2", "o"), "pld": ("PLD", "#009E73", "s")}
    marks["shuffled"] = ("proven for shuffled batches", "#D55E00", "D")
    for column, (label, colour, marker) in marks.items():
        ax.plot(table[column], heights, marker, color=colour, label=label, markersize=7)
    ax.axvline(table["claimed"].iloc[0], color="0.5", linestyle=":", label="claimed")
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(_TICKS))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.minorticks_off()
    names = zip(table["dataset"], table["model"], strict=True)
    ax.set_yticks(heights, [f"{datasets.title(dataset)}, {model}" for dataset, model in names])
    style.finish(axes, 1, f"ε at δ = {style.delta_text(table['delta'].iloc[0])}", "")
    style.title(figure, _finding(table))
    style.note(figure, "", ax.get_legend_handles_labels()[0])
    return figure


def _finding(table: pd.DataFrame) -> str:
    """Tell from where to where the prices of all commands go, beside what is claimed."""

    def span(name: str) -> str:
        ends = map(rounded_up, (table[name].min(), table[name].max()))
        return " to ".join(dict.fromkeys(ends))

    return (
        f"What is claimed as ε = {table['claimed'].iloc[0]:g} is {span('pld')} by PLD for Poisson "
        f"batches, and {span('shuffled')} by what is proven for shuffled ones"
    )
