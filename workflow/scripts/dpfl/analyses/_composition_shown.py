"""What readers see of the analysis `composition`: its tables, and ε and δ against rounds."""

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpfl.figures import looks, style
from dpfl.words.columns import Column, plain, rounded

COST = "{:.4f}"


def _small(name: str) -> Column:
    return lambda row: rounded(name)(row).replace("e-0", "e-")


ROUNDS = {
    "mechanism": plain("mechanism"),
    "k": plain("k"),
    "basic": rounded("basic_epsilon", "{:.4g}"),
    "advanced": rounded("advanced_epsilon", COST),
    "smaller": rounded("smaller_epsilon", COST),
    "best for any mechanism": rounded("optimal_epsilon", COST),
    "classic RDP": rounded("classic_rdp", COST),
    "RDP": rounded("rdp", COST),
    "PRV": rounded("prv", COST),
    "PLD": rounded("pld", COST),
    "exact": rounded("exact", COST),
    "δ basic": _small("basic_delta"),
    "δ advanced": _small("advanced_delta"),
    "PLD at δ advanced": rounded("pld_at_advanced_delta", COST),
    "note": plain("note"),
}
RULE = {
    "T": plain("rounds"),
    "ε": rounded("epsilon", "{:.4g}"),
    "ε per round": rounded("epsilon_round", "{:.4g}"),
    "δ per round": _small("delta_round"),
    "advanced": rounded("advanced_epsilon", COST),
    "times the budget": rounded("overspend", "{:.2f}"),
    "best for any mechanism": rounded("optimal_epsilon", COST),
    "classic z": rounded("classic_noise", "{:.2f}"),
    "PLD at classic z": rounded("classic_pld", COST),
    "exact z": rounded("exact_noise", "{:.2f}"),
    "PLD at exact z": rounded("exact_pld", COST),
    "allowed ε per round": rounded("allowed_epsilon_round", "{:.4g}"),
    "allowed z": rounded("allowed_noise", "{:.2f}"),
    "note": plain("note"),
}
CROSSOVER = {
    "mechanism": plain("mechanism"),
    "ε per round": rounded("epsilon_round", "{:.4g}"),
    "slack": _small("slack"),
    "advanced below basic from k": lambda row: rounded("k", "{:.0f}")(row) or "never",
}
COLUMNS = {"": ROUNDS, "rule": RULE, "crossover": CROSSOVER}

LINES = {
    "basic_epsilon": "basic (formula)",
    "advanced_epsilon": "advanced (formula)",
    "optimal_epsilon": "best for any mechanism",
    "classic_rdp": "classic RDP",
    "rdp": "RDP",
    "pld": "PLD (tight, rounded up)",
    "pld_at_advanced_delta": "PLD at the δ of advanced",
}
"""Column of the table: its name; the largest first."""
LOOKS = looks.numbered(LINES)


def draw(tables: dict[str, pd.DataFrame]) -> Figure:
    """Draw ε and δ of the first mechanism against k, then ε of each of the others."""
    prices, crossovers = tables[""], tables["crossover"]
    figure, axes = style.canvas(1, 1 + len(crossovers), panel=(3.1, 3.8))
    names = list(crossovers["mechanism"])
    epsilons = [axes[0, 0], *axes[0, 2:]]
    for ax, (_, crossover) in zip(epsilons, crossovers.iterrows(), strict=True):
        own = prices[prices["mechanism"] == crossover["mechanism"]]
        _epsilon(ax, own, crossover["k"])
    _delta(axes[0, 1], prices[prices["mechanism"] == names[0]])
    for ax in axes.flat:
        ax.set(xscale="log", yscale="log", xlabel="rounds k")
        ax.xaxis.set_major_formatter("{x:g}")
    for ax in epsilons:
        ax.yaxis.set_major_formatter("{x:g}")
    style.note(figure, "", axes[0, 0].get_legend_handles_labels()[0])
    style.title(figure, _finding(prices, crossovers.head(1)))
    return figure


def words(tables: dict[str, pd.DataFrame]) -> str:
    """Return what the figure shows."""
    return _finding(tables[""], tables["crossover"])


def _finding(prices: pd.DataFrame, crossovers: pd.DataFrame) -> str:
    """Tell where advanced composition is below basic, and what is proven at the most rounds."""
    told = []
    for _, crossover in crossovers.iterrows():
        own = prices[prices["mechanism"] == crossover["mechanism"]]
        last = own.loc[own["k"].idxmax()]
        said = "never" if math.isnan(crossover["k"]) else f"from {crossover['k']:.0f} rounds on"
        told.append(
            f"{crossover['mechanism']}: advanced is below basic composition {said}; after "
            f"{last['k']:.0f} rounds it has ε = {last['advanced_epsilon']:.3g}, PLD "
            f"{last['pld']:.3g}"
        )
    return "\n".join(told)


def _epsilon(ax: Axes, own: pd.DataFrame, crossover: float) -> None:
    for column, label in LINES.items():
        ax.plot(own["k"], own[column], label=label, **LOOKS[column].line())
    ax.set_title(f"{own['mechanism'].iloc[0]}\nper round", loc="left", fontsize="small")
    ax.set_ylabel("ε of all rounds")
    _mark(ax, crossover, own["k"].max())


def _mark(ax: Axes, crossover: float, last: float) -> None:
    """Mark the first k at which advanced composition is below basic, or say that there is none."""
    if crossover <= last:
        ax.axvline(crossover, color="0.45", linewidth=1, linestyle=":")
        text, x = f"advanced < basic\nfrom k = {crossover:.0f}", crossover
        place = ax.get_xaxis_transform()
    else:
        when = "never" if math.isnan(crossover) else f"from k = {crossover:.0f}"
        text, x = f"advanced < basic: {when}", 0.97
        place = ax.transAxes
    look = {"ha": "right", "va": "top", "fontsize": "small", "color": "0.3"}
    beside = {"xytext": (-4, 0), "textcoords": "offset points"}
    ax.annotate(text, (x, 0.97), xycoords=place, **beside, **look)


def _delta(ax: Axes, own: pd.DataFrame) -> None:
    """Draw the δ of each bound; those of the accountants stay at the δ of one round."""
    bounds = {"basic_epsilon": "basic_delta", "advanced_epsilon": "advanced_delta"}
    for column, delta in {**bounds, "pld": "delta_round"}.items():
        ax.plot(own["k"], own[delta], **LOOKS[column].line())
    ax.set_title(f"{own['mechanism'].iloc[0]}\nthe δ of each", loc="left", fontsize="small")
    ax.set_ylabel("δ of all rounds")
