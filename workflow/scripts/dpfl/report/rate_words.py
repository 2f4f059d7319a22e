"""Sentences about learning rates, computed from the table of their good ranges (`ranges`)."""

import pandas as pd

from dpfl.figures import rate_names
from dpfl.words.cell_words import NOT_CERTIFIED
from dpfl.words.forms import listed, setting
from dpfl.words.numerals import counted, known


def each(ranges: pd.DataFrame) -> list[str]:
    """Tell the good range of each optimizer, and what happens at its other rates."""
    return [
        f"{_series(row)}: best at {row['best_rate']:g} with "
        f"{row['best_validation_accuracy']:.1f} %; {_width(row)}; of its "
        f"{counted(int(row['rates']), 'rate')}, {row['diverging']:g} diverging, "
        f"{row['unstable']:g} unstable, {row['crawling']:g} crawling."
        for _, row in ranges.iterrows()
    ]


def widest(ranges: pd.DataFrame) -> str:
    """Name the optimizers with the widest and the narrowest good range."""
    width = ranges["width_decades"].round(1)
    if width.isna().all():
        return "No optimizer has a good range on this grid."
    if not width.max():
        return "No good range spans more than one rate of this grid."

    def named(value: float) -> str:
        rows = ranges[width == value]
        least = "at least " if (rows["edge"] != "").any() else ""
        return f"{listed(_series(row) for _, row in rows.iterrows())} with {least}{value:.1f}"

    if width.min() == width.max():
        return f"Width of the good range, in decades: {named(width.max())}."
    return f"Widest good range, in decades: {named(width.max())}; narrowest: {named(width.min())}."


def inert(ranges: pd.DataFrame) -> list[str]:
    """Compare an optimizer's range over its own rate with that over its final rate."""
    lines = []
    for (algorithm, epsilon), group in ranges.groupby(["algorithm", "epsilon"], sort=False):
        by_key = group.drop_duplicates("rate_key").set_index("rate_key")
        if {"lr", "final_lr"} <= set(by_key["width_decades"].dropna().index):
            own, final = by_key.loc["lr"], by_key.loc["final_lr"]
            lines.append(
                f"{algorithm}, {setting(epsilon)}: {own['width_decades']:.1f} decades over "
                f"{_over('lr')}, {final['width_decades']:.1f} over {_over('final_lr')}; "
                f"{_flattered(own, final)}."
            )
    return lines


def fairness(ranges: pd.DataFrame) -> str:
    """Say whether every optimizer had the same grid size and number of trials."""
    same = all(ranges[key].nunique() == 1 for key in ("rates", "trials"))
    if same and len(ranges):
        rates, trials = int(ranges["rates"].iloc[0]), int(ranges["trials"].iloc[0])
        return f"Every line has the same effort: {counted(rates, 'rate')}, {trials} trials."
    parts = [f"{_series(row)}: {row['trials']:g}" for _, row in ranges.iterrows()]
    return f"The number of trials is not the same for all: {', '.join(parts)}."


def _flattered(own: pd.Series, final: pd.Series) -> str:
    """Say whether an optimizer looks more robust over its own rate than over its final one."""
    if own["width_decades"] <= final["width_decades"]:
        return "over its own rates it looks no more robust than over its final ones"
    if final["edge"]:
        return "the range over final rates touches the end of the grid and may be wider"
    return "over its own rates alone it would look more robust than it is"


def _series(row: pd.Series) -> str:
    unproven = NOT_CERTIFIED * (not row["certified"])
    return f"{row['label']}{unproven} over {_over(row['rate_key'])} ({setting(row['epsilon'])})"


def _over(key: str) -> str:
    """Return what a grid of a setting is over."""
    return f"{rate_names.title(key)}s"


def _width(row: pd.Series) -> str:
    if not known(row["width_decades"]):
        return "no good range"
    bound = " at least, since it touches the end of the grid" if row["edge"] else ""
    ends = f"from {row['good_low']:g} to {row['good_high']:g}"
    return f"good {ends}, {row['width_decades']:.1f} decades{bound}"
