"""What `make docs` writes: files as they would be written, tables of what was judged and kept."""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import markdown_tables
import pandas as pd
import pytest
import yaml

from dpfl.base.errors import UserError
from dpfl.docs import blocks, design, hero, pages, results
from dpfl.judging.claims import COLUMNS
from dpfl.papers import folder
from dpfl.provenance import derivations
from dpfl.report import answers
from dpfl.words import vocabulary as words

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def texts(derived):
    return pages.texts(ROOT)


def test_generated_files_and_parts_are_as_they_are_made_today(texts):
    stale = [path for path, text in texts.items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run `make docs`"


def test_a_block_that_nobody_makes_is_an_error():
    with pytest.raises(UserError, match=r"no block 'claim'.*claims"):
        blocks.renewed(
            "<!-- claim: written by make docs -->\n<!-- end of claim -->", {"claims": str}
        )


def test_the_graph_of_rules_names_the_rules_of_today(texts):
    graph = texts[ROOT / "docs/design.md"].split("```mermaid\n")[1].split("```")[0]
    shown = set(re.findall(r"\w+", graph)) - {"flowchart", "TB"}
    files = [ROOT / "Snakefile", *(ROOT / "workflow/rules").glob("*.smk")]
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    named = set(re.findall(r"^ *rule (\w+):", text, re.MULTILINE))
    assert "train" in shown and named - {"all"} <= shown
    arrows = re.findall(r"(\w+) --> (\w+)", graph)
    assert len(arrows) == len({*arrows}) and ("prepare_data", "partition") in arrows


def test_a_block_made_twice_is_the_same_and_leaves_the_rest():
    text = "a\n<!-- x: written by make docs -->\nold\n<!-- end of x -->\nb\n"
    once = blocks.renewed(text, {"x": lambda: "new"})
    assert "old" not in once and "\nnew\n" in once
    assert blocks.renewed(once, {"x": lambda: "new"}) == once
    assert blocks.without(once) == "a\n\nb\n"


def rows(text):
    return markdown_tables.read(text)[1]


def judged(claim, verdict, part="overall", **more):
    row = dict.fromkeys(COLUMNS, None) | {"paper": "new2024", "claim": claim, "part": part}
    row |= {"kind": "ordering" if claim in ("beats", "again") else "number"}
    return row | {"about": f"{claim} {part}", **verdict._asdict(), "privacy": "proven"} | more


LEAST = "-0.42 [-0.61, -0.23] points (n=5)"
TOLD = {"n": 5, "difference": -0.42, "difference_low": -0.61, "difference_high": -0.23}
EPSILONS = {"eps_claimed": 8.0, "eps_certified": 7.9991, "audit_status": "not audited"}
AT_2 = {"epsilon": 2.0, "eps_claimed": 2.0, "eps_certified": 1.9991, "audit_status": "not audited"}


@pytest.fixture
def kept_runs(tmp_path, monkeypatch):
    """Kept results of two made-up papers: one with judged claims, one without."""
    names = ["beats", "again", "demo", "gap", *(f"number-{i}" for i in range(3))]
    claims = [
        {"id": name, "where": "abstract", "quote": f"It {name}.", "kind": name.split("-")[0]}
        for name in names
    ]
    claims[0]["better"] = claims[1]["better"] = "a"
    lines = [
        judged("beats", words.OPPOSITE, **TOLD, **EPSILONS),
        judged("beats", words.OPPOSITE, "against a", **TOLD, **EPSILONS),
        judged("beats", words.OPPOSITE, "against a, epsilon 2", **TOLD, **AT_2),
        judged("beats", words.HOLDS, "against b", **TOLD | {"difference": 0.5}),
        judged("again", words.OPPOSITE, **TOLD, **EPSILONS) | {"about": "beats overall"},
        judged("demo", words.DEMONSTRATION, n=1),
        judged("gap", words.DIFFERS, ours=3.0, n=5, compared="test beside training accuracy"),
        *(judged("gap", words.DIFFERS, f"at {gap}", printed=gap) for gap in (2.5, 1.5)),
        *(judged(f"number-{i}", words.DIFFERS, ours=90.0 + i) for i in range(3)),
    ]
    home = tmp_path / "papers"
    for key, found in (("new2024", lines), ("old2020", [judged("beats", words.NOT_RUN)])):
        (home / key).mkdir(parents=True)
        about = {"title": f"On {key}", "summary": f"What {key} says.", "claims": claims}
        (home / key / "paper.yaml").write_text(yaml.safe_dump(about), encoding="utf-8")
        (home / key / "page.md").write_text("**In short.** Two\nlines.\n\nMore.\n")
        (home / key / "studies.yaml").write_text("scales: { mnist: {}, cifar10: {} }")
        folder = tmp_path / "derived" / key / "mnist" / "claims"
        folder.mkdir(parents=True)
        (folder.parent / derivations.MADE_FROM).write_text("{}", encoding="utf-8")
        pd.DataFrame(found, columns=COLUMNS).to_csv(folder / "claims.csv", index=False)
    monkeypatch.setattr(derivations, "about", lambda path: {})
    return home, tmp_path / "derived"


def test_a_claim_has_a_line_with_its_numbers_and_its_links(kept_runs):
    lines = rows(results.every(*kept_runs))
    first = dict(zip(results.HEADS, lines[0], strict=True))
    assert first == {
        "paper": "On new2024",
        "scale": "[mnist](../results/reference/new2024/mnist)",
        "claim": "It beats.",
        "printed": "",
        "ours": f"against a, ε 2: {LEAST}",
        "verdict": "opposite",
        results.HEADS[-1]: "2 / ≤ 2 / not audited",  # of the budget that it is about
    }
    assert [row[2] for row in lines] == ["It beats.", "It again.", "It gap."] + [
        f"It number-{i}." for i in range(3)
    ]
    assert lines[2][3:6] == ["1.5 to 2.5", "3 (n=5)", "differs"]
    assert results.answers(*kept_runs).count("/page.md): Two lines.") == 2


def test_the_readme_has_a_row_per_paper_and_what_all_come_to(kept_runs):
    text = results.first(*kept_runs)
    decided, unjudged = rows(text)
    assert decided[:3] == [
        "[On new2024](docs/results.md#in-short)",
        "It beats.",
        f"opposite (MNIST, against a, ε 2: {LEAST})",
    ]
    assert decided[3:] == ["proven", "does not hold 6"]
    assert unjudged[1:] == ["It beats.", "not judged", "", "none judged"]
    assert "No claim of a better method or setting at equal ε holds with a privacy proof" in text
    assert "Of 2 such results 0 hold without a proof" in text
    assert "All 6 results: does not" in text


def test_the_bars_of_the_first_picture_are_as_long_as_their_counts():
    row = answers.Row("", "A & B (2020)", "", "", "", {"holds": 1, "open": 3})
    rows = [row, replace(row, paper="none judged", results={})]
    drawn = ElementTree.fromstring(hero.svg(rows))
    space = "{http://www.w3.org/2000/svg}"
    bars = [r for r in drawn.iter(f"{space}rect") if r.get("height") == "22"]
    one, three = (float(bar.get("width")) for bar in bars[len(answers.CLASSES) :])
    assert three == pytest.approx(3 * one, rel=0.01)
    assert [own.text for own in drawn.iter(f"{space}text")][-3:] == ["A & B (2020): 4", "1", "3"]
    assert "A & B (2020): holds 1; open 3." in hero.picture(rows)


def test_every_scale_stands_with_its_cost_and_what_kept_runs_took(texts, derived):
    found = {(row[0], row[1].strip("`")): row for row in rows(texts[ROOT / "docs/presets.md"])}
    papers = {key: folder.load(key) for key in folder.names()}
    assert {*found} == {(key, scale) for key, own in papers.items() for scale in own.scales}
    for path in derivations.folders(derived):
        row = found[path.parent.name, path.name]
        taken = derivations.about(path)["core_hours"]
        assert float(row[5] or 0) == pytest.approx(taken, rel=0.06)
    assert "10 clients, 20 rounds" in found["meng2023", "mnist"][2]
    assert design._short(1234.5) == "1200" and design._short(0.0123) == "0.012"


def test_the_keys_of_the_configuration_have_their_bounds_and_defaults(texts):
    text = texts[ROOT / "docs/reference/configuration.md"]
    default = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    told = {row[0].strip("`"): row for row in rows(text.split("## Sections")[0])}
    assert set(told) == set(default)
    assert told["margin"][1:3] == ["number, more than 0, at most 100", "`1.0`"]
    assert "points" in told["margin"][3]
    study = yaml.safe_load((ROOT / "workflow/schemas/composed.schema.yaml").read_text("utf-8"))
    keys = study["properties"]["studies"]["additionalProperties"]["properties"]
    assert all(f"`*.{key}" in text for key in keys)
