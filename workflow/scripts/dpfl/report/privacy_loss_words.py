"""Sentences about table 4 of source 003, computed from the tables of the analysis.

Those about one sigma for several cells are in `privacy_loss_fit_words`.
"""

import math
from collections.abc import Iterable

import pandas as pd

from dpfl.privacy.accountants.classic_rdp import ORDERS
from dpfl.report.narrative import counted, listed
from dpfl.tables.printed_losses import NAMES, shortest

BASE = "dpsgd"  # the method that the others are compared with
HALF = 0.005  # the header is printed with two decimals


def answer(prices: pd.DataFrame) -> list[str]:
    """Say how many printed cells the stated setting gives, under each reading."""
    lines = []
    for reading, own in prices.groupby("reading", sort=False):
        count = int((own["verdict"] == "matches").sum())
        nearest = own.loc[own["residual"].abs().idxmin()]
        lines.append(
            f"{_capital(reading)}: {count} of {counted(len(own), 'printed cell')} "
            f"{'matches' if count == 1 else 'match'} at the header's own σ. Ours − printed goes "
            f"from {own['residual'].min():+.2f} to {own['residual'].max():+.2f}; the nearest is "
            f"{called(nearest)}, {nearest['epochs']:g} epochs, at {nearest['residual']:+.3f}."
        )
    return lines


def growth(prices: pd.DataFrame) -> list[str]:
    """Compare how losses grow with the epochs, ours at the header's own σ."""
    lines = []
    for (dataset, header), own in first_reading(prices).groupby(
        ["dataset", "header_epsilon"], sort=False
    ):
        wide = own.pivot(index="method", columns="epochs", values=["published", "classic_rdp"])
        few, many = min(own["epochs"]), max(own["epochs"])
        if few < many:
            ratios = {name: wide[name][many] / wide[name][few] for name in wide.columns.levels[0]}
            lines.append(
                f"{_name(dataset)}, header {header:g}: from {few:g} to {many:g} epochs the printed "
                f"losses grow {_span(ratios['published'], '{:.2f}')} times, ours "
                f"{_span(ratios['classic_rdp'], '{:.2f}')} times at the header's own σ."
            )
    return lines


def floor(prices: pd.DataFrame) -> str:
    """Say below what classic RDP never goes, where its losses hardly grow with the steps."""
    delta, order = prices["delta"].iloc[0], max(ORDERS)
    return (
        f"Classic RDP has no order above {order:g}, so at δ = {_n(delta)} it never says less than "
        f"ln(1/δ)/{order - 1:g} = {math.log(1 / delta) / (order - 1):.3f}. Near that losses grow "
        f"little with the epochs and say little about σ; the least that is printed is "
        f"{prices['published'].min():.2f}."
    )


def methods(prices: pd.DataFrame) -> list[str]:
    """Compare each method with plain DP-SGD on the same line: printed, and under each reading."""
    keys = ["dataset", "header_epsilon", "epochs"]
    base = prices[prices["method"] == BASE].set_index(keys)
    lines = []
    for method, own in prices.groupby("method", sort=False) if len(base) else ():
        if method == BASE:
            continue
        parts = []
        for reading, cells in own.groupby("reading", sort=False):
            cells = cells.set_index(keys)
            ours = _apart(cells["classic_rdp"] - base["classic_rdp"])
            printed = _apart(cells["published"] - base["published"])
            parts.append(f"{ours} {reading}")
        lines.append(
            f"{_name(method)} − {_name(BASE)} at equal σ: printed {printed}; ours {listed(parts)}."
        )
    return lines


def datasets(prices: pd.DataFrame) -> list[str]:
    """Say where the printed losses of two data sets stand against their sampling rates."""
    keys = ["header_epsilon", "method", "epochs"]
    tables = [
        (n, t.set_index(keys)) for n, t in first_reading(prices).groupby("dataset", sort=False)
    ]
    lines = []
    for index, (name, own) in enumerate(tables):
        for other, theirs in tables[index + 1 :]:
            ours = (theirs["classic_rdp"] > own["classic_rdp"]).dropna()
            printed = (theirs["published"] > own["published"]).dropna()
            lines.append(
                f"{_name(other)} is sampled at q = {theirs['sample_rate'].iloc[0]:.4g}, "
                f"{_name(name)} at {own['sample_rate'].iloc[0]:.4g}: at equal σ and epochs the "
                f"loss on {_name(other)} is the larger in {ours.sum()} of {len(ours)} cells, the "
                f"printed one in {printed.sum()} of {len(printed)}."
            )
    return lines


