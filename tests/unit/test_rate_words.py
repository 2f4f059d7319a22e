"""Sentences about learning rates: what each table of ranges says."""

import numpy as np
import pandas as pd
import pytest

from dpfl.report import rate_words
from dpfl.tables import ranges


def ranges_of(*rows: dict) -> pd.DataFrame:
    usual = {
        "study": "rates",
        "dataset": "mnist",
        "method": "sgd",
        "label": "sgd",
        "certified": True,
        "variant": "",
        "rate_key": "lr",
        "epsilon": 4.0,
        "algorithm": "sgd",
        "best_rate": 0.1,
        "best_validation_accuracy": 96.0,
        "rates": 7,
        "diverging": 1,
        "unstable": 0,
        "crawling": 2,
        "good_low": 0.01,
        "good_high": 0.1,
        "width_decades": 1.0,
        "edge": "",
        "trials": 7,
    }
    filled = [usual | {"label": r.get("method", "sgd"), "trained": r.get("n", 5)} | r for r in rows]
    settings = dict.fromkeys(key for row in rows for key in row if key not in ranges.COLUMNS)
    return pd.DataFrame(filled, columns=[*ranges.COLUMNS, *settings])


def test_robustness_tells_what_happens_at_the_other_rates() -> None:
    [text] = rate_words.each(ranges_of({}))
    assert text == (
        "sgd over learning rates (ε = 4): best at 0.1 with 96.0 %; good from 0.01 to 0.1, 1.0 "
        "decades; of its 7 rates, 1 diverging, 0 unstable, 2 crawling."
    )
    [text] = rate_words.each(ranges_of({"edge": "upper"}))
    assert "1.0 decades at least" in text
    [text] = rate_words.each(ranges_of({"width_decades": np.nan}))
    assert "no good range" in text


def test_widest() -> None:
    other = {"method": "adam", "width_decades": 3.0, "edge": "lower"}
    assert rate_words.widest(ranges_of({}, other)) == (
        "Widest good range, in decades: adam over learning rates (ε = 4) with at least 3.0; "
        "narrowest: sgd over learning rates (ε = 4) with 1.0."
    )
    same = rate_words.widest(ranges_of({}, other | {"width_decades": 1.001, "edge": ""}))
    both = "sgd over learning rates (ε = 4) and adam over learning rates (ε = 4)"
    assert same == f"Width of the good range, in decades: {both} with 1.0."
    assert rate_words.widest(ranges_of({"width_decades": np.nan})).startswith("No optimizer")
    assert "one rate" in rate_words.widest(ranges_of({"width_decades": 0.0, "edge": "upper"}))


@pytest.mark.parametrize(
    ("final", "edge", "says"),
    [
        (1.0, "", "more robust than it is"),
        (1.0, "upper", "may be wider"),
        (3.0, "", "no more robust"),
    ],
)
def test_a_grid_over_alpha_alone(final: float, edge: str, says: str) -> None:
    both = [
        {"algorithm": "cadabelief", "rate_key": k, "width_decades": w, "edge": edge}
        for k, w in (("lr", 2.5), ("final_lr", final))
    ]
    [text] = rate_words.inert(ranges_of({}, *both))
    assert says in text and text.startswith("cadabelief, ε = 4: 2.5 decades over learning rates,")


def test_unequal_effort_is_told() -> None:
    assert rate_words.fairness(ranges_of({}, {})).startswith("Every line has the same effort")
    text = rate_words.fairness(ranges_of({}, {"method": "adam", "trials": 14}))
    assert (
        text.startswith("The number of trials is not the same")
        and "adam over learning rates (ε = 4): 14" in text
    )
