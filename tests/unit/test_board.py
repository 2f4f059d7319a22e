"""The parts of the board of claims: bars on one scale, chips, sentences, notes told once."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
import results_folder
from markupsafe import Markup
from results_folder import SILENT, TOLD

from dpfl.judging.claims import kinds
from dpfl.provenance import kept
from dpfl.report import (
    board,
    chips,
    claims_table,
    forest,
    layout,
    markup,
    paper,
    site,
)
from dpfl.report.claims_table import Line
from dpfl.report.forest import EDGE, WIDTH, Bar
from dpfl.report.reader import Folder
from dpfl.seeds import conjunction, verdicts

ABOUT = {"command": "make replicate", "commit": "abc", "core_hours": 2.0, "hardware": []}
ABOUT |= {"runs": {"trained": 3}, "trained": None, "scale": "mnist", "versions": {}}


def row(**changes) -> dict:
    unknown = ("printed", "ours", "ours_low", "ours_high", "difference", "difference_low")
    unknown += (
        "difference_high",
        "eps_claimed",
        "eps_certified",
        "eps_audited",
        "epsilon",
        "audit_ceiling",
    )
    return dict.fromkeys(unknown, math.nan) | {"audit_status": "", "privacy": ""} | changes


def line(verdict: str, short: str = "a claim", **changes) -> Line:
    own = dict.fromkeys(Line.__dataclass_fields__, "")
    own |= {"verdict": verdict, "short": short, "bar": None, "chips": (), "remarks": (), "also": ()}
    return Line(**(own | changes))


def test_a_number_is_drawn_as_ours_minus_printed_with_the_print_at_zero() -> None:
    own = row(kind="number", ours=97.0, printed=96.0, difference=1.0)
    own |= {"difference_low": 0.5, "difference_high": 1.5}
    assert forest.of(own, [], 2.0) == Bar(1.0, 0.5, 1.5, 0.0, (-2.0, 2.0))


def test_what_another_paper_prints_is_told_apart() -> None:
    own = row(kind="number", ours=97.0, printed=96.0, difference=1.0)
    shown, rerun = forest.of(own, [], 2.0), forest.of(own, [], 2.0, "Poe (2021)")
    assert "Poe" not in forest.words(shown)
    assert "printed in Poe (2021), of a rerun, at +0.00" in forest.words(rerun)
    looks = [re.findall('class="(diamond[^"]*)"', forest.draw(b, 5.0, "")) for b in (shown, rerun)]
    assert looks == [["diamond"], ["diamond rerun"]]


def test_a_gain_is_drawn_as_it_is_beside_the_printed_gain() -> None:
    own = row(kind="gap", ours=0.4, ours_low=0.1, ours_high=0.7, printed=1.9, difference=-1.5)
    assert forest.of(own, [], 1.0) == Bar(
        0.4, 0.1, 0.7, pytest.approx(1.9), pytest.approx((0.9, 2.9))
    )


@pytest.mark.parametrize("kind", ["ordering", "controls", "trend"])
def test_the_band_of_a_difference_between_methods_ends_where_its_verdict_turns(kind: str) -> None:
    """A win is a whole one where its interval lies beyond the band, and only there."""
    band = forest.of(row(kind=kind, difference=0.1), [], 1.0).band
    assert band == (-0.5, 0.5)
    for lead in (-0.05, 0.05):
        near = verdicts.interval(np.linspace(-0.01, 0.01, 5) + band[1] + lead)
        assert (verdicts.of_ordering(near, 1.0) == "replicated") == (lead > 0)


@pytest.mark.parametrize(
    ("printed", "band"),
    [(1.9, (0.9, 2.9)), (-1.9, (-2.9, -0.9)), (0.4, (0.0, 1.4)), (-0.4, (-1.4, 0.0)), (0, (-1, 1))],
)
def test_the_band_of_a_gain_lies_about_the_printed_one_on_its_side_of_zero(printed, band) -> None:
    found = forest.of(row(kind="gap", ours=0.5, printed=float(printed)), [], 1.0)
    assert found.band == pytest.approx(band)
    assert forest.of(row(kind="gap", ours=0.5), [], 1.0).band is None
    assert f"band from {band[0]:+g} to {band[1]:+g}" in forest.words(found)


def whole_of(*parts: dict) -> dict:
    verdict = conjunction.verdict(part["verdict"] for part in parts)
    shown = conjunction.deciding(parts, verdict)["difference"]
    about = "a against b; a against c"
    return row(kind="ordering", about=about, verdict=verdict, difference=shown)


def part_of(
    opponent: str, epsilon: float, difference: float, verdict: str = "not replicated"
) -> dict:
    named = f", epsilon {epsilon:g}" if epsilon == epsilon else ""
    own = {"part": f"against {opponent}{named}", "about": f"a against {opponent}{named}"}
    own |= {"epsilon": epsilon, "eps_claimed": epsilon, "difference": difference}
    return row(kind="ordering", verdict=verdict) | own


def test_the_part_that_decides_is_the_worst_off_of_those_with_the_verdict() -> None:
    """Neither a part that lacks seeds nor one that is merely smaller stands for the other."""
    few = part_of("b", 2.0, 6.9, "too few seeds")
    small = part_of("c", 2.0, 0.4, "replicated, small")
    none = part_of("d", 2.0, math.nan, "too few seeds")
    assert claims_table.deciding(whole_of(small, few), [small, few]) is few
    assert claims_table.deciding(whole_of(small, few, none), [small, few, none]) is none
    words = claims_table.deciding_words(whole_of(small, none), [small, none])
    assert words == "against d, ε 2, worst of 2"
    refuted = part_of("b", 8.0, -0.2, "not replicated"), part_of("c", 8.0, -1.0, "reversed")
    assert claims_table.deciding(whole_of(few, *refuted), [few, *refuted]) is refuted[1]


def test_the_part_that_decides_is_the_one_whose_difference_a_claim_shows() -> None:
    parts = [part_of(*own) for own in (("b", math.nan, -1.0), ("b", 2.0, -1.0), ("b", 8.0, 0.5))]
    whole = whole_of(*parts)
    assert claims_table.deciding(whole, parts) is parts[1]
    assert claims_table.deciding_words(whole, parts) == "against b, ε 2, worst of 2"
    assert claims_table.deciding_words(whole, parts[:2]) == "against b, ε 2"
    assert claims_table.deciding_words(whole, []) == whole["about"]
    printed = row(verdict="differs", printed=96.0)
    assert claims_table.deciding_words(printed, parts) == ""
    assert claims_table.deciding(printed, parts) is printed


def test_a_difference_has_the_unit_of_its_kind() -> None:
    told = {kind: claims_table.difference(row(kind=kind, difference=-1.2)) for kind in kinds()}
    assert told.pop("convergence") == "-1.20 rounds" and told.pop("privacy-loss") == "-1.20"
    assert set(told.values()) == {"-1.20 points"}


def test_what_is_not_in_points_is_not_drawn() -> None:
    assert forest.of(row(kind="convergence", difference=3.0), [], 1.0) is None
    assert forest.of(row(kind="privacy-loss", difference=0.5), [], 1.0) is None
    assert forest.of(row(kind=""), [], 1.0) is None
    assert forest.of(row(kind="number"), [], 1.0) is None


def test_a_claim_without_a_difference_of_its_own_shows_those_of_its_parts() -> None:
    parts = [row(kind="number", difference=value) for value in (0.5, -2.0, math.nan)]
    bar = forest.of(row(kind="number"), parts, 1.0)
    assert bar.middle is None and bar.parts == (0.5, -2.0)
    assert forest.words(bar) == "2 differences from -2.00 to +0.50 points"


def test_one_scale_holds_every_bar_that_it_can() -> None:
    assert forest.reach([Bar(0.1, None, None, None, (-0.5, 0.5))]) == 1.0
    assert forest.reach([Bar(0.1, -3.0, 1.0, None, (-1.0, 1.0)), None]) == 3.0
    assert forest.reach([Bar(0.1, -3.1, 1.0, None, (-1.0, 1.0)), None]) == 5.0
    assert forest.reach([Bar(70.0, None, None, None, None)]) == 20.0
    assert forest.reach([]) == 1.0


def test_places_are_proportional_and_what_is_beyond_is_an_arrow() -> None:
    inside = forest.draw(Bar(5.0, 0.0, 10.0, -10.0, (-1.0, 1.0)), 10.0, "words")
    half = (WIDTH - 2 * EDGE) / 2
    assert f'cx="{EDGE + 1.5 * half}"' in inside
    assert f'x1="{EDGE + half}" x2="{EDGE + 2 * half}"' in inside
    assert f'class="diamond" d="M{float(EDGE)} ' in inside
    assert "arrow" not in inside and 'aria-label="words"' in inside
    assert "arrow" in forest.draw(Bar(50.0, None, None, None, None), 10.0, "words")
    assert forest.draw(None, 10.0, "") == Markup("")


def test_chips_tell_a_proof_from_none_and_round_to_the_safe_side() -> None:
    own = row(eps_claimed=8.0, eps_certified=7.99912, eps_audited=2.4999, audit_status="audited")
    assert [(c.name, c.value, c.tone) for c in chips.of(own)] == [
        ("claimed", "8", "open"),
        ("certified", "≤ 8", "good"),
        ("audited", "≥ 2.49", "open"),
    ]
    bare = row(eps_claimed=8.0, eps_audited=21.0, audit_status="audited", privacy="refuted")
    assert [(c.value, c.tone) for c in chips.of(bare)[1:]] == [
        ("no proof", "bad"),
        ("≥ 21, refuted", "bad"),
    ]
    assert (chips.certified(own), chips.certified(bare)) == ("yes", "no")
    assert chips.of(row(eps_claimed=math.inf)) == () and chips.certified(row()) == ""
    assert chips.of(own | {"unit": "client"})[0].value == "8, client-level"


def test_what_a_paper_claims_is_counted_and_adds_up() -> None:
    other = line("replicated", tone="good", claim="b")
    lines = [
        line("replicated", tone="good", claim="a", also=(other,)),
        line("reversed", tone="bad", claim="c"),
        line("demonstration"),
        line("not run"),
    ]
    shown = "1 only shown at work on a small data set, 1 not run"
    assert board.counts(lines, 3) == (
        f"8 claims: 2 replicated, 1 reversed, {shown}, 3 cannot be judged."
    )
    assert board.lead(lines) == f"3 claims are judged: 2 replicated, 1 reversed; {shown}."
    again = [*lines, line("inconclusive", claim="c", scale="another")]
    assert board.lead(again).startswith("3 claims are judged, 4 findings over all scales: ")
    assert board.lead([line("unfinished")]) == "No claim is judged; 1 unfinished."
    assert board.lead([line("not run")]) == "No claim is judged; 1 not run."
    assert board.counts([], 2) == "2 claims: 2 cannot be judged."
    assert board.counts([], 0) == "No claim."


def test_claims_that_the_same_runs_answer_alike_are_one_row() -> None:
    usual = {"runs": "r s", "difference": "+1.00 points", "page": "p.html"}
    same = [line("replicated", short, **usual) for short in ("first", "second")]
    others = [
        line("reversed", "third", **usual),
        line("replicated", "fourth", **usual | {"runs": "r"}),
        *(line("not run", short) for short in ("fifth", "sixth")),
    ]
    found = claims_table.together([*same, *others])
    assert [one.short for one in found] == ["first", "third", "fourth", "fifth", "sixth"]
    assert found[0].also == (same[1],)
    assert list(claims_table.each(found))[:2] == [found[0], same[1]]
    text = markup.part("board", found, dict.fromkeys(found, ""), "caption")
    assert 'data-count="2"' in text and text.count("also: ") == 1 and ">second</a>" in text


def test_a_remark_beside_several_claims_is_a_numbered_note() -> None:
    lines = [line("matches", remarks=("both", "one")), line("differs", remarks=("both",))]
    assert board.notes(lines) == {"both": 1}


def test_columns_without_a_number_are_left_out_of_a_board() -> None:
    def heads(*lines: Line) -> list[str]:
        bars = dict.fromkeys(lines, "")
        text = markup.part("board", lines, bars, "caption")
        return re.findall(r'scope="col">(.*?)</th>', text)

    bare = line("replicated", difference="+1.00 points", n="n=5")
    assert "printed" not in heads(bare) and "ours" not in heads(bare)
    assert {"printed", "ours"} <= {*heads(bare, line("matches", printed="90", ours="91"))}


def keep(results: Path, key: str, scale: str) -> None:
    """Keep the claims of a paper, as `make keep` lays them out."""
    for part in ("claims", "studies", "tables"):
        (results / part / key).mkdir(parents=True, exist_ok=True)
        own = results / kept.HOME.name / key / scale / part
        own.parent.mkdir(parents=True, exist_ok=True)
        own.symlink_to(results / part / key)
    (own.parent / kept.MADE_FROM).write_text("{}")


@pytest.fixture
def reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Kept results: of one paper two scales with claims, of the other one that judges nothing."""
    results = results_folder.write(tmp_path)
    for key, scale in ((TOLD, "mnist"), (TOLD, "other"), (SILENT, "mnist")):
        keep(results, key, scale)
    monkeypatch.setattr(kept, "about", lambda folder: ABOUT)
    return results / kept.HOME.name


