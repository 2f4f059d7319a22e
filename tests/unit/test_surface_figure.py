"""The figure of a surface over two numbers."""

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from plotted import INF, draw, ticks
from synthetic import cell

PAIRS = [*product((0.1, 1.0, 10.0), (0.5, 2))]
"""Clip norms and noise multipliers."""


def outcome(own: dict, seed: int) -> dict:
    """The noisier, the longer the budget lasts."""
    variant = own["variant"]
    short = variant["noise_multiplier"] == 0.5
    return {
        "accuracy": 0.8 + 0.01 * math.log10(variant["clip_norm"]) + 0.002 * seed + 0.1 * short,
        "rounds": 1 + seed if short else 4,
        "diverged": variant == {"clip_norm": 10.0, "noise_multiplier": 2},
    }


def drawn(home: Path, *pairs: tuple, epsilon: float = 8.0, more: tuple = ()) -> Figure:
    """Draw a surface; `more` pairs are those of a second method."""
    named = [("sgd", pair) for pair in pairs] + [("adam", pair) for pair in more]
    cells = [cell(m, epsilon, 2, clip_norm=c, noise_multiplier=z) for m, (c, z) in named]
    return draw("surface", home, cells, outcome).figure


def texts(ax: Axes) -> dict[tuple[str, str], str]:
    """What stands in each cell, by the labels of its column and its row."""
    x, y = ticks(ax.xaxis), ticks(ax.yaxis)
    found = ((text.get_position(), text.get_text()) for text in ax.texts)
    return {(x[int(i)], y[int(j)]): text for (i, j), text in found if text}


def test_surface_shows_means_and_how_far_the_budget_went(tmp_path: Path) -> None:
    ax, *_ = drawn(tmp_path, *PAIRS).axes
    assert texts(ax) == {
        ("0.1", "0.5"): "89.1\n■ 1–2/4",
        ("1", "0.5"): "90.1\n■ 1–2/4",
        ("10", "0.5"): "91.1\n■ 1–2/4",
        ("0.1", "2"): "79.1",
        ("1", "2"): "80.1",
        ("10", "2"): "× 2/2 failed",
    }
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("clip norm", "noise multiplier")
    low, high = ax.get_ylim()
    assert low < high  # numbers rise upwards
    mesh = ax.collections[0]
    assert mesh.get_array().shape == (2, 3)
    shown = np.ma.filled(np.ma.masked_invalid(mesh.get_array()), -1).ravel()
    assert shown == pytest.approx([89.1, 90.1, 91.1, 79.1, 80.1, -1])
    assert mesh.norm.vmin == pytest.approx(np.quantile([89.1, 90.1, 91.1, 79.1, 80.1], 0.1))


@pytest.mark.parametrize("left_out", [[(1.0, 2)], [(0.1, 0.5), (10.0, 2)], [(0.1, 2), (1.0, 2)]])
def test_cells_that_a_study_leaves_out_have_no_number(tmp_path: Path, left_out: list) -> None:
    ax, *_ = drawn(tmp_path, *(pair for pair in PAIRS if pair not in left_out)).axes
    there = {(f"{c:g}", f"{z:g}") for c, z in PAIRS if (c, z) not in left_out}
    assert set(texts(ax)) == there
    assert np.ma.masked_invalid(ax.collections[0].get_array()).mask.sum() >= len(left_out)


def test_a_surface_may_have_one_line_of_cells(tmp_path: Path) -> None:
    both, one, *_ = drawn(tmp_path, *PAIRS, more=PAIRS[1::2]).axes
    assert (len(texts(both)), len(texts(one))) == (6, 3)


def test_a_surface_without_privacy_says_so(tmp_path: Path) -> None:
    ax, *_ = drawn(tmp_path, *PAIRS, epsilon=INF).axes
    assert ax.get_title("left") == "non-private (ε = ∞)"