def other_delta(prices: pd.DataFrame) -> list[str]:
    """Say what σ either δ gives to the headers, and how many cells match at the other one."""
    apart = prices["other_classic_rdp"] - prices["published"]
    count = int((prices["other_classic_rdp"].round(2) == prices["published"]).sum())
    other = prices["other_header_delta"].iloc[0]
    return [
        *(_header(row) for _, row in prices.drop_duplicates("header_epsilon").iterrows()),
        f"With δ = {_n(other)} in the header's formula {count} of {len(prices)} prices match, ours "
        f"− printed goes from {apart.min():+.2f} to {apart.max():+.2f}.",
    ]


def _header(row: pd.Series) -> str:
    """Tell the σ of a header at either δ, and which one its two decimals allow to be round."""
    parts = []
    for name, sigma in (("header_delta", "sigma"), ("other_header_delta", "other_sigma")):
        low, high = sigmas_of(row[sigma], row["header_epsilon"])
        parts.append(
            f"{row[sigma]:.4g} at δ = {_n(row[name])} ({low:.4g} to {high:.4g} by its rounding; "
            f"the roundest is {shortest(low, high, row[sigma]):g})"
        )
    return f"Header {row['header_epsilon']:g}: σ = {' or '.join(parts)}."


def truth(prices: pd.DataFrame) -> list[str]:
    """Say how much of the classic price the releases truly cost, and what the base costs."""
    ratio = prices["pld"] / prices["classic_rdp"]
    lines = [
        f"PLD, the tight price of the same steps, is {ratio.min():.0%} to {ratio.max():.0%} of "
        "classic RDP's, so a price by classic RDP is an upper bound, and a loose one."
    ]
    base = prices[prices["method"] == BASE]
    for (dataset, header), own in base.groupby(["dataset", "header_epsilon"], sort=False):
        found = " / ".join(f"{value:.3f}" for value in own["pld"])
        printed = " / ".join(f"{value:.2f}" for value in own["published"])
        below = (own["published"] < own["pld"]).all()
        lines.append(
            f"{_name(BASE)} on {_name(dataset)}, header {header:g}, σ = {own['sigma'].iloc[0]:.4g}:"
            f" the steps cost {found}, printed is {printed}"
            f"{', less than they cost' if below else ''}."
        )
    return lines


def needed(table: pd.DataFrame) -> list[str]:
    """Say how far the settings that would be needed are from the stated ones, per data set."""
    lines = []
    for (dataset, header), own in table.groupby(["dataset", "header_epsilon"], sort=False):
        noise = own["needed_sigma"] / own["sigma"]
        batch, none = own["needed_batch_size"].dropna(), own["needed_batch_size"].isna().sum()
        lines.append(
            f"{_name(dataset)}, header {header:g}: the printed losses need {_span(noise, '{:.2f}')}"
            f" times the header's σ, or batches of {_span(batch, '{:.3g}')} instead of "
            f"{own['batch_size'].iloc[0]:g}"
            + (f" ({none} of {len(own)} rows: no batch size at all)." if none else ".")
        )
    return lines


def sigmas_of(sigma: float, header: float) -> tuple[float, float]:
    """Return the σ between which a header rounds to the printed one."""
    return sigma * header / (header + HALF), sigma * header / (header - HALF)


def first_reading(table: pd.DataFrame) -> pd.DataFrame:
    """Keep the first reading of every method."""
    return table[table["reading"] == table["reading"].iloc[0]]


def called(row: pd.Series) -> str:
    """Return the name of a cell: method, data set and header."""
    return f"{_name(row['method'])} on {_name(row['dataset'])}, header {row['header_epsilon']:g}"


def _name(name: str) -> str:
    return NAMES.get(name, name)


def _apart(differences: pd.Series) -> str:
    """Return the span of signed differences; what rounds to nothing is called equal."""
    low, high = differences.min(), differences.max()
    return "equal" if max(abs(low), abs(high)) < HALF else f"{low:+.2f} to {high:+.2f}"


def _span(values: Iterable[float], form: str) -> str:
    low, high = form.format(min(values)), form.format(max(values))
    return low if low == high else f"{low} to {high}"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _n(value: float) -> str:
    return f"{value:.4g}".replace("e-0", "e-")