def test_kept_claims_open_first_and_every_paper_has_one_sentence(
    tmp_path: Path, reference: Path
) -> None:
    results = reference.parent
    read = paper.read_all([TOLD, SILENT], tmp_path / "papers")
    shown = board.context(read, Folder(results), reference, {TOLD: "It is `so`."})
    assert [tab["id"] for tab in shown["tabs"]] == ["kept", "run"]
    assert shown["opened"] == "kept"
    first, second = shown["tabs"]
    assert {line.scale for line in first["lines"]} == {"mnist", "other"}
    assert {line.scale for line in second["lines"]} == {"small"}
    assert [one["scales"] for one in first["papers"]] == [
        [("mnist", f"{TOLD}.html"), ("other", f"{TOLD}.html")],
        [("mnist", f"{SILENT}.html")],
    ]
    text = layout.render("index", "index", [], title="t", board=shown, unfinished=[], runs=1)
    assert f'href="{TOLD}.html#kept-mnist-better"' in text
    assert ">1 matches</span>" in text and "It is <code>so</code>. <span" in text
    assert f'data-paper="{SILENT}"' in text and 'role="tablist"' in text
    assert '<p class="lead">Kept results: ' in text
    assert text.index('id="kept" role="tabpanel"') < text.index('id="run" role="tabpanel"')
    assert text.count(" data-opened>") == 1


