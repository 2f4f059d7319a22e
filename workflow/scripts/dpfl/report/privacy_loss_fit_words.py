"""Sentences about table 4 of source 003: which pairs of printed losses a single sigma gives."""

from collections.abc import Iterator

import pandas as pd

from dpfl.report.narrative import counted
from dpfl.report.privacy_loss_words import called, first_reading, sigmas_of
from dpfl.tables.rendering import known


def fitted(fit: pd.DataFrame, prices: pd.DataFrame) -> list[str]:
    """Tell every pair of cells that one σ reproduces, and whether its header allows that σ."""
    lines = []
    for _, row in fit[fit["fitted_sigma"].notna()].iterrows():
        own = [cell["classic_rdp"] for _, cell in _cells(prices, row).iterrows()]
        low, high = sigmas_of(row["sigma"], row["header_epsilon"])
        allowed = "allows" if low <= row["fitted_sigma"] <= high else "does not allow"
        lines.append(
            f"{called(row)}, {row['reading']}: {_both(row, 'published', '{:.2f}')} reproduced at "
            f"fitted σ {row['fitted_sigma']:g} ({row['lowest_sigma']:.4f} to "
            f"{row['highest_sigma']:.4f} do it); {' / '.join(f'{value:.2f}' for value in own)} at "
            f"the header's own σ, {row['sigma']:.4g}. Rounding of the header {allowed} that fit: "
            f"σ {low:.4g} to {high:.4g}. The truth (PLD) is {_both(row, 'fitted_pld', '{:.3f}')} "
            f"at the fit and {_both(row, 'pld', '{:.3f}')} at the header's own σ."
        )
    return lines


def unfitted(fit: pd.DataFrame) -> list[str]:
    """Tell every pair of cells that no single σ gives, with what each of them would need.

    One reading tells it: another one only scales σ.
    """
    lines = []
    for _, row in first_reading(fit)[lambda table: table["fitted_sigma"].isna()].iterrows():
        least = (
            f"; the best single σ, {row['best_sigma']:.4g}, misses by {row['best_miss']:.4f}"
            if known(row["best_sigma"])
            else ""
        )
        lines.append(
            f"{called(row)}: {_both(row, 'published', '{:.2f}')} after {row['epochs']} epochs need "
            f"σ = {_both(row, 'needed_sigma', '{:.3f}')}{least}."
        )
    return lines


def fits(fit: pd.DataFrame) -> str:
    """Count the pairs of cells that one σ gives."""
    first = first_reading(fit)
    count = int(first["fitted_sigma"].notna().sum())
    return (
        f"{count} of {counted(len(first), 'pair')} of losses, those of one method on one data set "
        f"at one header, are given by one σ to their two decimals if any σ is allowed. Such a σ is "
        "fitted: it reproduces numbers and explains none."
    )


def _cells(prices: pd.DataFrame, row: pd.Series) -> pd.DataFrame:
    """Return the rows of a pair in the table of prices."""
    keys = ["dataset", "header_epsilon", "method", "reading"]
    return prices[(prices[keys] == row[keys]).all(axis=1)]


def _both(row: pd.Series, name: str, form: str) -> str:
    """Join what a pair has for each number of epochs."""
    return " / ".join(_values(row, name, form))


def _values(row: pd.Series, name: str, form: str) -> Iterator[str]:
    for key in row.index:
        if key.startswith(f"{name}_"):
            yield form.format(row[key]) if known(row[key]) else "none"
