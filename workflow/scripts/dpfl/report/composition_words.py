"""Sentences about composition, computed from the tables of the analyses."""

from collections.abc import Iterator

import pandas as pd

from dpfl.report.narrative import counted, listed
from dpfl.tables.rendering import known

BUDGETS = (1.0, 2.0, 8.0)  # the epsilons for which the surface is asked how much noise they take


def _last_rounds(prices: pd.DataFrame) -> Iterator[tuple[str, pd.Series]]:
    """Yield every mechanism with its prices after its last round."""
    for mechanism, own in prices.groupby("mechanism", sort=False):
        yield mechanism, own.loc[own["k"].idxmax()]


def answer(prices: pd.DataFrame) -> list[str]:
    """Say, for each mechanism after its last round, what the formulas say and what is true."""
    lines = []
    for mechanism, row in _last_rounds(prices):
        by = "basic" if row["basic_epsilon"] <= row["advanced_epsilon"] else "advanced"
        lines.append(
            f"{mechanism} a round, {counted(int(row['k']), 'round')}: basic composition says "
            f"ε = {_n(row['basic_epsilon'])}, advanced {_n(row['advanced_epsilon'])}; the "
            f"accountant that knows the noise proves {_n(row['pld'])} (PLD). The smaller formula, "
            f"{by}, is {row['smaller_epsilon'] / row['pld']:.1f} times that."
        )
    return lines


def gap(prices: pd.DataFrame) -> list[str]:
    """Split the gap between formula and truth: a loose formula, and not knowing the noise."""
    lines = []
    for mechanism, row in _last_rounds(prices):
        if known(row["optimal_epsilon"]):
            lines.append(
                f"{mechanism}, k = {row['k']:g}, δ = {_n(row['advanced_delta'])}: whatever has "
                f"(ε, δ) = ({_n(row['epsilon_round'])}, {_n(row['delta_round'])}) a round can cost "
                f"up to ε = {_n(row['optimal_epsilon'])}, so no formula of ε and δ alone can say "
                f"less; advanced composition says {_n(row['advanced_epsilon'])}, and this "
                f"mechanism costs {_n(row['pld_at_advanced_delta'])}."
            )
    return lines


def crossing(crossovers: pd.DataFrame) -> list[str]:
    """Say from which number of rounds on advanced composition is worth using."""
    lines = []
    for _, row in crossovers.iterrows():
        when = (
            f"is below basic from k = {row['k']:.0f} on, and above it before"
            if known(row["k"])
            else "is never below basic"
        )
        share, slack = _n(row["epsilon_round"]), _n(row["slack"])
        lines.append(f"{row['mechanism']}: advanced composition {when} (ε {share}, δ'' {slack}).")
    return lines


def deltas(prices: pd.DataFrame) -> list[str]:
    """Say how far the δ of the formulas grows while an accountant's stays."""
    lines = []
    for mechanism, row in _last_rounds(prices):
        lines.append(
            f"{mechanism}: after {counted(int(row['k']), 'round')} the formulas speak of δ = "
            f"{_n(row['advanced_delta'])}, the accountants of δ = {_n(row['delta_round'])}."
        )
    return lines


def accountants(prices: pd.DataFrame) -> list[str]:
    """Compare the other accountants with PLD, over all rounds of each mechanism."""
    names = {"classic_rdp": "classic RDP", "rdp": "RDP", "prv": "Opacus' PRV", "exact": "exact"}
    lines = []
    for mechanism, own in prices.groupby("mechanism", sort=False):
        parts = []
        for column, name in names.items():
            ratios = (own[column] / own["pld"]).dropna()
            if len(ratios):
                parts.append(f"{name} {ratios.min():.3g} to {ratios.max():.3g}")
        lines.append(f"{mechanism}, as a multiple of PLD's ε: {listed(parts)}.")
    return lines


def notes(table: pd.DataFrame) -> list[str]:
    """Tell what the rows of a table remark, each remark once."""
    remarks = [part for note in table["note"] for part in note.split("; ") if part]
    return [f"{remark}." for remark in dict.fromkeys(remarks)]


def rule(table: pd.DataFrame) -> list[str]:
    """Tell, a line for each T, how far the uniform rule overspends and what would have fitted."""
    lines = []
    for _, row in table.iterrows():
        least = (
            f" (at least {_n(row['optimal_epsilon'])} for the worst mechanism)"
            if known(row["optimal_epsilon"])
            else ""
        )
        lines.append(
            f"T = {row['rounds']:g}: ε/√T = {_n(row['epsilon_round'])} a round is, by the "
            f"source's own advanced formula, ε = {_n(row['advanced_epsilon'])} in all, "
            f"{row['overspend']:.1f} times the budget{least}; as Gaussian noise at the classic "
            f"z = {_n(row['classic_noise'])} it costs {_n(row['classic_pld'])}, and an exact "
            f"accountant allows {_n(row['allowed_epsilon_round'])} a round within the same budget, "
            f"z = {_n(row['allowed_noise'])}."
        )
    return lines


def surface(prices: pd.DataFrame) -> list[str]:
    """Say which noise of the grid keeps the longest run within some budgets, at each rate."""
    lines = []
    for rate, own in prices.groupby("sample_rate"):
        last = own[own["rounds"] == own["rounds"].max()]
        parts = []
        for budget in BUDGETS:
            enough = last.loc[last["epsilon"] <= budget, "noise_multiplier"]
            most = last["noise_multiplier"].max()
            need = f"z = {enough.min():g}" if len(enough) else f"more than z = {most:g}"
            parts.append(f"ε ≤ {budget:g} takes {need}")
        lines.append(f"q = {rate:g}, T = {last['rounds'].iloc[0]:g}: {listed(parts)}.")
    return lines


def _n(value: float) -> str:
    """Return four digits, powers of ten in short form."""
    return f"{value:.4g}".replace("e-0", "e-")