def test_without_kept_claims_this_run_opens(tmp_path: Path) -> None:
    results = results_folder.write(tmp_path)
    read = paper.read_all([TOLD, SILENT], tmp_path / "papers")
    shown = board.context(read, Folder(results), None, {})
    assert [tab["id"] for tab in shown["tabs"]] == ["run"] and shown["opened"] == "run"


def test_the_board_of_all_kept_results_leads_to_the_pages_of_their_scales(
    tmp_path: Path, reference: Path
) -> None:
    read = paper.read_all([TOLD, SILENT], tmp_path / "papers")
    shown = board.of_kept(read, reference, "{scale}/reports/", {})
    [tab] = shown["tabs"]
    judged = {(one.page, one.anchor) for one in tab["lines"]}
    for scale in ("mnist", "other"):
        assert (f"{scale}/reports/{TOLD}.html", f"kept-{scale}-better") in judged
    assert tab["papers"][1]["scales"] == [("mnist", f"mnist/reports/{SILENT}.html")]
    # None of the scales runs these: one line each, not one a scale.
    [(_, left)] = [own for own in tab["folded"] if "not run" in own[0]]
    assert len({one.claim for one in left}) == len(left) > 0


def test_papers_with_verdicts_stand_first_and_texts_without_a_year_last(
    tmp_path: Path, reference: Path
) -> None:
    read = paper.read_all([SILENT, TOLD], tmp_path / "papers")
    [tab] = board.of_kept(read, reference, "{scale}/reports/", {})["tabs"]
    assert [one["key"] for one in tab["papers"]] == [TOLD, SILENT]


