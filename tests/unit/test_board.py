"""The parts of the board of claims: bars, colours, counts, rows and columns."""

import csv
import json
import math
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import results_folder
from claims_of_runs import judge, two
from results_folder import SILENT, TOLD
from test_report import lines_of
from test_report import row_of as row

from dpfl.base import files
from dpfl.judging import claims
from dpfl.provenance import derivations
from dpfl.report import board, claims_table, forest, judged, layout, markup, paper, site, values
from dpfl.report.claims_table import Line
from dpfl.report.forest import EDGE, WIDTH, Bar
from dpfl.report.judged import Source
from dpfl.report.reader import Folder
from dpfl.seeds import conjunction, verdicts
from dpfl.words import vocabulary as words

ABOUT = {"command": "make replicate", "commit": "abc", "core_hours": 2.0, "hardware": []}
ABOUT |= {"runs": {"trained": 3}, "trained": None, "scale": "mnist", "versions": {}}


def line(verdict: words.Verdict, short: str = "a claim", scale: str = "", **changes) -> Line:
    nothing = pd.DataFrame(), Path(), Path()
    own = dict.fromkeys(Line.__dataclass_fields__, "") | {"bar": None} | {"parts": ()}
    own |= {"source": Source(paper.Paper("p", {"title": "T"}), scale, False, *nothing)}
    own |= {"claim": {"id": short, "quote": short, "where": ""}, "short": short, "verdict": verdict}
    return Line(**(own | {"shown": verdict.verdict} | changes))


def test_a_number_is_drawn_as_ours_minus_printed_with_the_print_at_zero() -> None:
    own = row(kind="number", ours=97.0, printed=96.0, difference=1.0)
    own |= {"difference_low": 0.5, "difference_high": 1.5}
    assert forest.bar_of(own, [], 2.0) == Bar((1.0,), (0.5, 1.5), 0.0, (-2.0, 2.0))


def test_a_gain_is_drawn_as_it_is_beside_the_printed_gain() -> None:
    own = row(kind="gap", ours=0.4, ours_low=0.1, ours_high=0.7, printed=1.9, difference=-1.5)
    assert forest.bar_of(own, [], 1.0) == Bar(
        (0.4,), (0.1, 0.7), pytest.approx(1.9), pytest.approx((0.9, 2.9))
    )


@pytest.mark.parametrize("kind", ["ordering", "controls", "trend"])
def test_the_band_of_a_difference_between_methods_ends_where_its_verdict_turns(kind: str) -> None:
    """A win is a whole one where its interval lies beyond the band, and only there."""
    band = forest.bar_of(row(kind=kind, difference=0.1), [], 1.0).band
    assert band == (-0.5, 0.5)
    for lead in (-0.05, 0.05):
        near = verdicts.interval(np.linspace(-0.01, 0.01, 5) + band[1] + lead)
        assert (verdicts.of_ordering(near, 1.0) == words.HOLDS) == (lead > 0)


BANDS = {1.9: (0.9, 2.9), -1.9: (-2.9, -0.9), 0.4: (0.0, 1.4), -0.4: (-1.4, 0.0)}
BANDS |= {0: (-1, 1), 0.1: (-0.9, 1.1)}


@pytest.mark.parametrize(("printed", "band"), BANDS.items())
def test_the_band_of_a_gain_lies_about_the_printed_one_on_its_side_of_zero(printed, band) -> None:
    found = forest.bar_of(row(kind="gap", ours=0.5, printed=float(printed)), [], 1.0)
    assert found.band == pytest.approx(band)
    assert forest.bar_of(row(kind="gap", ours=0.5), [], 1.0).band is None


def whole_of(*parts: dict) -> dict:
    verdict = conjunction.verdict(map(words.verdict_of, parts))
    shown = conjunction.deciding(parts, verdict)["difference"]
    about = "a against b; a against c"
    return row(kind="ordering", about=about, difference=shown, **verdict._asdict())


