"""What the papers' own files say: citation, claims, open choices and printed numbers."""

import csv
from pathlib import Path

import pytest

from dpfl.judging import claims
from dpfl.papers import folder

PAPERS = Path(__file__).parents[2] / "workflow" / "papers"

KEYS = folder.names()


def paper(key):
    return folder.load(key).about  # it refuses a key that stands twice


def printed(key):
    with (PAPERS / key / "published.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


CLAIMS = [(key, claim) for key in KEYS for claim in paper(key)["claims"]]
JUDGED = [pair for pair in CLAIMS if "kind" in pair[1]]


def named(pairs):
    return [pytest.param(*pair, id=f"{pair[0]}-{pair[1]['id']}") for pair in pairs]


@pytest.mark.parametrize("key", KEYS)
def test_a_paper_says_what_it_is_and_what_was_read(key):
    found = paper(key)
    for name in ("title", "read", "summary", "choices"):
        assert found[name], name
    assert found["claims"] or not found.get("citation")  # a folder of our own claims nothing
    citation = found.get("citation", {"type": "none", "authors": ["nobody"]})
    assert citation["type"]
    assert citation["authors"]
    foreign = "zh" in citation.get("languages", [])
    assert not foreign or "title_en" in found or found["title"].isascii()


@pytest.mark.parametrize("key", KEYS)
def test_open_choices_have_a_default_and_a_key(key):
    for choice in paper(key)["choices"]:
        assert set(choice) == {"what", "key", "default", "note"}
        assert choice["what"]
        assert choice["default"]
        assert " " not in choice["key"]


@pytest.mark.parametrize("key", KEYS)
def test_claims_of_a_paper_have_names_of_their_own(key):
    names = [claim["id"] for claim in paper(key)["claims"]]
    assert len(names) == len(set(names))
    assert all(name == name.lower() and " " not in name for name in names)


@pytest.mark.parametrize(("key", "claim"), named(CLAIMS))
def test_a_claim_is_quoted_and_judged_or_says_why_not(key, claim):
    assert claim["where"]
    assert claim["quote"]
    languages = paper(key).get("citation", {}).get("languages", [])
    assert claim.get("translation") or "zh" not in languages
    assert "status" not in claim or claim["reason"].rstrip().endswith(".")
    claims.check(claim)


@pytest.mark.parametrize(("key", "claim"), named(JUDGED))
def test_a_claim_on_printed_numbers_finds_them(key, claim):
    if "table" not in claim:
        return
    rows = [line for line in printed(key) if line["table"] == claim["table"]]
    assert rows
    wanted = {claim["row"]} if "row" in claim else set(claim.get("rows", []))
    assert wanted <= {line["row"] for line in rows}
    for name, value in claim.get("cells", {}).items():
        assert any(line[name] == str(value) and line["row"] in wanted for line in rows)


@pytest.mark.parametrize(("key", "claim"), named(JUDGED))
def test_the_numbers_of_a_number_claim_are_those_quoted(key, claim):
    """A quoted table and the file of printed numbers were typed apart: they must agree."""
    if claim["kind"] != "number":
        return
    words = claim["quote"].replace(";", " ").replace("%", " ").split()
    found = [
        line["value"]
        for line in printed(key)
        if line["table"] == claim["table"]
        and line["row"] == claim["row"]
        and all(line[name] == value for name, value in claim["cells"].items())
    ]
    assert [float(word) for word in words] == [float(value) for value in found]


@pytest.mark.parametrize("key", KEYS)
def test_nothing_is_printed_twice_at_one_place(key):
    lines = printed(key)
    places = [tuple(v for k, v in line.items() if k != "value") for line in lines]
    assert len(places) == len(set(places))
    assert all(float(line["value"]) >= 0 for line in lines)


def test_fsdp_of_table_5_is_rank_50_of_table_3():
    """The paper prints these six numbers twice, so that a slip in one of them would show."""
    lines = [line for line in printed("zhou2022") if line["row"] == "fsdp"]
    five = {(x["dataset"], x["epsilon"]): x["value"] for x in lines if x["table"] == "table 5"}
    rank = {(x["dataset"], x["epsilon"]): x["value"] for x in lines if x["rank"] == "50"}
    assert len(rank) == 6
    assert rank == five
