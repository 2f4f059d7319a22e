"""The first page, made from a small results folder of two papers, one of which runs nothing."""

import re
from pathlib import Path

import pandas as pd
import pytest
from links import Page, dead_links
from results_folder import RUNS, SILENT, TOLD

from dpfl.figures import families
from dpfl.judging import claims
from dpfl.report import claims_table, markup, paper, reader, site, values
from dpfl.report.judged import Source
from dpfl.report.layout import LINKS
from dpfl.tables import rendering
from dpfl.terminal.choice import Choice
from dpfl.words.vocabulary import DEMONSTRATION, DIFFERS, NOT_RUN


@pytest.fixture(scope="module")
def folder(results: Path) -> Path:
    """A results folder beside the folders of its papers."""
    return results


@pytest.fixture(scope="module")
def html(folder: Path, drive) -> str:
    output = folder / "reports" / "index.html"
    where = ("--results", folder, "--home", folder.parent / "papers", "--output", output)
    assert drive("report", "--papers", TOLD, SILENT, *where).returncode == 0
    return output.read_text(encoding="utf-8")


def test_the_page_opens_with_the_board_of_claims(html: str, folder: Path) -> None:
    body = html.split("<main>")[1]
    assert "<img" not in html and "data:image" not in html
    assert Page(body[: body.index("<table")]).words.count(" ") < 120
    first = Page(body[body.index("<table") : body.index("</table>")])
    assert "claim small Doe and Poe (2020)" in first.words
    assert "1 claim not run; 1 cannot be judged" in first.words
    assert "It converges." not in first.words
    row = reader.Folder(folder).judged(TOLD).iloc[0]
    told = f"{row['difference']:+.2f} [{row['difference_low']:+.2f}, {row['difference_high']:+.2f}]"
    assert f"holds {told} points" in first.words and "against SGD, ε 8; n=5; ε claimed 8, " in html
    printed = reader.Folder(folder).judged(TOLD).query("claim == 'printed'").iloc[0]
    ours = f"{printed['ours']:.4g} [{printed['ours_low']:.2f}, {printed['ours_high']:.2f}]"
    assert f"{ours} (n=5), printed 90" in first.words
    assert f"{SILENT}.html" in Page(html).links


def test_text_of_papers_is_escaped(html: str) -> None:
    assert "sgd &lt; adam &amp; &lt;b&gt;both&lt;/b&gt; &gt; chance" in html
    assert "<b>both" not in html


def test_every_link_leads_somewhere(html: str, folder: Path) -> None:
    assert f"{TOLD}.html#claim-better" in Page(html).links
    assert list(dead_links(folder / "reports")) == []


def test_pages_load_nothing_and_are_small_enough_to_be_frames(html: str, folder: Path) -> None:
    """Chromium refuses a frame of a data URL above 2 MiB, base64 makes a third more of a page."""
    found = Page(html)
    assert not {"link", "iframe", "img"} & set(found.tags)
    assert "src" not in found.attributes and "://" not in "".join(found.links)
    sizes = {page: (folder / "reports" / f"{page}.html").stat().st_size for page in LINKS}
    assert sizes.pop("index") < 400_000 and max(sizes.values()) < 1_500_000


def test_the_pages_say_where_they_come_from(html: str, folder: Path) -> None:
    assert f"{RUNS} training runs" in Page(html).words
    provenance = (folder / "reports" / "method.html").read_text(encoding="utf-8")
    assert "2.12.1" in Page(provenance).words and "make replicate" in provenance


def test_a_missing_table_is_one_line(folder: Path, drive, tmp_path: Path) -> None:
    empty, output = tmp_path / "results", tmp_path / "index.html"
    where = ("--results", empty, "--home", folder.parent / "papers", "--output", output)
    done = drive("report", "--papers", TOLD, *where)
    assert (done.returncode, done.stderr.count("\n"), output.exists()) == (1, 1, False)
    assert done.stderr.startswith("error: ") and str(empty) in done.stderr