def part_of(
    opponent: str, epsilon: float, difference: float, verdict: words.Verdict = words.DOES_NOT_HOLD
) -> dict:
    named = f", epsilon {epsilon:g}" if epsilon == epsilon else ""
    own = {"part": f"against {opponent}{named}", "about": f"a against {opponent}{named}"}
    own |= {"epsilon": epsilon, "eps_claimed": epsilon, "difference": difference}
    return row(kind="ordering", **verdict._asdict()) | own


def test_the_part_that_decides_is_the_worst_off_of_those_with_the_verdict() -> None:
    """Neither a part that lacks seeds nor one that is merely smaller stands for the other."""
    few = part_of("b", 2.0, 6.9, words.TOO_FEW)
    small = part_of("c", 2.0, 0.4, words.SMALL)
    none = part_of("d", 2.0, math.nan, words.TOO_FEW)
    assert claims_table.deciding(whole_of(small, few), [small, few]) is few
    assert claims_table.deciding(whole_of(small, few, none), [small, few, none]) is none
    named = claims_table.deciding_words(whole_of(small, none), [small, none])
    assert named == "against d, ε 2, lowest of 2"
    refuted = part_of("b", 8.0, -0.2), part_of("c", 8.0, -1.0, words.OPPOSITE)
    assert claims_table.deciding(whole_of(few, *refuted), [few, *refuted]) is refuted[1]


def test_the_part_that_decides_is_the_one_whose_difference_a_claim_shows() -> None:
    parts = [part_of(*own) for own in (("b", math.nan, -1.0), ("b", 2.0, -1.0), ("b", 8.0, 0.5))]
    whole = whole_of(*parts)
    assert claims_table.deciding(whole, parts) is parts[1]
    assert claims_table.deciding_words(whole, parts) == "against b, ε 2, lowest of 2"
    assert claims_table.deciding_words(whole, parts[:2]) == "against b, ε 2"
    assert claims_table.deciding_words(whole, []) == whole["about"]
    printed = row(verdict="differs", printed=96.0)
    assert claims_table.deciding_words(printed, parts) == ""
    assert claims_table.deciding(printed, parts) is printed


def test_a_difference_has_the_unit_of_its_kind_and_is_drawn_in_points() -> None:
    told = {kind: claims.words(row(kind=kind, difference=-1.2)) for kind in claims.kinds()}
    assert told.pop("convergence") == "needs 1.2 rounds more"
    assert told.pop("privacy-loss") == "-1.20"
    assert set(told.values()) == {"-1.20 points"}
    raced = row(kind="convergence", difference=-4.4, difference_low=-9.0, difference_high=0.2)
    assert claims.words(raced) == "needs 4.4 rounds more [0.2 fewer, 9.0 more]"
    elsewhere = (("convergence", 3.0), ("privacy-loss", 0.5), ("", 1), ("number", None))
    for kind, difference in elsewhere:
        assert forest.bar_of(row(kind=kind, difference=difference), [], 1.0) is None


def test_a_claim_without_a_difference_of_its_own_shows_those_of_its_parts() -> None:
    parts = [row(kind="number", difference=value) for value in (0.5, -2.0, math.nan)]
    bar = forest.bar_of(row(kind="number"), parts, 1.0)
    assert bar.dots == (0.5, -2.0) and bar.printed is None


def test_a_gain_of_one_seed_has_words_and_a_bar_without_ends(tmp_path) -> None:
    """Its interval and all that rests on a spread are missing in the table that is read."""
    gap = {"kind": "gap", "better": "a", "worse": "b", "points": 1}
    files.write_table(tmp_path / "claims.csv", judge(two(91, 90, seeds=1, epsilons=(8.0,)), **gap))
    (found,) = values.read(tmp_path / "claims.csv").to_dict("records")
    told = claims_table.part(found)
    assert told[1] == "1" and told[2].endswith("(n=1)") and told[5] == "open: needs enough seeds"
    assert claims_table.remarks(found) == ("neither side tuned",)
    assert forest.bar_of(found, [], 1.0).ends is None


