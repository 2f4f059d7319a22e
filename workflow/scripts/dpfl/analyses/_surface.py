"""The rows of the analysis `epsilon-surface`, and what readers see of them."""

from collections.abc import Sequence
from itertools import product

import pandas as pd
from dp_accounting import DpEvent
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from dpfl.figures import style
from dpfl.privacy import renyi
from dpfl.privacy.accountants import gaussian, pld, rdp
from dpfl.privacy.events import poisson_gaussian
from dpfl.words.columns import plain, rounded

LARGE = 50.0  # an epsilon that protects nobody; PLD's memory grows with it
FEW_ORDERS = (2, 4, 8, 16, 32, 64)  # of a first bound, which is quick
COLUMNS = {
    "": {
        "q": rounded("sample_rate"),
        "z": rounded("noise_multiplier"),
        "T": plain("rounds"),
        "ε": rounded("epsilon", "{:.4g}"),
        "accountant": plain("accountant"),
    }
}


def prices(
    noise_multipliers: Sequence[float],
    rounds: Sequence[int],
    sample_rates: Sequence[float],
    delta: float,
) -> pd.DataFrame:
    """Return one row per sampling rate, noise multiplier and number of releases T."""
    rows = []
    for rate, noise, releases in product(sample_rates, noise_multipliers, rounds):
        epsilon, accountant = _price(rate, poisson_gaussian(rate, noise, releases), delta)
        rows.append((rate, noise, releases, delta, epsilon, accountant))
    heads = ["sample_rate", "noise_multiplier", "rounds", "delta", "epsilon", "accountant"]
    return pd.DataFrame(rows, columns=heads)


def _price(rate: float, event: DpEvent, delta: float) -> tuple[float, str]:
    """Return the epsilon of an event and which accountant found it."""
    if rate == 1:
        return gaussian.epsilon(event, delta), "gaussian"
    rough = float(renyi.composed(event, FEW_ORDERS).get_epsilon(delta))
    if rough > LARGE and (bound := rdp.epsilon(event, delta)) > LARGE:
        return bound, "rdp"
    return pld.epsilon(event, delta), "pld"


def draw(tables: dict[str, pd.DataFrame]) -> Figure:
    """Draw the table: a panel per sampling rate on one scale of colours."""
    prices = tables[""]
    rates = sorted(prices["sample_rate"].unique())
    across, down = (prices[name].nunique() for name in ("noise_multiplier", "rounds"))
    panel = (max(1.2 + 0.48 * across, 7 / len(rates)), 1.5 + 0.5 * down)
    figure, axes = style.canvas(1, len(rates), panel=panel)
    known = prices["epsilon"][prices["epsilon"] > 0]
    norm = LogNorm(known.min(), max(known.max(), 1.01 * known.min()), clip=True)
    for ax, rate in zip(axes[0], rates, strict=True):
        own = prices[prices["sample_rate"] == rate]
        grid = own.pivot(index="rounds", columns="noise_multiplier", values="epsilon")
        style.heat(ax, grid, grid.map("{:.3g}".format), norm)
        ax.set_title(f"ε at sampling rate q = {rate:g}", loc="left")
    style.finish(axes, len(rates), "noise multiplier z", "releases T")
    style.title(figure, words(tables))
    return figure


def words(tables: dict[str, pd.DataFrame]) -> str:
    """Tell between which prices the grid lies, and where they are."""
    prices = tables[""]
    low, high = (prices.loc[at] for at in (prices["epsilon"].idxmin(), prices["epsilon"].idxmax()))
    delta = style.delta_text(prices["delta"].iloc[0])
    return f"At δ = {delta}, ε lies between {_priced(low)} and {_priced(high)}"


def _priced(row: pd.Series) -> str:
    return (
        f"{row['epsilon']:.3g} (q = {row['sample_rate']:g}, z = {row['noise_multiplier']:g}, "
        f"T = {row['rounds']:g})"
    )