def test_tables_are_read_back_as_they_were(folder: Path) -> None:
    results = reader.Folder(folder)
    ((heads, lines),) = results.analysis(f"{TOLD}/prices").values()
    written = results.path_of(f"{TOLD}/prices", ending="md").read_text(encoding="utf-8")
    assert rendering.markdown(heads, lines) == written
    for suffix in ("comparisons", "tuned", "trials", "ranges"):
        written = results.path_of(f"{TOLD}/main", suffix, "md").read_text(encoding="utf-8")
        titled = re.sub(r"\b(sgd|adam)\b", lambda found: families.title(found[0]), written)
        assert rendering.markdown(*results.grid(f"{TOLD}/main", suffix)) == titled
    assert results.cells(f"{TOLD}/main")["certified"].to_list() == [True, True]


def row_of(**changes) -> dict:
    numbers = ("printed", "ours", "ours_low", "ours_high", "n", "failed", "difference", "needed_n")
    numbers += ("difference_low", "difference_high", "eps_claimed", "eps_certified", "eps_audited")
    numbers += ("audit_ceiling", "audit_status", "lucky_gain", "weak_baseline", "epsilon", "p_holm")
    usual = {"privacy": "not private", "verdict": "holds", "needs": "", "runs": ""}
    return dict.fromkeys(numbers, float("nan")) | usual | changes


def test_what_is_unknown_of_a_claim_is_left_out() -> None:
    nothing = row_of()
    assert claims_table.ours(nothing) == claims.words(nothing) == ""
    assert epsilons(nothing) == ""
    assert claims_table.remarks(nothing) == ()
    assert claims_table.seeds(row_of(n=5.0, failed=2.0)) == "n=5, 2 failed"
    assert claims_table.seeds(row_of(n=0.0)) == claims_table.ours(row_of(n=5.0)) == ""
    assert claims_table.ours(row_of(ours=96.5, n=1.0)) == "96.5 (n=1)"


def epsilons(row: dict, unit: str = "example") -> str:
    return claims_table.in_a_row(claims_table.epsilons(row, unit))


def test_three_epsilons_stand_in_one_order() -> None:
    assert epsilons(row_of(eps_claimed=8.0)) == "8 / no proof / not audited"
    whole = row_of(eps_claimed=8.0, eps_certified=7.99912, eps_audited=2.4999)
    audited = {"audit_status": "audited", "audit_ceiling": 4.0}
    # A proof is rounded up, a bound down.
    assert epsilons(whole | audited) == "8 / ≤ 8 / ≥ 2.49 (ceiling 4)"
    assert epsilons(whole | {"audit_status": "broken"}) == "8 / ≤ 8 / broken, ≥ 2.49"
    lost = row_of(eps_claimed=2.0, eps_audited=4.4, audit_status="audited", privacy="refuted")
    assert epsilons(lost) == "2 / no proof / ≥ 4.4, refuted"
    assert epsilons(row_of(eps_claimed=8.0, audit_status="blind")).endswith("/ blind")
    assert epsilons(row_of(eps_claimed=float("inf"), eps_certified=float("inf"))) == ""
    client = row_of(eps_claimed=8.0, eps_certified=8.0)
    assert epsilons(client, "client") == "8, client-level / ≤ 8 / not audited"
    tones = [tone for *_, tone in claims_table.epsilons(lost)]
    assert tones == ["open", "bad", "bad"] and claims_table.epsilons(whole)[1][2] == "good"


def lines_of(about: dict, *rows: dict) -> list[claims_table.Line]:
    """Return the lines of some rows of claims.csv."""
    usual = {"paper": "p", "part": "overall", "about": "", "privacy": "", "kind": "", "study": ""}
    found = pd.DataFrame([row_of(**usual | {"runs": ""} | row) for row in rows])
    of = paper.Paper("p", {"title": "T"} | about)
    return claims_table.lines([Source(of, "demo", False, found, Path("none"), Path("none"))])