def test_places_are_proportional_and_a_rerun_has_a_diamond_of_its_own() -> None:
    inside = markup.part("forest", Bar((5.0,), (0.0, 10.0), -10.0, (-1.0, 1.0)))
    half = (WIDTH - 2 * EDGE) / 2
    assert f'class="mean" x1="{EDGE + 1.5 * half}"' in inside and ">±10<" in inside
    assert f'x1="{EDGE + half}" x2="{EDGE + 2 * half}"' in inside
    assert f'class="diamond" d="M{float(EDGE)} ' in inside
    rerun = Bar((5.0,), None, -10.0, rerun=True)
    assert f'class="diamond rerun" d="M{float(EDGE)} ' in markup.part("forest", rerun)


def test_claims_in_full_have_remarks_parts_and_no_empty_column() -> None:
    def text(*lines: Line) -> str:
        return claims_table.in_full([*lines], "caption")

    told = text(line(words.MATCHES, "a", remarks=("one", "two")), line(words.DIFFERS))
    assert told.count("<small>one<") == told.count("<small>two<") == 1
    assert ">printed</th>" not in told and ">ours</th>" not in told
    both = (part_of("b", epsilon, 1.0) | {"p_holm": 0.04} for epsilon in (2.0, 8.0))
    parts = [claims_table.part(row) for row in both]
    whole = text(line(words.MATCHES, printed="90", ours="91", parts=parts))
    assert ">printed</th>" in whole and ">ours</th>" in whole
    assert whole.count("2 parts") == 1 and whole.count("a against b, ε 8") == 1
    assert "parts" not in text(line(words.MATCHES, parts=parts[:1]))
    assert text(line(words.NOT_RUN, anchor="x")).count('id="x"') == 1


def keep(results: Path, key: str, scale: str) -> None:
    """Keep the claims of a paper, as `make keep` lays them out."""
    for part in ("claims", "studies", "tables"):
        (results / part / key).mkdir(parents=True, exist_ok=True)
        own = results / derivations.HOME.name / key / scale / part
        own.parent.mkdir(parents=True, exist_ok=True)
        own.symlink_to(results / part / key)
    (own.parent / derivations.MADE_FROM).write_text("{}")


