"""What readers see of the tables of the analysis `privacy-loss`."""

import pandas as pd
from papers.zhou2022.analyses import _printed

from dpfl.tables.columns_shown import Column, plain, rounded
from dpfl.words.numerals import known


def _named(name: str) -> Column:
    return lambda row: _printed.NAMES.get(row[name], row[name])


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


CELL = {
    "data set": _named("dataset"),
    "header ε": rounded("header_epsilon"),
    "method": _named("method"),
    "reading": plain("reading"),
}
PRICES = {
    **CELL,
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
    **CELL,
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
    **CELL,
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