def test_what_is_judged_stands_first_and_several_numbers_show_their_span() -> None:
    claims = [{"id": name, "quote": name, "where": "table 1"} for name in "abc"]
    told = [("a", NOT_RUN), ("b", DEMONSTRATION), ("c", DIFFERS)]
    whole = [{"claim": c, **verdict._asdict()} for c, verdict in told]
    parts = [{"claim": "c", "part": f"{x}", "printed": x, "ours": 2 * x} for x in (1.5, 0.5)]
    shown = lines_of({"claims": claims}, *whole, *parts)
    assert [(line.quote, line.printed, line.ours) for line in shown] == [
        *(("c", "0.5 to 1.5", "1 to 3"), ("b", "", ""), ("a", "", ""))
    ]


def test_a_claim_has_a_line_by_each_of_its_studies() -> None:
    claim = {"id": "c", "quote": "q", "where": "table 1", "study": ["main", "more"]}
    told = [("main", "differs"), ("more", "matches")]
    rows = [
        {"claim": "c", "study": study, "verdict": verdict, "part": part, "runs": "a"}
        for study, verdict in told
        for part in ("overall", "epsilon 2")
    ]
    shown = lines_of({"claims": [claim]}, *rows)
    assert [(line.short, line.shown) for line in shown] == [
        ("q", "differs"),
        ("q (more)", "matches"),
    ]
    assert len({line.anchor for line in shown}) == 2
    assert len({line.identity for line in shown}) == 1


def test_a_printed_number_names_the_other_paper_that_it_comes_from() -> None:
    claim = {"quote": "q", "where": "table 1", "kind": "number"}
    claims = [claim | {"id": "own", "table": "main"}, claim | {"id": "other", "table": "rerun"}]
    about = {"claims": claims, "printed": {"rerun": {"by": "Poe (2021)"}}}
    row = {"verdict": "differs", "kind": "number", "printed": 90.0, "ours": 92.0, "difference": 2.0}
    shown = lines_of(about, *(row | {"claim": own["id"]} for own in claims))
    assert [(line.printed, line.bar.rerun) for line in shown] == [
        ("90", False),
        ("90 in Poe (2021), of a rerun", True),
    ]


def test_words_in_backticks_are_code_and_the_rest_is_escaped() -> None:
    assert markup.code("a < `b & c`") == "a &lt; <code>b &amp; c</code>"
    assert markup.table(["h"], []) == markup.listing([]) == ""


def test_tables_hold_numbers_truths_or_text(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("n,label,certified,variant\n5,001,True,\n,002,False,k=1\n")
    found = values.read(path)
    assert found["label"].to_list() == ["001", "002"]
    assert found["certified"].to_list() == [True, False]
    assert found["n"].isna().to_list() == [False, True]
    assert values.read(path)["certified"].to_list() == [True, False]


def test_a_demonstration_says_of_itself_what_the_terminal_says(folder: Path, monkeypatch) -> None:
    read = paper.read_all([TOLD, SILENT], folder.parent / "papers")
    assert site.context(read, reader.Folder(folder))["this_run"] == []
    known = reader.Folder.study
    shown = lambda self, name: known(self, name) | {"demonstrates": True}  # noqa: E731
    monkeypatch.setattr(reader.Folder, "study", shown)
    monkeypatch.setattr(site.answer, "following", lambda papers, choice: [*papers, str(choice)])
    chosen = Choice({"scale": "small", "select": [f"{TOLD}/s"]}, ["mine.yaml"])
    told = site.context(read, reader.Folder(folder, chosen))["this_run"]
    made = len([*folder.glob("runs/*/summary.json")])
    assert made > RUNS and f"{made} of {made} runs trained, 0 failed" in told[0]  # trials too
    assert f"<li>{TOLD}</li>" in told[0]
    assert f"<li>{SILENT}</li>" not in told[0]  # it runs nothing here
    assert all(word in told[0] for word in ("small", f"{TOLD}/s", "mine.yaml"))
