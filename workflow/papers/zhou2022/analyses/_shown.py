"""What readers see of the analysis `privacy-loss`: tables, and printed beside computed losses."""

from itertools import product

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator
from papers.zhou2022.analyses._assumptions import ALL, ONE
from papers.zhou2022.analyses._printed import NAMES

from dpfl.figures import style
from dpfl.words.columns import Column, plain, rounded
from dpfl.words.numerals import known
from dpfl.words.vocabulary import MATCHES

CELL = ["dataset", "header_epsilon", "method", "epochs"]
"""What tells the printed losses apart; each has one or two readings."""
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50)
MARKS = {
    ("published", ONE): ("printed", "#000000", "D", 5),
    ("classic_rdp", ONE): (f"classic RDP, {ONE}", "#2471AE", "o", 7),
    ("classic_rdp", ALL): (f"classic RDP, {ALL}", "#EF3461", "s", 6),
    ("pld", ONE): (f"PLD (tight, rounded up), {ONE}", "#139EAB", "<", 6.5),
    ("pld", ALL): (f"PLD (tight, rounded up), {ALL}", "#E47316", ">", 6.5),
}
"""Column and reading: name, colour, marker and size."""


def _named(name: str) -> Column:
    return lambda row: NAMES.get(row[name], row[name])


def _found(name: str, form: str) -> Column:
    return lambda row: rounded(name, form)(row) or "none"


def _both(name: str, form: str) -> Column:
    """Show the values of all numbers of epochs, whose columns are name_25, name_50."""

    def shown(row: pd.Series) -> str:
        values = [row[key] for key in row.index if key.startswith(f"{name}_")]
        texts = [form.format(value) if known(value) else "none" for value in values]
        return " / ".join(texts) if any(map(known, values)) else "none"

    return shown


def _fitting(row: pd.Series) -> str:
    ends = (row["lowest_sigma"], row["highest_sigma"])
    return " to ".join(f"{end:.4f}" for end in ends) if known(ends[0]) else "none"


SHOWN = {
    "data set": _named("dataset"),
    "header ε": rounded("header_epsilon"),
    "method": _named("method"),
    "reading": plain("reading"),
}
PRICES = {
    **SHOWN,
    "epochs": plain("epochs"),
    "σ": rounded("sigma", "{:.4f}"),
    "joint z": rounded("noise_multiplier", "{:.4f}"),
    "printed": rounded("published", "{:.2f}"),
    "classic RDP": rounded("classic_rdp", "{:.3f}"),
    "ours − printed": rounded("residual", "{:+.3f}"),
    "verdict": plain("verdict"),
    "PLD": rounded("pld", "{:.3f}"),
    "at other σ": rounded("other_classic_rdp", "{:.3f}"),
    "note": plain("note"),
}
NEEDED = {
    **SHOWN,
    "epochs": plain("epochs"),
    "printed": rounded("published", "{:.2f}"),
    "σ": rounded("sigma", "{:.4f}"),
    "σ needed": _found("needed_sigma", "{:.4f}"),
    "batch": plain("batch_size"),
    "batch needed": _found("needed_batch_size", "{:.3g}"),
    "q": rounded("sample_rate", "{:.4g}"),
    "q needed": _found("needed_sample_rate", "{:.3g}"),
}
FIT = {
    **SHOWN,
    "epochs": plain("epochs"),
    "printed": _both("published", "{:.2f}"),
    "σ needed": _both("needed_sigma", "{:.3f}"),
    "best single σ": _found("best_sigma", "{:.3f}"),
    "misses by": rounded("best_miss", "{:.4f}"),
    "σ that fit": _fitting,
    "fitted σ": _found("fitted_sigma", "{:g}"),
    "classic RDP there": _both("fitted_classic_rdp", "{:.3f}"),
    "PLD there": _both("fitted_pld", "{:.4f}"),
    "PLD at the header's own σ": _both("pld", "{:.4f}"),
}
COLUMNS = {"": PRICES, "needed": NEEDED, "fit": FIT}


def draw(tables: dict[str, pd.DataFrame]) -> Figure:
    """Draw the table: a row of panels per data set, a panel per header, a line per cell."""
    prices = tables[""]
    datasets = list(dict.fromkeys(prices["dataset"]))
    headers = list(dict.fromkeys(prices["header_epsilon"]))
    lines = list(dict.fromkeys(zip(prices["method"], prices["epochs"], strict=True)))
    panel, shared = (4.7, 0.9 + 0.33 * len(lines)), {"sharex": "col", "sharey": True}
    figure, axes = style.canvas(len(datasets), len(headers), panel=panel, **shared)
    for (row, dataset), (column, header) in product(enumerate(datasets), enumerate(headers)):
        own = prices[(prices["dataset"] == dataset) & (prices["header_epsilon"] == header)]
        _panel(axes[row, column], own, lines)
        _title(axes[row, column], own)
    _lines(axes[0, 0], lines)
    style.finish(axes, axes.size, f"ε at δ = {style.delta_text(prices['delta'].iloc[0])}", "")
    style.note(figure, "", axes[0, 0].get_legend_handles_labels()[0])
    style.title(figure, finding(prices))
    return figure


def finding(prices: pd.DataFrame) -> str:
    """Tell how many printed losses match in some reading, and how far they are as one release."""
    matched = prices["verdict"].eq(MATCHES.verdict).groupby([prices[key] for key in CELL]).any()
    own = prices[prices["reading"] == ONE]
    times = own["published"] / own["classic_rdp"]
    return (
        f"{matched.sum()} of {len(matched)} printed losses match classic RDP; as one release, "
        f"they are {times.min():.2g} to {times.max():.2g} times what it finds"
    )


def _panel(ax: Axes, own: pd.DataFrame, lines: list[tuple[str, int]]) -> None:
    """Draw a data set at one header; a bar spans what a cell's marks say."""
    height = {line: -index for index, line in enumerate(lines)}
    at = pd.Series([height[m, e] for m, e in zip(own["method"], own["epochs"], strict=True)])
    own = own.assign(at=at.to_numpy())
    for level, cells in own.groupby("at"):
        span = cells[["published", "classic_rdp", "pld"]]
        ax.hlines(level, span.min().min(), span.max().max(), color="0.85", linewidth=2, zorder=1)
    for (column, reading), (label, colour, marker, size) in MARKS.items():
        chosen = own[own["reading"] == reading]
        if chosen.empty:
            continue
        look = {"marker": marker, "markersize": size, "color": colour, "label": label}
        look |= {"linestyle": "none", "markeredgecolor": "white", "markeredgewidth": 0.6}
        ax.plot(chosen[column], chosen["at"], zorder=4 if column == "published" else 3, **look)
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(TICKS))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.minorticks_off()


def _lines(ax: Axes, lines: list[tuple[str, int]]) -> None:
    """Name the lines, and leave room around the outer ones."""
    names = [f"{NAMES.get(method, method)}, {epochs} epochs" for method, epochs in lines]
    ax.set_yticks([-index for index in range(len(lines))], names)
    ax.set_ylim(0.6 - len(lines), 0.6)


def _title(ax: Axes, own: pd.DataFrame) -> None:
    first = own.iloc[0]
    name = NAMES.get(first["dataset"], first["dataset"])
    sigma = f"σ = {first['sigma']:.3f}, q = {first['sample_rate']:.4g}"
    ax.set_title(f"{name}, header {first['header_epsilon']:g}: {sigma}", loc="left")