def test_the_list_of_kept_results_leads_to_every_scale_and_to_what_the_words_mean(
    tmp_path: Path, reference: Path
) -> None:
    read = paper.read_all([TOLD, SILENT], tmp_path / "papers")
    folders = [(reference / TOLD / "mnist", ABOUT), (reference / SILENT / "other", ABOUT)]
    text = site.of_all_kept(folders, read, reference, {})
    assert '<a href="other/reports/index.html">Scale other</a>' in text
    assert '<a href="mnist/reports/index.html">Scale mnist</a>' in text
    assert '<a href="mnist/reports/method.html">' in text


def test_pages_of_kept_results_lead_back_to_all_of_them(tmp_path: Path) -> None:
    (tmp_path / "provenance").mkdir()
    assert layout.ALL_KEPT not in layout.links(Folder(tmp_path))
    (tmp_path / "provenance" / "told.json").write_text("{}")
    assert layout.links(Folder(tmp_path))[0] == layout.ALL_KEPT


def test_a_claim_that_one_scale_has_judged_is_not_told_as_not_run() -> None:
    both = [line("replicated", claim="c"), line("not run", claim="c"), line("not run", claim="d")]
    assert list(claims_table.once(both)) == [both[0], both[2]]


def test_a_price_is_told_once_and_what_was_run_at_every_scale() -> None:
    prices = [line("differs", claim="c", kind="privacy-loss", scale=name) for name in ("a", "b")]
    ran = [line("differs", claim="d", kind="ordering", scale=name) for name in ("a", "b")]
    assert list(claims_table.once([*prices, *ran])) == [prices[0], *ran]


@pytest.mark.parametrize(
    ("found", "offered"),
    [
        (["consistent", "refuted", ""], ["refuted", "consistent"]),
        (["consistent", ""], []),  # every row that has an answer has the same
    ],
)
def test_rows_are_filtered_by_what_is_said_of_their_privacy(found, offered) -> None:
    lines = [line("replicated", privacy=said) for said in found]
    tab = {"id": "kept", "title": "t", "papers": [{"key": "k", "short": "s"}], "folded": []}
    shown = board._shown([tab | {"lines": lines}])
    assert list(shown["filters"]["privacy"]) == offered
