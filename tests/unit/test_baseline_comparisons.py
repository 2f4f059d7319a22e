"""Comparisons with a baseline: every other value, judged together."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from synthetic import cell
from tabled import budget_study, row, spending

from dpfl.base.errors import UserError
from dpfl.tables import comparisons
from dpfl.words.vocabulary import NOT_RUN


def test_a_baseline_is_compared_with_every_other_value(tmp_path: Path) -> None:
    _, _, compared, _ = budget_study(tmp_path)
    assert len(comparisons.whole(compared)) == 2 * 3 * 2
    assert len(compared) == 4 * 2 * 3 * 2
    assert set(compared["worse"]) == {"sgd, budget=uniform", "adam, budget=uniform"}
    assert set(compared["clip_norm"]) == {0.5, 1.0} and compared["budget"].isna().all()

    def means(budget: str) -> np.ndarray:
        own = [cell("adam", e, 6, budget=budget, clip_norm=1.0) for e in (2.0, 8.0)]
        return 100 * np.mean([[spending(c, s) for c in own] for s in range(6)], axis=1)

    own = row(compared, better="adam, budget=decay", clip_norm=1.0, part="pooled")
    expected = stats.ttest_rel(means("decay"), means("uniform"))
    assert own["p"] == pytest.approx(expected.pvalue)
    assert own["difference"] == pytest.approx(np.mean(means("decay") - means("uniform")))
    assert own["n"] == 6 and np.isnan(own["epsilon"])


def test_holm_is_over_all_comparisons_with_the_baseline(tmp_path: Path) -> None:
    _, _, compared, _ = budget_study(tmp_path)
    own = comparisons.whole(compared).sort_values("p")
    raw = own["p"].to_numpy() * np.arange(len(own), 0, -1)
    assert own["p_holm"].to_numpy() == pytest.approx(np.maximum.accumulate(raw.clip(max=1)))


def test_a_pair_without_a_common_budget_is_not_run_and_takes_nothing(tmp_path: Path) -> None:
    made, runs, *_ = budget_study(tmp_path)
    lacks = (runs["method"] == "adam") & (runs["budget"] == "uniform")
    found = comparisons.comparisons(made, runs[~lacks])
    gone = found[found["better"].str.startswith("adam")]
    assert set(gone["needs"]) == {NOT_RUN.needs} and set(gone["n"]) == {0}
    assert len(gone) == 2 * 3
    own = comparisons.whole(found).query("n > 0").sort_values("p")
    raw = own["p"].to_numpy() * np.arange(len(own), 0, -1)
    assert own["p_holm"].to_numpy() == pytest.approx(np.maximum.accumulate(raw.clip(max=1)))


def test_a_study_without_a_baseline_compares_nothing(tmp_path: Path) -> None:
    made, runs, _, _ = budget_study(tmp_path, seeds=1)
    missing = {key: value for key, value in made.items() if key != "baseline"}
    for asked in (made | {"baseline": {}}, missing):
        assert len(comparisons.comparisons(asked, runs)) == 0


def test_a_baseline_that_is_not_run_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"budget=uniforn, expected one of uniform, decay, growth"):
        budget_study(tmp_path, seeds=1, baseline={"budget": "uniforn"})


def test_a_baseline_may_be_a_number(tmp_path: Path) -> None:
    _, _, compared, _ = budget_study(tmp_path, baseline={"clip_norm": 1})
    assert set(compared["worse"]) == {"sgd, clip_norm=1.0", "adam, clip_norm=1.0"}
    assert len(comparisons.whole(compared)) == 2 * 4 and (compared["n"] == 6).all()
