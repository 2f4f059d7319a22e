"""The figure of a surface over two numbers."""

import math
from pathlib import Path

import numpy as np
import pytest
import synthetic
from matplotlib.axes import Axes
from plotted import INF, compare
from synthetic import cell, study

from dpfl.figures.kinds import surface


def clip_and_noise(tmp_path: Path, epsilons: tuple = (8.0,), **outcome):
    """Write a surface of clip norm and noise; the noisier, the longer the budget lasts."""
    pairs = [(c, z) for c in (0.1, 1.0, 10.0) for z in (0.5, 2)]
    cells = [cell("sgd", e, 2, clip_norm=c, noise_multiplier=z) for c, z in pairs for e in epsilons]

    def default(own: dict, seed: int) -> dict:
        variant = own["variant"]
        short = variant["noise_multiplier"] == 0.5
        return {
            "accuracy": 0.8 + 0.01 * math.log10(variant["clip_norm"]) + 0.002 * seed + 0.1 * short,
            "rounds": 1 + seed if short else 4,
            "diverged": variant == {"clip_norm": 10.0, "noise_multiplier": 2},
        } | outcome

    synthetic.write(tmp_path, cells, default)
    return study(cells, kind="variants", title="A surface")


def notes(ax: Axes) -> dict[tuple, list[str]]:
    """The texts of an axes by the place they belong to."""
    found: dict[tuple, list[str]] = {}
    for text in ax.texts:
        if hasattr(text, "xy"):
            found.setdefault(tuple(text.xy), []).append(text.get_text())
    return found


def test_surface_shows_means_and_how_far_the_budget_went(tmp_path: Path) -> None:
    figure = surface.draw(clip_and_noise(tmp_path), tmp_path).figure
    ax = figure.axes[0]
    found = notes(ax)
    assert found[0.1, 0.5] == ["89.1", "■ 1–2/4"]
    assert found[1.0, 2.0] == ["80.1", ""]
    assert found[10.0, 2.0] == ["", "× 2 of 2 failed"]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0.1", "1", "10"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("clip norm", "noise multiplier")
    mesh = ax.collections[0]
    assert mesh.get_array().shape == (2, 3)
    shown = np.ma.filled(np.ma.masked_invalid(mesh.get_array()), -1).ravel()
    assert shown == pytest.approx([89.1, 90.1, 91.1, 79.1, 80.1, -1])
    assert mesh.norm.vmin == pytest.approx(np.quantile([89.1, 90.1, 91.1, 79.1, 80.1], 0.1))


@pytest.mark.parametrize("left_out", [[(1.0, 2)], [(0.1, 0.5), (10.0, 2)], [(0.1, 2), (1.0, 2)]])
def test_cells_that_a_study_leaves_out_have_no_number(tmp_path, left_out) -> None:
    whole = clip_and_noise(tmp_path)
    there = [c for c in whole["cells"] if tuple(c["variant"].values()) not in left_out]
    ax = surface.draw(whole | {"cells": there}, tmp_path).figure.axes[0]
    expected = set(notes(surface.draw(whole, tmp_path).figure.axes[0])) - set(left_out)
    assert set(notes(ax)) == expected
    assert np.ma.masked_invalid(ax.collections[0].get_array()).mask.sum() >= len(left_out)


def test_a_surface_may_have_one_line_of_cells(tmp_path: Path) -> None:
    whole = clip_and_noise(tmp_path)
    quiet = [c for c in whole["cells"] if c["variant"]["noise_multiplier"] == 2]
    named = [c | {"label": "a", "method": "a"} for c in quiet]
    both = whole | {"cells": whole["cells"] + named}
    axes = surface.draw(both, tmp_path).figure.axes
    assert [len(notes(ax)) for ax in axes[:2]] == [6, 3]


def test_a_surface_without_privacy_says_so(tmp_path: Path) -> None:
    [ax, _] = surface.draw(clip_and_noise(tmp_path, (INF,)), tmp_path).figure.axes
    assert ax.get_title("left") == "non-private (ε = ∞)"


def test_a_surface_needs_two_numbers(tmp_path: Path) -> None:
    [ax] = surface.draw(compare(tmp_path, seeds=1), tmp_path).figure.axes
    assert "a surface needs two numbers" in ax.texts[0].get_text()
