"""What `make docs` writes: files as they would be written, tables of what was judged and kept."""

import csv
import io
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from dpfl.base.errors import UserError
from dpfl.docs import (
    best,
    blocks,
    board,
    columns,
    configuration,
    found,
    hero,
    pages,
    result_page,
    scales,
    speed,
)
from dpfl.docs import judged as judged_docs
from dpfl.judging.claims import COLUMNS
from dpfl.papers import folder
from dpfl.plugins import analyses
from dpfl.provenance import kept
from dpfl.report import paper

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "results" / "reference"


@pytest.fixture(scope="module")
def texts():
    return pages.texts(ROOT)


def test_generated_files_and_parts_are_as_they_are_made_today(texts):
    stale = [path for path, text in texts.items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run `make docs`"


def test_every_generated_file_is_made_and_every_block_has_a_maker(texts):
    made = {path for path in texts if path.parent.name in ("results", "reference")}
    docs = ROOT / "docs"
    assert made == {*(docs / "results").glob("*.md"), *(docs / "reference").glob("*.md")}
    with pytest.raises(UserError, match=r"no block 'claim'.*claims"):
        blocks.renewed(
            "<!-- claim: written by make docs -->\n<!-- end of claim -->", {"claims": str}
        )


def test_a_block_made_twice_is_the_same_and_leaves_the_rest():
    text = "a\n<!-- x: written by make docs -->\nold\n<!-- end of x -->\nb\n"
    once = blocks.renewed(text, {"x": lambda: "new"})
    assert "old" not in once and "\nnew\n" in once
    assert blocks.renewed(once, {"x": lambda: "new"}) == once
    assert blocks.without(once) == "a\n\nb\n"


def rows(text):
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def judged(claim, verdict, part="overall", **more):
    row = dict.fromkeys(COLUMNS, None) | {"paper": "new2024", "claim": claim, "part": part}
    row |= {"kind": "ordering"}
    return row | {"about": f"{claim} {part}", "verdict": verdict, "privacy": "consistent"} | more


LEAST = "-0.42 [-0.61, -0.23] points (n=5)"
TOLD = {"n": 5, "difference": -0.42, "difference_low": -0.61, "difference_high": -0.23}
EPSILONS = {"eps_claimed": 8.0, "eps_certified": 7.9991, "audit_status": "not audited"}
AT_2 = {"epsilon": 2.0, "eps_claimed": 2.0, "eps_certified": 1.9991, "audit_status": "not audited"}


@pytest.fixture
def reference(tmp_path, monkeypatch):
    """Kept results of two made-up papers: one with judged claims, one without."""
    home = tmp_path / "papers"
    for key, judges in (("new2024", True), ("old2020", False)):
        (tmp_path / "reference" / key / "mnist" / "tables").mkdir(parents=True)
        own = home / key
        own.mkdir(parents=True)
        names = ["beats", "again", "demo", "gap", *(f"number-{i}" for i in range(board.MANY + 1))]
        claims = [
            {"id": name, "where": "abstract", "quote": f"It {name}.", "kind": name.split("-")[0]}
            for name in names
        ]
        about = {"title": f"On {key}", "summary": f"What {key} says.", "claims": claims}
        (own / "paper.yaml").write_text(yaml.safe_dump(about), encoding="utf-8")
        (own / "page.md").write_text("**In short.** Two\nlines.\n\nMore.\n", encoding="utf-8")
        (own / "published.csv").write_text("table,row,metric,value\n", encoding="utf-8")
        scales = {
            "mnist": ["main"],
            "mnist-more": ["other"],
            "mnist-rest": ["never"],
            "cifar10": ["main"],
        }
        chosen = {name: {"select": studies} for name, studies in scales.items()}
        (own / "studies.yaml").write_text(yaml.safe_dump({"scales": chosen}), encoding="utf-8")
        for name in ("main", "other"):
            (tmp_path / "reference" / key / "mnist" / "tables" / f"{name}.csv").touch()
        folder = tmp_path / "reference" / key / "mnist" / "claims"
        folder.mkdir()
        lines = [judged("beats", "not run")]
        if judges:
            lines = [
                judged("beats", "reversed", **TOLD, **EPSILONS),
                judged("beats", "reversed", "against a", **TOLD, **EPSILONS),
                judged("beats", "reversed", "against a, epsilon 2", **TOLD, **AT_2),
                judged("beats", "replicated", "against b", **TOLD | {"difference": 0.5}),
                judged("again", "reversed", **TOLD, **EPSILONS) | {"about": "beats overall"},
                judged("demo", "demonstration", n=1),
                judged("gap", "differs", ours=3.0, n=5, compared="test beside training accuracy"),
                *(judged("gap", "differs", f"at {gap}", printed=gap) for gap in (2.5, 1.5)),
                *(judged(f"number-{i}", "differs", ours=90.0 + i) for i in range(board.MANY + 1)),
            ]
        pd.DataFrame(lines, columns=COLUMNS).to_csv(folder / "claims.csv", index=False)
    recorded = {"command": "make replicate PAPER=new2024", "commit": "abc", "core_hours": 2.0}
    more = {"runs": {"trained": 3}, "trained": None, "hardware": []}
    monkeypatch.setattr(kept, "about", lambda path: recorded | more)
    return home, tmp_path / "reference"


def test_judged_claims_stand_first_and_papers_without_any_last(reference):
    lines = rows(board.table(*reference, "docs/results/"))
    assert lines[0][0] == "[On new2024](docs/results/new2024.md), mnist"
    assert lines[0][1:5] == ["It beats.", "", f"beats against a, ε 2: {LEAST}", "reversed"]
    assert lines[0][5] == "8 / 8 / not audited"  # of the whole; a proven bound is rounded up
    assert lines[1][2:4] == ["1.5 to 2.5", "3 (n=5); test beside training accuracy"]
    assert [lines[2][1], lines[2][4]] == ["It number-0.", "differs"]
    assert lines[3][1] == f"{board.MANY} more findings, on its page"
    assert lines[3][4] == f"{board.MANY} differs"
    assert lines[4][0] == "[On old2020](docs/results/old2020.md), mnist"
    assert [lines[4][1], lines[4][3], lines[4][4]] == [
        "What old2020 says.",
        "Two lines.",
        "none judged",
    ]
    assert len(lines) == 5


def test_a_folder_that_judges_nothing_has_no_line_where_another_of_its_paper_judges(reference):
    _, kept_results = reference
    for key in ("new2024", "old2020"):
        for part in ("claims", "tables"):
            (kept_results / key / "prices" / part).mkdir(parents=True)
        table = pd.DataFrame([judged("beats", "not run")], columns=COLUMNS)
        table.to_csv(kept_results / key / "prices" / "claims" / "claims.csv", index=False)
    lines = rows(board.table(*reference, ""))
    assert len(lines) == 5
    assert lines[4][0] == "[On old2020](old2020.md), mnist, prices"


def test_claims_that_two_folders_judge_alike_stand_once_with_both_names(reference):
    _, kept_results = reference
    scales = [kept_results / "new2024" / name for name in ("mnist", "mnist-more")]
    shutil.copytree(*scales)
    path = scales[1] / "claims" / "claims.csv"
    table = pd.read_csv(path)
    table.loc[table["claim"] == "gap", "verdict"] = "matches"
    table.to_csv(path, index=False)
    lines = [
        (row[0].split("md), ")[1], row[1], row[4]) for row in rows(board.table(*reference, ""))
    ]
    many = f"{board.MANY} more findings, on its page"
    assert lines == [
        ("mnist, mnist-more", "It beats.", "reversed"),
        ("mnist", "It gap.", "differs"),
        ("mnist-more", "It gap.", "matches"),
        ("mnist, mnist-more", "It number-0.", "differs"),
        ("mnist, mnist-more", many, f"{board.MANY} differs"),
        ("mnist", "What old2020 says.", "none judged"),
    ]


def test_folders_of_a_paper_stand_in_the_order_of_its_scales(reference):
    home, kept_results = reference
    own = kept_results / "new2024"
    shutil.copytree(own / "mnist", own / "a-later-scale")
    (home / "new2024" / "studies.yaml").write_text("scales: { mnist: {}, a-later-scale: {} }")
    first, *_ = rows(board.table(home, kept_results, ""))
    assert first[0].endswith(", mnist, a-later-scale")


def test_publications_stand_before_texts_without_a_year():
    shown = rows(board.table(ROOT / "workflow" / "papers", REFERENCE, ""))
    judges = [row[0] for row in shown if row[4] != "none judged"]
    dated = [bool(re.match(r"\[[^]]*\(\d{4}\)\]", paper)) for paper in judges]
    assert {*dated} == {True, False} and dated == sorted(dated, reverse=True)


def test_a_text_without_a_year_has_its_short_name_or_its_title():
    about = {"title": "A long title"}
    assert paper.Paper("x", about).short == "A long title"
    assert paper.Paper("x", about | {"short": "A name"}).short == "A name"


def test_below_the_claims_stands_how_many_have_a_verdict(reference):
    """Two papers with the same claims, of which one has judged all but one, one without answer."""
    home, kept_results = reference
    path = kept_results / "new2024" / "mnist" / "claims" / "claims.csv"
    table = pd.read_csv(path)
    table.loc[table["claim"] == "number-0", "verdict"] = "too few seeds"
    table.to_csv(path, index=False)
    claims = paper.read(home / "new2024").claims
    del claims["demo"]["kind"]
    about = {"title": "On new2024", "summary": "x", "claims": list(claims.values())}
    (home / "new2024" / "paper.yaml").write_text(yaml.safe_dump(about), encoding="utf-8")
    (home / "_template").mkdir()
    told = (
        f"\n{len(claims) - 1} of {2 * len(claims)} claims entered have been run and judged so far, "
    )
    told += f"{len(claims) - 2} of them with an answer; "
    assert f"{told}{2 * len(claims) - 1} can be judged, " in board.table(*reference, "")


def test_what_a_later_scale_leaves_open_keeps_its_answer(reference):
    kept_results = reference[1]
    before = board.table(*reference, "").rsplit("\n", 1)[1]
    scales = [kept_results / "new2024" / name for name in ("mnist", "mnist-more")]
    shutil.copytree(*scales)
    path = scales[1] / "claims" / "claims.csv"
    table = pd.read_csv(path)
    table["verdict"] = table["verdict"].mask(table["verdict"] == "differs", "inconclusive")
    table.to_csv(path, index=False)
    assert board.table(*reference, "").rsplit("\n", 1)[1] == before


def test_a_table_without_printed_numbers_has_no_column_for_them():
    row = ("a claim", "", "+1 points", "replicated", "")
    assert "printed" not in judged_docs.table(judged_docs.CLAIM, [row])
    both = judged_docs.table(judged_docs.CLAIM, [row, ("b", "90", "91", "matches", "")])
    assert "printed" in both and rows(both)[0][0] == "a claim"


def test_a_page_of_a_paper_shows_the_parts_of_a_claim(reference):
    home, kept_results = reference
    text = result_page.of_paper(home / "new2024", kept_results, ROOT / "docs" / "results")
    assert "### beats: reversed" in text
    assert "| beats against b | +0.50 [-0.61, -0.23] points (n=5) | replicated |" in text
    assert "    make replicate PAPER=new2024\n" in text


def test_the_readmes_figure_is_kept_and_needed():
    path = hero.picture(REFERENCE, ROOT).split("](")[1].removesuffix(")")
    assert (ROOT / path).is_file()
    with pytest.raises(UserError, match="none of the figures"):
        hero.picture(ROOT / "docs", ROOT)


NAMES = {"mnist": "MNIST", "fashion-mnist": "Fashion-MNIST", "cifar10": "CIFAR-10"}


def test_the_most_accurate_cells_are_so_among_all_kept_ones():
    shown = {(row[0], row[1]): row for row in rows(best.table(REFERENCE, ""))}
    highest = {}
    for path in REFERENCE.glob("*/*/tables/*.csv"):
        if path.parts[-4] == "audit":  # its rates were not tuned
            continue
        for cell in proven_cells(path):
            for budget in (1, 2, 4, 8):
                if float(cell["eps_certified"]) <= budget:
                    place = NAMES[re.split("-scatter|-patches", cell["dataset"])[0]], str(budget)
                    best_yet = highest.get(place, cell)
                    highest[place] = max(cell, best_yet, key=lambda c: float(c["accuracy_mean"]))
    assert set(shown) == set(highest)
    for place, cell in highest.items():
        assert shown[place][4].split()[0] == f"{float(cell['accuracy_mean']):.1f}"
        assert ("(at the edge)" in shown[place][4]) == bool(cell.get("edge"))


def proven_cells(path):
    """Yield the cells of a kept table with a certificate, at least three seeds and none failed."""
    with path.open(encoding="utf-8", newline="") as file:
        for cell in csv.DictReader(file):
            if cell.get("accuracy_mean") and cell.get("unit") == "example":
                proven = cell["eps_certified"] not in ("", "inf")
                lost = float(cell.get("at_chance") or 0)
                if proven and lost == 0 and float(cell["n"]) >= 3:
                    yield cell


def test_accuracy_does_not_fall_with_the_budget():
    means = {}
    for row in rows(best.table(REFERENCE, "")):
        means.setdefault(row[0], []).append(float(row[4].split()[0]))
    assert means and all(own == sorted(own) for own in means.values())


def test_what_kept_runs_took_stands_beside_the_estimate(reference):
    _, kept_results = reference
    for key, hours in (("new2024", 1.6), ("old2020", 4.0)):
        outline = kept_results / key / "mnist" / "outline.json"
        outline.write_text(f'{{"core_hours": {hours}}}')
    assert rows(scales.taken(kept_results)) == [
        ["new2024, mnist", "3", "1.6", "2", "1.2"],
        ["old2020, mnist", "3", "4", "2", "0.5"],
    ]


QUICK = {("tramer2021", "budget"), ("composition-text", "composition")}
"""Analyses that take seconds."""


def test_kept_prices_are_those_of_today():
    for key, name in sorted(QUICK):
        own = folder.load(key).content["analyses"][name]
        for suffix, table in analyses.load(key, own["uses"]).tables(own["settings"]).items():
            file = f"{name}_{suffix}.csv" if suffix else f"{name}.csv"
            held = pd.read_csv(REFERENCE / key / found.PRICES / "tables" / file)
            assert list(held) == list(table)
            made = pd.read_csv(io.StringIO(table.to_csv(index=False)))
            pd.testing.assert_frame_equal(held, made, rtol=1e-6)


def test_prices_are_kept_of_every_analysis_that_needs_no_data():
    for key in folder.names():
        for name, own in folder.load(key).content.get("analyses", {}).items():
            if not analyses.inputs_of(own):
                assert (REFERENCE / key / found.PRICES / "tables" / f"{name}.csv").exists()


def test_the_keys_of_the_configuration_have_their_bounds_and_defaults(texts):
    text = texts[ROOT / "docs/reference/configuration.md"]
    default = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    told = {row[0].strip("`"): row for row in rows(text.split("## Sections")[0])}
    assert set(told) == set(default)
    assert told["margin"][1:3] == ["number, > 0, ≤ 100", "`1.0`"]
    assert "points" in told["margin"][3]
    study = yaml.safe_load((ROOT / "workflow/schemas/composed.schema.yaml").read_text("utf-8"))
    keys = study["properties"]["studies"]["additionalProperties"]["properties"]
    assert all(f"`*.{key}" in text for key in keys)


def test_comments_of_the_configuration_belong_to_the_key_below_or_beside():
    told = configuration.comments("# head\n\n# one\n# two\na: 1 # three\nb: 2\n")
    assert told == {"a": "one two three", "b": ""}


def test_every_column_is_told_with_its_meaning():
    schema = {"version": 7, "kinds": {"cells": {"n": ["number", "seeds | runs"]}}}
    text = columns.page(schema)
    assert "schema: 7." in " ".join(text.split())
    assert "| `n` | number | seeds \\| runs |" in text


def test_the_bench_is_told_in_two_digits(tmp_path):
    (tmp_path / "splits.csv").write_text(
        "model,contender,batch,steps,cpu_ms,ratio,peak_mb\n"
        "mnist-cnn,split,250,2,1,1.849,9\ncifar10-cnn,split,250,2,1,46.2,363\n"
    )
    assert rows(speed.splits(tmp_path)) == [["split", "1.8", "46", "0.36 GB"]]
