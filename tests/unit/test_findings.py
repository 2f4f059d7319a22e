"""Titles of figures are computed from the runs, and say no more than these."""

import numpy as np
import pandas as pd
import pytest

from dpfl.figures import drawn, findings, style


def frame(values: dict[str, list[float]], epsilon: float = 8.0, **trained: list[bool]):
    rows = [
        {
            "series": name,
            "method": name.lower(),
            "epsilon": epsilon,
            "seed": seed,
            "run": f"{name}-{epsilon}-{seed}",
            "accuracy": value,
            "trained": trained.get(name, [True] * len(own))[seed],
        }
        for name, own in values.items()
        for seed, value in enumerate(own)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([1.0], "A against B here: +1.0 point, one seed"),
        ([-0.5, -0.3], "A against B here: -0.4 points, n = 2"),
        ([], "A against B here: no seed trained with both"),
        ([1.0, 1.2, 1.1, 0.9, 1.0], "A against B here: +1.0 point, n = 5"),
        ([1.0, -1.2, 1.1, -0.9, 0.5], "A against B here: +0.1 points, not told apart, n = 5"),
    ],
)
def test_a_difference_of_three_seeds_or_more_may_have_an_open_sign(differences, expected):
    assert findings.gap("A", "B", differences, "here") == expected


def test_the_focus_is_compared_with_the_best_of_the_others_at_the_largest_epsilon():
    low = frame({"A": [90.0], "B": [80.0], "C": [70.0]}, epsilon=2.0)
    high = frame({"A": [90.0], "B": [92.0], "C": [91.0]})
    runs = pd.concat([low, high], ignore_index=True)
    assert findings.leading(runs, "a") == "A against B, the best, at ε = 8: -2.0 points, one seed"
    assert findings.leading(runs) == "B against C, the next best, at ε = 8: +1.0 point, one seed"


def test_failed_runs_are_in_no_finding_and_no_budget_is_told():
    runs = frame({"A": [90.0, 91.0, 92.0], "B": [11.0, 88.0, 89.0]}, B=[False, True, True])
    assert findings.leading(runs) == "A against B, the next best, at ε = 8: +3.0 points, n = 2"
    alone = frame({"A": [90.0, 10.0]}, A=[True, False])
    assert findings.leading(alone) == "A: 90.0 % at ε = 8, one seed, 1 more failed"
    none = frame({"A": [10.0]}, A=[False])
    assert findings.leading(none) == "No run trained at ε = 8"
    free = frame({"A": [90.0], "B": [91.0]}, epsilon=np.inf)
    assert findings.leading(free).endswith("without privacy: +1.0 point, one seed")


def test_a_finding_begins_with_a_capital_and_stands_over_the_figure():
    figure, _ = style.canvas()
    found = drawn.titled(figure, pd.DataFrame(), "central FSDP leads", "A picture")
    assert figure.get_suptitle() == "Central FSDP leads"
    assert found.words == "Central FSDP leads. A picture.\n"


def test_a_figure_that_cannot_be_drawn_leaves_no_file(tmp_path):
    figure, axes = style.canvas()
    broken = drawn.titled(figure, pd.DataFrame({"a": [1]}), "It breaks", "A picture")
    axes[0, 0].set_title(r"$\nothing$")
    with pytest.raises(ValueError, match="nothing"):
        broken.save(tmp_path / "figure")
    assert list(tmp_path.iterdir()) == []
    axes[0, 0].set_title("whole")
    broken.save(tmp_path / "figure")
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".csv", ".pdf", ".png", ".txt"]
    assert (tmp_path / "figure.csv").read_text(encoding="utf-8") == "a\n1\n"
