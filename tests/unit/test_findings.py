"""Titles of figures are computed from the runs, say no more than these, and are shown as text."""

import io

import numpy as np
import pandas as pd
import pytest
from links import Page
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from results_folder import TOLD

from dpfl.base.files import write_json
from dpfl.figures import drawn, findings, style
from dpfl.report import paper_page
from dpfl.seeds.verdicts import interval


def frame(values: dict[str, list[float]], epsilon: float = 8.0, **trained: list[bool]):
    rows = [
        {
            "series": name,
            "method": name.lower(),
            "epsilon": epsilon,
            "seed": seed,
            "run": f"{name}-{epsilon}-{seed}",
            "cell": f"{name}-{epsilon}",
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
    assert findings.gap("A", "B", interval(differences), "here") == expected


def test_the_focus_is_compared_with_the_best_of_the_others_at_the_largest_epsilon():
    low = frame({"A": [90.0], "B": [80.0], "C": [70.0]}, epsilon=2.0)
    high = frame({"A": [90.0], "B": [92.0], "C": [91.0]})
    runs = pd.concat([low, high], ignore_index=True)
    assert (
        findings.leading(runs, 1.0, "a") == "A against B, the best, at ε = 8: -2.0 points, one seed"
    )
    assert (
        findings.leading(runs, 1.0) == "B against C, the next best, at ε = 8: +1.0 point, one seed"
    )


def test_failed_runs_are_in_no_finding_and_no_budget_is_told():
    runs = frame({"A": [90.0, 91.0, 92.0], "B": [11.0, 88.0, 89.0]}, B=[False, True, True])
    assert findings.leading(runs, 1.0) == "A against B, the next best, at ε = 8: +3.0 points, n = 2"
    alone = frame({"A": [90.0, 10.0]}, A=[True, False])
    assert findings.leading(alone, 1.0) == "A: 90.0 % at ε = 8, one seed, 1 more failed"
    none = frame({"A": [10.0]}, A=[False])
    assert findings.leading(none, 1.0) == "No run trained at ε = 8"
    free = frame({"A": [90.0], "B": [91.0]}, epsilon=np.inf)
    assert findings.leading(free, 1.0).endswith("without privacy: +1.0 point, one seed")


def test_a_finding_stands_over_the_figure_and_one_that_cannot_be_drawn_leaves_no_file(tmp_path):
    figure, axes = style.canvas()
    broken = drawn.titled(figure, pd.DataFrame({"a": [1]}), "it breaks", "A picture")
    assert (figure.get_suptitle(), broken.words) == ("It breaks", "It breaks. A picture.\n")
    axes[0, 0].set_title(r"$\nothing$")
    with pytest.raises(ValueError, match="nothing"):
        broken.save(tmp_path / "figure")
    assert list(tmp_path.iterdir()) == []
    axes[0, 0].set_title("whole")
    broken.save(tmp_path / "figure")
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".csv", ".pdf", ".png", ".txt"]
    assert (tmp_path / "figure.csv").read_text(encoding="utf-8") == "a\n1\n"


TITLES = [
    r"Cost in $\foo$",
    "from $5 to $10",
    "$",
    "a_b^c {x}",
    r"100 % \$ & #",
    "<script>alert(1)</script>",
]


def save(figure: Figure) -> None:
    figure.savefig(io.BytesIO(), format="png")


@pytest.mark.parametrize("title", TITLES)
def test_a_figure_draws_a_title_as_it_stands(title, monkeypatch):
    """Nothing reaches the parser of mathematics, and what is drawn has as many dollars."""
    seen = []
    draw = RendererAgg.draw_text

    def spy(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):
        seen.append((s, ismath))
        return draw(self, gc, x, y, s, prop, angle, ismath, mtext)

    monkeypatch.setattr(RendererAgg, "draw_text", spy)
    figure, _ = style.canvas()
    style.title(figure, title)
    save(figure)
    save(drawn.nothing(title).figure)
    assert [pair for pair in seen if title in pair[0]] == [(title, False)] * 2


@pytest.mark.parametrize("title", TITLES)
def test_a_page_shows_a_title_as_text(title, folder):
    own = folder.study(f"{TOLD}/main") | {"title": title}
    write_json(folder.path / "studies" / TOLD / "main.json", own)
    page = Page(str(paper_page._of_study(own["name"], folder)))
    assert title in page.text
    assert "script" not in page.tags
