"""Titles are text: what looks like mathematics or markup in them is shown as it stands."""

import io
import json
from html.parser import HTMLParser

import pytest
import results_folder
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure

from dpfl.figures import drawn, style
from dpfl.report import study_section
from dpfl.report.reader import Folder

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


class Tags(HTMLParser):
    """Collects the tags and the text of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(str(text))  # a plain text, which is joined without escaping

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("title", TITLES)
def test_a_page_shows_a_title_as_text(title, tmp_path):
    home = results_folder.write(tmp_path)
    results = next(path.parent for path in home.rglob("studies") if path.is_dir())
    file = next((results / "studies").rglob("*.json"))
    own = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(own | {"title": title}), encoding="utf-8")
    page = Tags(study_section.of_study(own["name"], Folder(results)))
    assert title in page.text
    assert "script" not in page.tags
