"""Citations are those of the papers' folders, in the form that others read."""

import pytest
import yaml

from dpfl.docs import blocks, pages
from dpfl.papers import citation, folder

PAPERS = {key: folder.load(key).about for key in folder.names()}


def test_the_committed_file_is_what_is_generated(root):
    """`make docs` renews it."""
    text = (root / "CITATION.cff").read_text(encoding="utf-8")
    made = {"cited-papers": pages.cited_papers}
    assert blocks.renewed(text, made) == text
    assert blocks.renewed(text, {"cited-papers": lambda: "other"}) != text


def test_the_citation_file_is_whole(root):
    found = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    assert found["cff-version"] == "1.2.0"
    titles = [reference["title"] for reference in found["references"]]
    assert len(titles) == len(set(titles))
    cited = [about["title"] for about in PAPERS.values() if "citation" in about]
    assert titles[: len(cited)] == cited
    for reference in found["references"]:
        assert reference["type"] and reference["authors"]


def test_a_text_without_a_citation_is_called_by_its_title():
    about = PAPERS["composition-text"]
    assert "citation" not in about
    assert citation.short(about) == about["title"]


@pytest.mark.parametrize(
    ("authors", "expected"),
    [
        (["Zhou", "Qian"], "Zhou and Qian (2022)"),
        (["Meng", "Liu", "Xie"], "Meng, Liu and Xie (2022)"),
        (["Fu", "Ye", "Hu", "Chen"], "Fu et al. (2022)"),
        (["Solo"], "Solo (2022)"),
    ],
)
def test_short_citations(authors, expected):
    people = [{"family-names": name, "given-names": "A."} for name in authors]
    about = {"title": "t", "citation": {"type": "article", "year": 2022, "authors": people}}
    assert citation.short(about) == expected
