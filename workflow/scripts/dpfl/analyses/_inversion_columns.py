"""What readers see of the tables of the analysis `inversion`."""

import pandas as pd

from dpfl.tables.columns_shown import Column, plain, rounded
from dpfl.words.numerals import known


def released(row: "pd.Series") -> str:
    """Return what the server saw, such as `plain gradient` or `ε = 8`."""
    names = {"plain": "plain gradient", "clipped": "clipped, no noise", "": "nothing"}
    return f"ε = {row['epsilon']:g}" if row["update"] == "private" else names[told(row["update"])]


def told(value: object) -> str:
    """Return a text of a table, which an empty cell of a file is not."""
    return value if isinstance(value, str) else ""


def _interval(name: str, digits: int) -> Column:
    """Make a column of a mean with the half-width of its interval."""

    def shown(row: pd.Series) -> str:
        mean, high = row[f"{name}_mean"], row[f"{name}_ci_high"]
        half = f" ± {high - mean:.{digits}f}" if known(high) else ""
        return f"{mean:z.{digits}f}{half}"

    return shown


def _noise(row: pd.Series) -> str:
    return f"{row['noise_multiplier']:.3f}" if row["noise_multiplier"] > 0 else ""


_CASE = {
    "attack": plain("attack"),
    "network": plain("model"),
    "batch": rounded("batch_size", "{:.0f}"),
    "the server sees": released,
}
COLUMNS: dict[str, dict[str, Column]] = {
    "": {
        **_CASE,
        "noise multiplier": _noise,
        "labels": plain("labels"),
        "labels right": rounded("labels_right", "{:.0f}"),
        "PSNR, dB": _interval("psnr", 1),
        "SSIM": _interval("ssim", 2),
        "closer than its class' mean": rounded("closer", "{:.0f}"),
        "pictures": plain("n"),
    },
    "pictures": {
        **_CASE,
        "example": plain("example"),
        "label": plain("label"),
        "label taken": plain("label_taken"),
        "PSNR, dB": rounded("psnr", "{:.1f}"),
        "SSIM": rounded("ssim", "{:z.2f}"),
    },
}