@pytest.fixture
def reference(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Kept results: of one paper two scales with claims, of the other one that judges nothing."""
    results = shutil.copytree(written, tmp_path, dirs_exist_ok=True) / results_folder.RESULTS
    for key, scale in ((TOLD, "mnist"), (TOLD, "other"), (SILENT, "mnist")):
        keep(results, key, scale)
    monkeypatch.setattr(derivations, "about", lambda folder: ABOUT)
    return results / derivations.HOME.name


@pytest.fixture
def read(tmp_path: Path) -> dict[str, paper.Paper]:
    return {key: paper.read(tmp_path / "papers" / key) for key in (SILENT, TOLD)}


def test_a_claim_that_needs_no_runs_is_told_once() -> None:
    """What one scale has judged is not told as not run, and a price is the same at all scales."""
    both = [line(words.HOLDS, "c", runs="r"), line(words.NOT_RUN, "c"), line(words.NOT_RUN, "d")]
    assert list(claims_table.once(both)) == [both[0], both[2]]
    prices = [line(words.DIFFERS, "p", scale=name) for name in ("a", "b")]
    ran = [line(words.DIFFERS, "d", runs=name, scale=name) for name in ("a", "b")]
    assert list(claims_table.once([*prices, *ran])) == [prices[0], *ran]


def run_of(read: dict[str, paper.Paper], reference: Path) -> dict:
    """Return the board of a run beside what is kept."""
    return board.of_sources(judged.of_run(Folder(reference.parent), read.values()))


def page_of(shown: dict) -> str:
    """Return the first page with a board."""
    about = {"title": "t", "unfinished": [], "beside": "", "runs": 1, "this_run": [], "cells": ""}
    return layout.render("index", "index", [], board=shown, **about)


def test_a_board_has_a_row_per_claim_and_a_column_per_data_set(reference, read) -> None:
    shown = run_of(read, reference)
    assert shown["columns"] == ["MNIST", "other", "This run"]
    # Those with verdicts stand first, texts without a year last.
    assert [one["of"].key for one in shown["papers"]] == [TOLD, SILENT]
    assert shown["papers"][0]["pages"].keys() == {"mnist", "other", "small"}
    assert [*shown["papers"][0]["rows"]] == [f"{TOLD}-better", f"{TOLD}-printed"]
    assert shown["papers"][1]["rows"] == {} and shown["papers"][1]["not_run"] == 1
    text = page_of(shown)
    assert f'href="{TOLD}.html#kept-mnist-better"' in text
    assert f'<tr id="{TOLD}-better">' in text and text.count('class="cell good"') == 6


def test_a_cell_holds_what_its_row_of_claims_says(reference, read) -> None:
    text = page_of(run_of(read, reference))
    with (reference.parent / "claims" / TOLD / "claims.csv").open(encoding="utf-8") as file:
        row = next(csv.DictReader(file))
    record = json.loads(re.search("data-record='(.*?)'", text)[1])
    names = ("difference", "difference_low", "difference_high", "n", "eps_claimed", "eps_certified")
    assert {name: float(row[name]) for name in names} == {name: record[name] for name in names}
    assert (record["claim"], record["verdict"], record["ours"]) == ("better", "holds", None)
    assert "n=5; ε claimed 8, certified ≤ 7.992, audited not audited" in text


def test_a_run_that_judges_nothing_adds_only_claims_of_which_nothing_is_kept(
    reference, read, monkeypatch
) -> None:
    unjudged = values.read(reference.parent / "claims" / TOLD / "claims.csv").head(1)
    unjudged = unjudged.assign(**words.DEMONSTRATION._asdict())
    monkeypatch.setattr(Folder, "judged", lambda self, key: unjudged if key == TOLD else nothing)
    nothing = unjudged.head(0)
    shown = run_of(read, reference)
    assert shown["columns"] == ["MNIST", "other"]
    shutil.rmtree(reference / TOLD)
    shown = run_of(read, reference)
    assert [line.verdict.needs for own in shown["cells"].values() for line in own] == ["real data"]


def test_the_page_of_all_kept_results_leads_to_the_pages_of_their_scales(
    reference, read, tmp_path, monkeypatch
) -> None:
    shown = board.of_sources(judged.of_reference(reference, read.values(), "{scale}/reports/"))
    places = {(one.source.page, one.anchor) for own in shown["cells"].values() for one in own}
    given = []
    monkeypatch.setattr(site.methods, "write", lambda *what: given.append(what))
    site.write_all_kept(read, reference, tmp_path)
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    [(folders, *_)] = given  # the leaderboard is of all scales
    assert folders == {
        Folder(tmp_path / "mnist"): [SILENT, TOLD],
        Folder(tmp_path / "other"): [TOLD],
    }
    for scale in ("mnist", "other"):
        assert (f"{scale}/reports/{TOLD}.html", f"kept-{scale}-better") in places
        assert f'<a href="{scale}/reports/index.html">Scale {scale}</a>' in text
    assert shown["papers"][1]["pages"] == {"mnist": f"mnist/reports/{SILENT}.html"}
    # None of the scales runs this: it is counted once, not once a scale.
    assert "; 1 claim not run; 1 cannot be judged" in text
    assert '<a href="mnist/reports/method.html">' in text


def test_no_difference_is_neutral_and_what_has_no_proof_in_doubt() -> None:
    told = {(words.HOLDS, "proven"): "good", (words.OPPOSITE, "refuted"): "bad"}
    told |= {(words.HOLDS, "no proof"): "doubt", (words.SMALL, "refuted"): "doubt"}
    told |= {(words.NO_DIFFERENCE, "proven"): "even", (words.TOO_FEW, "proven"): "open"}
    for (verdict, privacy), tone in told.items():
        row = {"claim": "c", **verdict._asdict(), "privacy": privacy}
        assert lines_of({"claims": [{"id": "c", "quote": "q", "where": "w"}]}, row)[0].tone == tone
