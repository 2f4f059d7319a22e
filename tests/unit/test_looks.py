"""The plan of looks: what is decided stays, seeds between change nothing, errors are bounded."""

from dataclasses import replace
from pathlib import Path

import judged
import markdown_tables
import numpy as np
import pandas as pd
import pytest
from claims_of_runs import ORDERING, OVER_ROUNDS, exact, judge, named, printed, verdict
from closed_forms import COST, LOOK
from scipy import stats

from dpfl.judging import published
from dpfl.seeds import looks, pairing, verdicts
from dpfl.seeds.verdicts import Ordering
from dpfl.words import vocabulary as words
from dpfl.words.vocabulary import verdict_of

SHAPE = np.array([-1, -0.5, 0, 0.5, 1])
OPEN, AHEAD, BEHIND = 0.4 + SHAPE, 1 + 0.1 * SHAPE, -1 + 0.1 * SHAPE
"""Five differences that leave an ordering open, and that decide it."""
FIRST_AHEAD = np.concatenate([AHEAD, BEHIND, BEHIND, BEHIND])
GAP = {"kind": "gap", "better": "a", "worse": "b", "points": 1.0}


def of(*differences):
    """Return evidence on a and b, which differ so."""
    gaps = np.concatenate(differences)
    return exact(seeds=len(gaps), a=90 + gaps, b=90)


def cells(**seeds):
    return pd.DataFrame([{"cell": name, "seed": one} for name, own in seeds.items() for one in own])


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, [5]), (4, [5]), (5, [5]), (9, [5]), (10, [5, 10]), (20, [5, 10, 20]), (31, [5, 10, 20])],
)
def test_looks_are_at_5_10_and_20_seeds(count, expected):
    assert looks.taken(cells(a=range(count))) == expected
    sizes = [len(seen) for (seen,) in looks.each(cells(a=range(count)))]
    assert sizes == [min(look, count) for look in expected]
    assert looks.following(count) == next((n for n in (5, 10, 20) if n > count), None)


def test_every_cell_is_seen_with_its_first_seeds_as_far_as_its_own_last_look():
    runs = cells(a=[30, 2, 4, 6, 8, 10, 12], b=range(20), c=[7, 8])
    counts = [seen.groupby("cell")["seed"].agg(set) for (seen,) in looks.each(runs)]
    assert [set(own["a"]) for own in counts] == [{2, 4, 6, 8, 10}] * 3
    assert [len(own["b"]) for own in counts] == [5, 10, 20]
    assert [own["c"] for own in counts] == [{7, 8}] * 3


@pytest.mark.parametrize("claim", [ORDERING, GAP], ids=named)
def test_what_is_decided_stays_decided_with_its_interval(claim):
    """After the first five nothing speaks for it any more."""
    early, late = (judge(of(own), **claim) for own in (AHEAD, FIRST_AHEAD))
    pd.testing.assert_frame_equal(early, late)
    ends = stats.ttest_1samp(AHEAD, 0).confidence_interval(LOOK)
    shown = (
        late.iloc[0][["ours_low", "ours_high"]]
        if claim == GAP
        else late.iloc[0][["difference_low", "difference_high"]]
    )
    assert tuple(shown) == pytest.approx(tuple(ends))
    assert late["verdict"][0] == ("matches" if claim == GAP else "holds")


def test_what_is_open_is_decided_at_the_next_look():
    rest = [BEHIND] * 3
    assert verdict(of(OPEN), **ORDERING) == words.INCONCLUSIVE
    assert verdict(of(OPEN, AHEAD), **ORDERING) == words.SMALL
    table = judge(of(OPEN, AHEAD, *rest[:2]), **ORDERING)
    assert (verdict_of(table.iloc[0]), table["n"][0]) == (words.SMALL, 10)
    assert len(table["runs"][0].split()) == 20


@pytest.mark.parametrize("more", [1, 4])
def test_seeds_between_two_looks_change_nothing(more):
    before, after = of(OPEN), of(OPEN, np.full(more, 50.0))
    pd.testing.assert_frame_equal(judge(before, **ORDERING), judge(after, **ORDERING))
    one, other = of(OPEN, OPEN + 0.01), of(OPEN, OPEN + 0.01, np.full(2 * more, 50.0))
    pd.testing.assert_frame_equal(judge(one, **ORDERING), judge(other, **ORDERING))


def test_a_side_with_fewer_seeds_is_seen_at_its_own_looks():
    """b has seven seeds: its last two are between looks, although a has ten."""
    gaps = np.concatenate([OPEN, np.full(5, 50.0)])
    sides = {("a", 2.0, ()): 90 + gaps, ("b", 2.0, ()): np.full(7, 90.0)}
    whole = judge(judged.found(sides), **ORDERING).iloc[0]
    assert (verdict_of(whole), whole["n"]) == (words.INCONCLUSIVE, 5)


def test_rounds_are_those_of_the_runs_that_a_look_sees():
    """The first five rise; with ten they would not."""

    def curve(method, epsilon, seed):
        return [0.1, 0.5, 0.5 + (0.01 + 0.001 * seed if seed < 5 else -0.1)]

    whole = judge(exact(curve, seeds=10, a=90, b=90), **OVER_ROUNDS).iloc[0]
    assert (verdict_of(whole), whole["n"]) == (words.HOLDS, 5)


