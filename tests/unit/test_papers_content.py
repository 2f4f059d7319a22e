"""What the papers' own files say: citation, claims, open choices and printed numbers."""

import csv
import re
from pathlib import Path

import pytest
import yaml

from dpfl.papers import citation, folder

PAPERS = Path(__file__).parents[2] / "workflow" / "papers"

KEYS = folder.names()


def paper(key):
    return folder.load(key).about  # it refuses a key that stands twice


def printed(key):
    with (PAPERS / key / "published.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


CLAIMS = [(key, claim) for key in KEYS for claim in paper(key)["claims"]]
NUMBERS = [pair for pair in CLAIMS if pair[1].get("kind") == "number"]


def named(pairs):
    return [pytest.param(*pair, id=f"{pair[0]}-{pair[1]['id']}") for pair in pairs]


@pytest.mark.parametrize("key", KEYS)
def test_a_paper_says_what_it_is_and_what_was_read(key):
    found = paper(key)
    assert all(set(choice) == {"what", "key", "default", "note"} for choice in found["choices"])
    assert all(" " not in choice["key"] and choice["default"] for choice in found["choices"])
    assert found["claims"] or not found.get("citation")  # a folder of our own claims nothing
    cited = found.get("citation", {"type": "none", "authors": ["nobody"]})
    assert found["choices"] and cited["authors"]
    foreign = "zh" in cited.get("languages", [])
    assert not foreign or "title_en" in found or found["title"].isascii()


@pytest.mark.parametrize(("key", "claim"), named(CLAIMS))
def test_a_claim_is_quoted_and_judged_or_says_why_not(key, claim):
    languages = paper(key).get("citation", {}).get("languages", [])
    assert claim.get("translation") or "zh" not in languages
    assert "status" not in claim or claim["reason"].rstrip().endswith(".")


@pytest.mark.parametrize(("key", "claim"), named(NUMBERS))
def test_the_numbers_of_a_number_claim_are_those_quoted(key, claim):
    """A quoted table and the file of printed numbers were typed apart: they must agree."""
    quoted = [float(number) for number in re.findall(r"\d+\.\d+", claim["quote"])]
    percent = [round(100 * own, 6) if own < 1 else own for own in quoted]
    found = [
        line["value"]
        for line in printed(key)
        if line["table"] == claim["table"]
        and line["row"] == claim["row"]
        and all(line[name] == value for name, value in claim.get("cells", {}).items())
    ]
    assert percent == [float(value) for value in found]


def test_fsdp_of_table_5_is_rank_50_of_table_3():
    """The paper prints these six numbers twice, so that a slip in one of them would show."""
    lines = [line for line in printed("zhou2022") if line["row"] == "fsdp"]
    five = {(x["dataset"], x["epsilon"]): x["value"] for x in lines if x["table"] == "table 5"}
    rank = {(x["dataset"], x["epsilon"]): x["value"] for x in lines if x["rank"] == "50"}
    assert len(rank) == 6
    assert rank == five


def test_the_citation_file_is_whole(root):
    found = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    assert found["cff-version"] == "1.2.0"
    titles = [reference["title"] for reference in found["references"]]
    assert len(titles) == len(set(titles))
    cited = [about["title"] for about in map(paper, KEYS) if "citation" in about]
    assert titles[: len(cited)] == cited
    for reference in found["references"]:
        assert reference["type"] and reference["authors"]


def test_a_text_without_a_citation_is_called_by_its_title():
    about = paper("composition-text")
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
