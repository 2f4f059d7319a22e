"""Claims that several studies judge, and studies of another paper."""

from statistics import fmean

import pandas as pd

from dpfl.judging import records
from dpfl.runs import kept_runs


def test_each_study_judges_a_claim_by_its_own_runs(root, derived):
    """The rise over ε on both data sets, by hand; a study that the scale lacks has no row."""
    claims = pd.read_csv(derived / "meng2023" / "mnist" / "claims" / "claims.csv")
    own = claims[(claims["claim"] == "noise-lowers-accuracy") & (claims["part"] == "overall")]
    found = dict(zip(own["study"], own["difference"], strict=True))
    assert list(found) == ["cadabelief", "cadabelief-fashion"]
    rows = kept_runs.rows(root / "results/reference/meng2023/mnist")
    for study, dataset in (("cadabelief", "mnist"), ("cadabelief-fashion", "fashion-mnist")):
        low, high = (mean(rows, dataset, epsilon) for epsilon in (2.0, 8.0))
        assert abs(found[study] - (high - low)) < 1e-9


def mean(rows, dataset, epsilon):
    """Return the mean test accuracy of CAdabelief's five final runs, percent."""
    own = [
        100 * row["final_test_accuracy"]
        for row in rows
        if row["settings"]["dataset"] == dataset
        and row["settings"]["epsilon"] == epsilon
        and row["settings"]["optimizer"]["algorithm"] == "cadabelief"
        and row["settings"]["optimizer"]["rate_key"] == "lr"
        and row["final_validation_accuracy"] is None
    ]
    assert len(own) == 5
    return fmean(own)


def test_a_record_is_of_a_claim_and_a_study(derived, tmp_path):
    (tmp_path / "config.json").write_text('{"scale": "mnist"}', encoding="utf-8")
    judged = records.read(derived / "meng2023" / "mnist" / "claims" / "claims.csv")
    made = records.document(["meng2023"], judged, tmp_path, None)["records"]
    own = [r for r in made if r["claim"]["id"] == "noise-lowers-accuracy"]
    assert [r["claim"]["study"] for r in own] == ["cadabelief", "cadabelief-fashion"]
    assert len({r["parts"][0]["runs"][0] for r in own}) == 2
    assert sum(r["claim"]["study"] is None for r in made) == sum(
        r["verdict"] == "not judged" for r in made
    )
