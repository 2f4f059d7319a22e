"""Titles are text: what looks like mathematics or markup in them is shown as it stands."""

import io

import pytest
from links import Page
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from results_folder import TOLD

from dpfl.base.files import write_json
from dpfl.figures import drawn, style
from dpfl.report import paper_page

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
