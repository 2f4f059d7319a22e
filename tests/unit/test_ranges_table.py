"""The table of learning rates: good ranges, and what fails beside them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import synthetic
from refusals import refuses
from synthetic import cell, study
from tabled import row

from dpfl.tables import ranges, results

GRID = [0.0001, 0.001, 0.01, 0.1, 1.0, 10.0]


def rate_study(tmp_path: Path, validation: dict[str, list], diverged: tuple = ()):
    """Write one run per method and rate with these validation accuracies in percent."""
    cells = [cell(m, 4.0, 1, rate=g) for m in validation for g in GRID]

    def outcome(own: dict, seed: int) -> dict:
        at = GRID.index(own["variant"]["rate"])
        value = validation[own["method"]][at]
        bad = (own["method"], at) in diverged
        final = None if value is None else value / 100
        return {"final_validation_accuracy": final, "diverged": bad}

    synthetic.write(tmp_path, cells, outcome)
    made = study(cells, name="rates", kind="rates")
    return made, results.frame(made, tmp_path)


def test_rates_are_classified(tmp_path: Path) -> None:
    validation = {"sgd": [11, 40, 94.5, 96, 30, 10], "adam": [95, 96, 96, 95, 80, 90]}
    made, runs = rate_study(tmp_path, validation, diverged=(("adam", 5),))
    table = ranges.classified(made, runs)
    states = {m: table.loc[table["method"] == m, "state"].tolist() for m in validation}
    assert states["sgd"] == ["crawls", "crawls", "good", "good", "unstable", "diverges"]
    assert states["adam"] == ["good", "good", "good", "good", "fair", "diverges"]
    sgd, adam = (row(ranges.ranges(made, runs), method=m) for m in validation)
    assert (sgd["best_rate"], sgd["good_low"], sgd["good_high"]) == (0.1, 0.01, 0.1)
    assert sgd["width_decades"] == pytest.approx(1.0)
    assert (sgd["rates"], sgd["trials"], sgd["edge"]) == (6, 6, "")
    assert (sgd["diverging"], sgd["unstable"], sgd["crawling"]) == (1, 1, 2)
    assert (adam["best_rate"], adam["edge"]) == (0.001, "lower")
    assert adam["width_decades"] == pytest.approx(3.0)


def test_the_good_range_has_no_gap(tmp_path: Path) -> None:
    made, runs = rate_study(tmp_path, {"sgd": [95, 80, 96, 95, 80, 95]})
    own = ranges.ranges(made, runs).iloc[0]
    assert (own["good_low"], own["good_high"], own["edge"]) == (0.01, 0.1, "")


def test_an_optimizer_that_never_trains_has_no_good_range(tmp_path: Path) -> None:
    made, runs = rate_study(tmp_path, {"sgd": [10, 11, 10, None, 10, 9]})
    own = ranges.ranges(made, runs).iloc[0]
    assert pd.isna(own[["good_low", "good_high", "width_decades"]]).all()
    assert own["diverging"] + own["crawling"] == 6


def test_an_optimizer_far_below_the_others_has_no_good_range(tmp_path: Path) -> None:
    made, runs = rate_study(tmp_path, {"sgd": [16, 17, 17, 16, 16, 16], "adam": [90] * 6})
    sgd, adam = (row(ranges.ranges(made, runs), method=m) for m in ("sgd", "adam"))
    assert (sgd["crawling"], sgd["unstable"], sgd["diverging"]) == (6, 0, 0)
    assert np.isnan(sgd["width_decades"]) and adam["width_decades"] == pytest.approx(5.0)
    assert adam["edge"] == "lower and upper"


def test_rates_need_a_validation_split(tmp_path: Path) -> None:
    made, runs = rate_study(tmp_path, {"sgd": [None] * 6})
    refuses("held out", ranges.ranges, made, runs)


def test_rates_of_one_optimizer_over_two_keys_are_two_lines(tmp_path: Path) -> None:
    keys = {"adabound": "lr", "adabound-final": "final_lr"}
    cells = [cell(method, 4.0, 1, rate=g) for method in keys for g in GRID]
    common = {"final_validation_accuracy": 0.9, "algorithm": "adabound"}
    synthetic.write(tmp_path, cells, lambda c, s: {**common, "rate_key": keys[c["method"]]})
    made = study(cells, kind="rates")
    table = ranges.ranges(made, results.frame(made, tmp_path))
    assert dict(zip(table["method"], table["rate_key"], strict=True)) == keys
    assert set(table["algorithm"]) == {"adabound"}
