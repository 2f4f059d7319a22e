"""What readers see of the analysis `inversion`: its tables, and originals over what was found."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpfl.figures import style
from dpfl.words.columns import Column, plain, rounded
from dpfl.words.numerals import known

SHOWN = 6
"""Pictures in a panel, the first ones."""
ACROSS, DOWN = 1.12, 1.42  # of a picture's side: its column, its row with two numbers beneath


def released(row: pd.Series) -> str:
    """Return what the server saw, such as `plain gradient` or `ε = 8`."""
    names = {"plain": "plain gradient", "clipped": "clipped, no noise", "": "nothing"}
    return f"ε = {row['epsilon']:g}" if row["update"] == "private" else names[text(row["update"])]


def text(value: object) -> str:
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


def draw(tables: dict[str, pd.DataFrame]) -> Figure:
    """Draw a panel per attack and batch size: a column per picture, a row per release."""
    cases, drawn = tables[""], tables["drawn"]
    attacked = drawn[drawn["batch_size"].notna()]
    panels = list(attacked.groupby(["attack", "batch_size"], sort=False))
    columns = min(2, len(panels))
    lines = 1 + attacked.groupby(["update", "epsilon"]).ngroups
    size = (1.0 + 0.78 * ACROSS * SHOWN, 0.3 + 0.78 * DOWN * lines)
    figure, axes = style.canvas(-(-len(panels) // columns), columns, panel=size)
    for ax in axes.flat[len(panels) :]:
        ax.remove()
    for ax, ((attack, batch), own) in zip(axes.flat, panels, strict=False):
        _panel(ax, own)
        ax.set_title(f"{attack}, {own['model'].iloc[0]}, batch of {batch:g}", loc="left")
    first = cases.iloc[0]
    style.title(figure, words(tables))
    style.note(
        figure,
        "An attack, not a proof: a failed one proves nothing, a successful one is a lower bound. "
        f"PSNR in dB and SSIM; noise for ε over {first['steps']} steps at rate "
        f"{first['sample_rate']:.3g}, δ = {style.delta_text(first['delta'])}.",
    )
    return figure


def words(tables: dict[str, pd.DataFrame]) -> str:
    """Tell which releases give away more than is had without any, by the best attack on each."""
    cases = tables[""]
    attacked = cases[cases["psnr_mean"].notna() & cases["batch_size"].notna()]
    released_as = attacked.apply(released, axis=1)
    best = attacked["psnr_mean"].groupby(released_as, sort=False).max()
    without = cases.loc[cases["batch_size"].isna(), "psnr_mean"].max()
    more, less = _listed(best[best > without]), _listed(best[best <= without])
    mean = f"a mean picture ({without:.0f} dB)"
    if not more:
        return f"No attack comes nearer to the pictures than {mean}: {less}"
    found = f"Nearer to the pictures than {mean} comes the best attack on {more}"
    return f"{found}; not on {less}" if less else found


def _listed(best: pd.Series) -> str:
    return ", ".join(f"{name} ({psnr:.0f} dB)" for name, psnr in best.items())


def _panel(ax: Axes, own: pd.DataFrame) -> None:
    """Draw the originals, and the same examples as every release gives them away."""
    names = ["original"]
    ax.set_aspect("equal")
    for _, found in own.groupby(["update", "epsilon"], sort=False):
        for column, row in enumerate(found.head(SHOWN).to_dict("records")):
            _picture(ax, column, 0, row["original"])
            _picture(ax, column, len(names), row["pixels"])
            _likeness(ax, column, len(names), f"{row['psnr']:.0f}  {row['ssim']:z.2f}")
        told = released(found.iloc[0])
        names.append(told if "=" in told else told.replace(" ", "\n", 1))
    ax.set_xlim(0, ACROSS * SHOWN)
    ax.set_ylim(DOWN * len(names), 0)
    ax.set_xticks([])
    ax.set_yticks([DOWN * row + 0.5 for row in range(len(names))], names)
    ax.tick_params(length=0)
    ax.grid(False)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _picture(ax: Axes, column: int, row: int, pixels: np.ndarray) -> None:
    """Draw one picture [C, H, W] of side 1; one channel is grey."""
    left, top = ACROSS * column, DOWN * row
    shown = np.moveaxis(pixels, 0, -1)
    shown = shown[..., 0] if shown.shape[-1] == 1 else shown
    extent = (left, left + 1, top + 1, top)
    ax.imshow(shown, cmap="gray", vmin=0, vmax=1, extent=extent, interpolation="nearest")


def _likeness(ax: Axes, column: int, row: int, text: str) -> None:
    where = (ACROSS * column + 0.5, DOWN * row + 1.04)
    ax.text(*where, text, ha="center", va="top", fontsize=7.5, color="0.25")
