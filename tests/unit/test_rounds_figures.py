"""Figures of what training does: accuracy and noise by round, surfaces over two numbers."""

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from plotted import INF, draw, lines, ticks, titles
from synthetic import cell


def test_convergence_shows_how_far_methods_are_from_the_first_by_pairs_of_seeds(
    tmp_path: Path,
) -> None:
    cells = [cell(m, e, 3 if e == 2 else 1) for e in (2.0, INF) for m in ("sgd", "adam")]

    def outcome(own: dict, seed: int) -> dict:
        behind = (0.01 * (1 + seed)) * (own["method"] == "adam")
        return {"curve": lambda t: 0.1 + 0.2 * t + 0.05 * seed - behind}

    private, free = draw("convergence", tmp_path, cells, outcome).figure.axes
    assert titles([private, free]) == [
        "ε = 2, n = 3\nSGD ends at 95.0 %",
        "non-private (ε = ∞), one seed\nSGD ends at 90.0 %",
    ]
    assert lines(private)["SGD"].get_ydata() == pytest.approx([0] * 5)
    assert lines(private)["Adam"].get_xdata().tolist() == [0, 1, 2, 3, 4]
    assert lines(private)["Adam"].get_ydata() == pytest.approx([-2] * 5)
    band = private.collections[1].get_paths()[0].vertices
    assert {*np.round(band[band[:, 0] == 2][:, 1], 9)} == {-3, -1}


def test_a_run_that_ended_early_keeps_its_last_accuracy_in_the_mean(tmp_path: Path) -> None:
    def outcome(own: dict, seed: int) -> dict:
        early = own["method"] == "adam" and seed
        return {"curve": lambda t: 0.6 + 0.02 * t, "rounds": 2 if early else 4}

    cells = [cell(m, 2.0, 2) for m in ("sgd", "adam")]
    [ax] = draw("convergence", tmp_path, cells, outcome).figure.axes
    assert lines(ax)["Adam"].get_ydata() == pytest.approx([0, 0, 0, -1, -2])


NOISE = {"uniform": lambda t: 1.0, "decay": lambda t: 0.5 + 0.2 * t}


def scheduled(own: dict, seed: int) -> dict:
    """What two strategies do, the second of which runs out of budget after three rounds."""
    budget = own["variant"]["budget"]
    return {"noise": NOISE[budget], "rounds": 4 if budget == "uniform" else 3}


def test_schedule_shows_epsilon_and_noise_by_round(tmp_path: Path) -> None:
    cells = [cell("sgd", e, 2, budget=b) for b in NOISE for e in (2.0, 8.0)]
    figure = draw("schedule", tmp_path, cells, scheduled).figure
    spent, noise, below, _ = figure.axes
    assert titles([spent, below]) == ["ε = 2", "ε = 8"]
    decay = lines(noise)["decay"]
    assert decay.get_xdata().tolist() == [1, 2, 3]  # round 0 has no noise, round 4 no budget
    assert decay.get_ydata() == pytest.approx([0.7, 0.9, 1.1])
    assert lines(noise)["uniform"].get_ydata().tolist() == [1, 1, 1, 1]
    assert lines(spent)["uniform"].get_ydata() == pytest.approx([0, 0.5, 1, 1.5, 2])
    assert [lines(ax)["_budget"].get_ydata()[0] for ax in (spent, below)] == [2, 8]
    assert "ε = 8: uniform 1.00 and 1.00; decay 0.70 and 1.10" in " ".join(
        figure.get_suptitle().replace("\u00a0", " ").split()
    )


def test_a_run_that_ended_early_has_spent_its_epsilon_and_adds_no_noise(tmp_path: Path) -> None:
    def outcome(own: dict, seed: int) -> dict:
        return {"noise": lambda t: t + seed, "rounds": 4 if seed else 2}

    cells = [cell("sgd", 2.0, 2, budget="filter")]
    spent, noise = draw("schedule", tmp_path, cells, outcome).figure.axes
    assert lines(noise)["filter"].get_ydata() == pytest.approx([1.5, 2.5, 4, 5])
    assert lines(spent)["filter"].get_ydata() == pytest.approx([0, 0.75, 1.5, 1.75, 2])


PAIRS = [*product((0.1, 1.0, 10.0), (0.5, 2))]
"""Clip norms and noise multipliers."""


def lasting(own: dict, seed: int) -> dict:
    """The noisier, the longer the budget lasts."""
    variant = own["variant"]
    short = variant["noise_multiplier"] == 0.5
    return {
        "accuracy": 0.8 + 0.01 * math.log10(variant["clip_norm"]) + 0.002 * seed + 0.1 * short,
        "rounds": 1 + seed if short else 4,
        "diverged": variant == {"clip_norm": 10.0, "noise_multiplier": 2},
    }


def texts(ax: Axes) -> dict[tuple[str, str], str]:
    """What stands in each cell, by the labels of its column and its row."""
    x, y = ticks(ax.xaxis), ticks(ax.yaxis)
    found = ((text.get_position(), text.get_text()) for text in ax.texts)
    return {(x[int(i)], y[int(j)]): text for (i, j), text in found if text}


def test_surface_shows_means_and_how_far_the_budget_went(tmp_path: Path) -> None:
    cells = [cell("sgd", 8.0, 2, clip_norm=c, noise_multiplier=z) for c, z in PAIRS]
    ax, *_ = draw("surface", tmp_path, cells, lasting).figure.axes
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
    shown = np.ma.filled(np.ma.masked_invalid(mesh.get_array()), -1).ravel()
    assert shown == pytest.approx([89.1, 90.1, 91.1, 79.1, 80.1, -1])
    assert mesh.norm.vmin == pytest.approx(np.quantile([89.1, 90.1, 91.1, 79.1, 80.1], 0.1))
