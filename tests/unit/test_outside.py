"""Results of other software: judged as ours are, refused with the line where they cannot be."""

import numpy as np
import pytest
from closed_forms import LOOK
from refusals import refuses
from scipy import stats

from dpfl.judging.outside import Outside
from dpfl.words.vocabulary import AS_STATED, in_words

HEAD = "method,epsilon,seed,accuracy,dataset,failed"


def asked(folder, *rows, worse=("old",)):
    (folder / "mine.csv").write_text("\n".join([HEAD, *rows]))
    return Outside(folder / "mine.csv", "new", worse, 1.0)


def runs(method, accuracies, epsilon=2, data="pictures"):
    return [f"{method},{epsilon},{n},{a},{data}," for n, a in enumerate(accuracies)]


def verdicts(folder, *rows, **more):
    judged = asked(folder, *rows, **more).judged()
    return {data: [in_words(row) for row in found] for data, found in judged.items()}


def test_a_difference_has_the_paired_interval_of_students_t(tmp_path):
    ours, theirs = [90.0, 91.5, 90.5, 90.2, 90.9], [88.0, 89.0, 88.4, 88.1, 88.6]
    [(_, part)] = asked(tmp_path, *runs("new", ours), *runs("old", theirs)).judged().values()
    gaps = np.subtract(ours, theirs)
    ends = stats.t.interval(LOOK, 4, gaps.mean(), stats.sem(gaps))
    assert [part["difference_low"], part["difference_high"]] == pytest.approx(ends)
    assert part["p"] == pytest.approx(stats.ttest_rel(ours, theirs).pvalue)


def test_seeds_after_the_look_that_decides_change_nothing(tmp_path):
    ours, theirs = [90.0, 91.5, 90.5, 90.2, 90.9], [88.0, 89.0, 88.4, 88.1, 88.6]
    five = asked(tmp_path, *runs("new", ours), *runs("old", theirs)).judged()
    more = [*runs("new", ours + [10] * 15), *runs("old", theirs + [90] * 15)]
    twenty = asked(tmp_path, *more).judged()
    keys = ("verdict", "n", "difference", "p_holm")
    found = [[[row[key] for key in keys] for row in own["pictures"]] for own in (five, twenty)]
    assert found[0] == found[1] and found[0][0][:2] == ["holds", 5]


def test_every_epsilon_and_every_rival_decide_and_data_sets_are_judged_apart(tmp_path):
    five = np.linspace(80, 81, 5)
    rows = [line for e in (2, 8) for line in runs("new", five, e) + runs("old", five - 2, e)]
    rows += [*runs("new", five, 2, "texts"), *runs("old", five + 2, 2, "texts")]
    first = {data: own[0] for data, own in verdicts(tmp_path, *rows).items()}
    assert first == {"pictures": "holds, if ε is as stated", "texts": "opposite"}
    rows += runs("best", five + 2, 2) + runs("best", five + 2, 8)
    both = verdicts(tmp_path, *rows[:20], *rows[-10:], worse=("old", "best"))
    assert both["pictures"][0] == "does not hold"
    free = [*runs("new", five, "inf"), *runs("old", five - 2, "inf")]
    assert set(verdicts(tmp_path, *free)["pictures"]) == {"holds"}


def test_few_seeds_and_an_epsilon_of_one_side_are_open_and_a_failed_run_counts(tmp_path):
    few = verdicts(tmp_path, *runs("new", [90, 91]), *runs("old", [80, 81]))
    assert few["pictures"] == ["open: needs enough seeds"] * 2
    apart = verdicts(tmp_path, *runs("new", [90] * 5), *runs("old", [80] * 5, "inf"))
    assert apart["pictures"][-1] == "open: needs runs of it"
    failed = [f"old,2,{seed},,pictures,true" for seed in range(5)]
    assert verdicts(tmp_path, *runs("new", range(90, 95)), *failed)["pictures"][0][:5] == "holds"


def test_records_fit_the_schema_and_say_that_privacy_is_as_stated(tmp_path):
    both = asked(tmp_path, *runs("new", [90] * 5), *runs("old", [89] * 5))
    made = both.document(both.judged(), None)
    assert made["records"][0]["privacy"] == AS_STATED


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("new,2,0,900,a,", r"line 2: accuracy is 900.0; it must be a number in \[0, 100\]"),
        ("new,-2,0,90,a,", "line 2: epsilon is -2.0; it must be a finite number > 0"),
        ("new,2,one,90,a,", "line 2: seed is 'one'"),
        ("new,2,0,90,a,maybe", "line 2: failed is 'maybe'; it must be true or false"),
        (",2,0,90,a,", "line 2: method is empty"),
        ("new,2,0,90,a,\nnew,2,0,91,a,", "line 3: says again what line 2 says"),
        ("new,2,0,90,a,\nold,2,1,90,a,", "new has seeds 0 at epsilon 2, old has not"),
        ("new,2,0,90,a,", "no method 'old'"),
        ("new,2,0,0.9,a,\nold,2,0,0.8,a,", "no accuracy is above 1, expected percent"),
        ("", "no run, expected a row for each"),
    ],
)
def test_what_cannot_be_judged_is_refused_with_its_line(row, says, tmp_path):
    refuses(f"mine.csv.*{says}", asked(tmp_path, row).judged)
