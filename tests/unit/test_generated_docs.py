"""What `make docs` writes: files as they would be written, tables of what was judged and kept."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from dpfl.base.errors import UserError
from dpfl.docs import (
    blocks,
    columns,
    configuration,
    hero,
    pages,
    results,
    scales,
    speed,
)
from dpfl.judging.claims import COLUMNS
from dpfl.papers import folder
from dpfl.plugins import analyses
from dpfl.provenance import kept
from dpfl.report import paper, prose

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "results" / "reference"


@pytest.fixture(scope="module")
def texts(derived):
    return pages.texts(ROOT)


def test_generated_files_and_parts_are_as_they_are_made_today(texts):
    stale = [path for path, text in texts.items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run `make docs`"


def test_every_generated_file_is_made_and_every_block_has_a_maker(texts):
    docs = ROOT / "docs"
    assert {*(docs / "reference").glob("*.md"), docs / "results.md"} <= {*texts}
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
    row |= {"kind": "ordering" if claim in ("beats", "again") else "number"}
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
        names = ["beats", "again", "demo", "gap", *(f"number-{i}" for i in range(3))]
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
        (folder.parent / kept.MADE_FROM).write_text("{}", encoding="utf-8")
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
                *(judged(f"number-{i}", "differs", ours=90.0 + i) for i in range(3)),
            ]
        pd.DataFrame(lines, columns=COLUMNS).to_csv(folder / "claims.csv", index=False)
    recorded = {"command": "make replicate PAPER=new2024", "commit": "abc", "core_hours": 2.0}
    more = {"runs": {"trained": 3}, "trained": None, "hardware": []}
    monkeypatch.setattr(kept, "about", lambda path: recorded | more)
    return home, tmp_path / "reference"


def test_a_claim_has_a_line_with_its_numbers_and_its_links(reference):
    place = reference[1].parent / "docs"
    lines = rows(results.page(*reference, place).split("## Claims")[1])
    first = dict(zip(results.HEADS, lines[0], strict=True))
    assert first == {
        "paper": "On new2024",
        "scale": "[mnist](../reference/new2024/mnist)",
        "claim": "It beats.",
        "printed": "",
        "ours": f"against a, ε 2: {LEAST}",
        "verdict": "reversed",
        results.HEADS[-1]: "8 / ≤ 8 / not audited",  # of the whole; a proof is rounded up
    }
    assert [row[2] for row in lines] == ["It beats.", "It again.", "It gap."] + [
        f"It number-{i}." for i in range(3)
    ]
    assert lines[2][3:6] == ["1.5 to 2.5", "3 (n=5)", "differs"]


def test_the_answers_of_all_papers_stand_above_the_claims(reference):
    short = results.page(*reference, reference[1]).split("## In short")[1].split("## Claims")[0]
    assert "[On old2020](" in short and short.count("/page.md): Two lines.") == 2


def test_the_readme_has_the_first_claim_of_each_kind_and_counts_the_others(reference):
    lines = rows(results.short(*reference, "docs/results.md"))
    assert [(row[1], row[2], row[5]) for row in lines] == [
        ("mnist", "It beats.", "reversed"),
        ("mnist", "It gap.", "differs"),
        ("", "[4 more](docs/results.md#claims)", "1 reversed, 3 differs"),
    ]


def test_scales_of_a_paper_stand_in_its_order(reference):
    home, kept_results = reference
    own = kept_results / "new2024"
    for name in ("a-later-scale", "a-former-scale"):
        shutil.copytree(own / "mnist", own / name)
    (home / "new2024" / "studies.yaml").write_text("scales: { mnist: {}, a-later-scale: {} }")
    lines = rows(results.page(*reference, kept_results).split("## Claims")[1])
    scales = [row[1].split("]")[0] for row in lines]
    assert [*dict.fromkeys(scales)] == ["[mnist", "[a-later-scale", "[a-former-scale"]


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
    told = f"{len(claims) - 1} of {2 * len(claims)} claims entered have been run and judged so far"
    more = f"{len(claims) - 2} of them with an answer. {2 * len(claims) - 1} can be judged, "
    assert f"{told}, {more}" in results.short(*reference, "")


def test_what_a_later_scale_leaves_open_keeps_its_answer(reference):
    kept_results = reference[1]
    before = results.short(*reference, "").rsplit("\n", 1)[1]
    scales = [kept_results / "new2024" / name for name in ("mnist", "mnist-more")]
    shutil.copytree(*scales)
    path = scales[1] / "claims" / "claims.csv"
    table = pd.read_csv(path)
    table["verdict"] = table["verdict"].mask(table["verdict"] == "differs", "inconclusive")
    table.to_csv(path, index=False)
    assert results.short(*reference, "").rsplit("\n", 1)[1] == before


def test_the_page_of_results_is_short_and_has_publications_first(texts):
    text = texts[ROOT / "docs/results.md"]
    assert len(text.splitlines()) <= 200
    papers = dict.fromkeys(row[0] for row in rows(text.split("## Claims")[1]))
    dated = ["(2" in name for name in papers]
    assert {*dated} == {True, False} and dated == sorted(dated, reverse=True)


def test_a_text_without_a_year_has_its_short_name_or_its_title():
    about = {"title": "A long title"}
    assert paper.Paper("x", about).short == "A long title"
    assert paper.Paper("x", about | {"short": "A name"}).short == "A name"


def test_the_readmes_figure_is_kept_and_needed(derived):
    path = hero.picture(derived).split("](")[1].removesuffix(")")
    assert (ROOT / path).is_file()
    with pytest.raises(UserError, match="none of the figures"):
        hero.picture(ROOT / "docs")


def test_what_kept_runs_took_stands_beside_the_estimate(reference):
    _, kept_results = reference
    for key, hours in (("new2024", 1.6), ("old2020", 4.0)):
        outline = kept_results / key / "mnist" / "outline.json"
        outline.write_text(f'{{"core_hours": {hours}}}')
    assert rows(scales.taken(kept_results)) == [
        ["new2024, mnist", "3", "1.6", "2", "1.2"],
        ["old2020, mnist", "3", "4", "2", "0.5"],
    ]


def test_prices_are_derived_of_every_analysis_that_needs_no_data(derived):
    for key in folder.names():
        for name, own in folder.load(key).content.get("analyses", {}).items():
            if not analyses.inputs_of(own):
                assert (derived / key / prose.PRICES / "tables" / f"{name}.csv").exists()


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