def test_printed_numbers_have_looks_of_their_own_and_name_their_runs():
    """That of a is decided with five seeds, that of b with ten; both are of one claim."""
    values = {
        ("a", 2.0, ()): 90 + 0.1 * np.tile(SHAPE, 2),
        ("b", 2.0, ()): 90 + 0.9 * np.tile(SHAPE, 2),
    }
    numbers = printed([("row", "a", 2.0, 90.0), ("row", "b", 2.0, 90.0)])
    numbers["runs"] = [" ".join(f"{m}-2-{seed}" for seed in range(10)) for m in "ab"]
    found = judged.found(values, printed=numbers).printed
    assert found["n"].tolist() == [5, 10]
    assert found["verdict"].tolist() == ["matches", "matches"]
    assert [len(own.split()) for own in found["runs"]] == [5, 10]
    claim = {"kind": "number", "table": "table 1", "row": "row", "method": "b"}
    whole = judge(judged.found(values, printed=numbers), **claim).iloc[0]
    assert (whole["n"], len(whole["runs"].split())) == (10, 10)


def test_holm_and_the_interval_of_a_pair_have_the_level_of_a_look():
    differences = {"a": AHEAD, "b": OPEN, "c": OPEN[::-1] + 0.1}
    found = verdicts.family(differences, Ordering(1.0))
    p = {name: stats.ttest_1samp(own, 0).pvalue for name, own in differences.items()}
    assert found["a"].p_holm == pytest.approx(3 * COST * p["a"])
    assert found["b"].interval == verdicts.interval(OPEN, LOOK)


def test_a_p_just_above_the_level_of_a_look_is_open():
    """At 5 % it would be told: t with four degrees of freedom has p = .03 here."""
    t = stats.t.isf(0.03 / 2, 4)
    gaps = SHAPE + t * SHAPE.std(ddof=1) / np.sqrt(5)
    assert stats.ttest_1samp(gaps, 0).pvalue == pytest.approx(0.03)
    assert verdict(of(gaps), **ORDERING) == words.INCONCLUSIVE


def test_a_pair_by_itself_has_the_interval_of_a_claim_on_it():
    for gaps in (OPEN, FIRST_AHEAD, np.concatenate([OPEN, AHEAD])):
        evidence = of(gaps)
        sides = [evidence.runs[evidence.runs["method"] == m] for m in "ab"]
        alone = pairing.alone(*sides, 2.0, Ordering(1.0)).interval
        row = judge(evidence, **ORDERING).iloc[0]
        assert [alone.n, alone.low, alone.high] == [
            row[key] for key in ("n", "difference_low", "difference_high")
        ]


def test_a_failed_run_makes_pairs_fewer_and_no_look_another():
    evidence = of(OPEN, AHEAD)
    lost = evidence.runs["trained"] & ~evidence.runs["run"].isin(["a-2-7"])
    whole = judge(replace(evidence, runs=evidence.runs.assign(trained=lost)), **ORDERING).iloc[0]
    assert (whole["n"], whole["failed"]) == (9, 1)


def test_a_cell_beside_a_printed_number_is_open_at_five_and_decided_at_ten():
    runs = of(OPEN, OPEN).runs
    own = runs[runs["method"] == "a"]
    study = {"margin": 1.0, "demonstrates": False}
    few, more = (published.judged(study, own[:n], 90.2) for n in (5, 10))
    assert (few["verdict"], more["verdict"], more["n"]) == ("open", "matches", 10)


REPEATS = 60_000
EFFECTS = (0.0, 0.5, 1.0, 1.5, 2.0)


@pytest.fixture(scope="module")
def simulated():
    """By effect: p of the t-tests at every look, and of one at five seeds, for many studies."""
    rng, found = np.random.default_rng(9), {}
    noise = rng.standard_normal((REPEATS, 20), dtype=np.float32)
    for effect in EFFECTS:
        values = noise + effect
        found[effect] = []
        for n in looks.SEEDS:
            own = values[:, :n]
            t = own.mean(1) / own.std(1, ddof=1) * np.sqrt(n)
            found[effect].append(2 * stats.t.sf(abs(t), n - 1))
    return {effect: np.array(p) for effect, p in found.items()}


def near(share, expected):
    """Four standard errors of a simulation, and half a unit of the last digit that is printed."""
    error = np.sqrt(expected * (1 - expected) / REPEATS)
    return abs(share - expected) <= 4 * error + 0.0005


def table(head):
    page = Path(__file__).parents[2] / "docs/statistics.md"
    return markdown_tables.read(page.read_text(encoding="utf-8"), f"{head} |")


def test_error_power_and_mean_n_are_as_the_docs_say(simulated):
    lines = [list(map(float, line)) for line in table("true effect")[1]]
    assert tuple(line[0] for line in lines) == EFFECTS
    for effect, fixed, taken, mean in lines:
        told = simulated[effect] <= 1 - looks.LEVEL
        first = np.where(told.any(0), np.array(looks.SEEDS)[told.argmax(0)], looks.SEEDS[-1])
        assert near(told.any(0).mean(), taken / 100)
        assert near((simulated[effect][0] <= 0.05).mean(), fixed / 100)
        assert mean == pytest.approx(first.mean(), abs=0.1)


def test_families_have_slightly_more_than_5_percent_as_the_docs_say(simulated):
    """The bound is m times the share of studies in which a test at a m-th of the level errs."""
    (_, *tests), [(_, *bounds)] = table("tests in the family")
    assert tests == ["1", "2", "3", "6"]
    for m, bound in zip(map(int, tests), map(float, bounds), strict=True):
        share = (simulated[0.0] <= (1 - looks.LEVEL) / m).any(0).mean()
        assert near(share, bound / 100 / m)
