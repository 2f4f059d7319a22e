"""Sentences of a study: what ran, who is best, what diverged."""

import numpy as np
import pandas as pd
from synthetic import cell, study
from told_tables import INF, cells_of

from dpfl.report import narrative
from dpfl.words import cell_words, forms, numerals


def test_words_are_joined_and_counted() -> None:
    assert forms.listed(["a"]) == "a"
    assert forms.listed(["a", "b", "c"]) == "a, b and c"
    assert forms.listed([]) == "none"
    assert (numerals.counted(1, "run"), numerals.counted(0, "run")) == ("1 run", "0 runs")


def test_accuracy_names_the_extremes_and_whether_intervals_overlap() -> None:
    high = {"method": "adam", "accuracy_mean": 96.0, "ci_low": 95.1, "ci_high": 96.9}
    [text] = narrative.accuracy(cells_of({}, high))
    assert text == (
        "ε = 2: highest mean adam, 96.0 ± 0.9 % (n = 5); lowest sgd, 95.0 ± 0.2 % (n = 5); "
        "1.0 points apart, intervals overlap."
    )
    [text] = narrative.accuracy(cells_of({}, high | {"ci_low": 95.3, "ci_high": 96.7}))
    assert text.endswith("intervals do not overlap.")
    one = {"n": 1, "ci_low": np.nan, "ci_high": np.nan, "epsilon": INF}
    [text] = narrative.accuracy(cells_of(one, one | {"method": "adam", "accuracy_mean": 90.0}))
    assert text.startswith("without privacy: highest mean sgd, 95.0 % (n = 1)")
    assert text.endswith("without two intervals to compare.")


def test_variants_are_compared_within_a_method() -> None:
    rows = [
        {"variant": f"state={s}", "accuracy_mean": a} for s, a in (("reset", 94), ("persist", 96))
    ]
    [text] = narrative.variants(cells_of(*rows, {"method": "adam"}))
    assert text.startswith("sgd, ε = 2: highest mean state=persist, 96.0")


def test_a_cell_without_a_proof_is_named_so() -> None:
    unproven = {"method": "adam", "certified": False, "accuracy_mean": 96.0}
    [text] = narrative.accuracy(cells_of({}, unproven))
    assert text.startswith("ε = 2: highest mean adam (not certified), 96.0")


TWO = study([cell("sgd", 2.0, 5), cell("adam", 2.0, 5)])


def test_divergence_counts_runs() -> None:
    text = narrative.divergence(TWO, cells_of({}, {}))
    assert text == "The loss stayed finite in all of the 10 runs."
    text = narrative.divergence(TWO, cells_of({}, {"method": "adam", "diverged": 2}))
    assert "in 2 of 10 runs: 2 of 5 adam at ε = 2." in text


def test_a_run_of_two_cells_diverges_once() -> None:
    shared = study([cell("sgd", 2.0, 5), cell("sgd", 2.0, 5) | {"method": "twin"}])
    text = narrative.divergence(
        shared, cells_of({"diverged": 2}, {"method": "twin", "diverged": 2})
    )
    assert "in 2 of 5 runs: 2 of 5 sgd at ε = 2." in text


def test_runs_that_failed_are_told_even_if_their_loss_is_finite() -> None:
    cells = cells_of({}, {"method": "adam", "trained": 4})
    text = narrative.divergence(TWO, cells)
    assert text == (
        "The loss stayed finite in all of the 10 runs. 1 of 10 runs failed, at chance level or "
        "more than 5 points under the median of those that trained: 1 of 5 adam at ε = 2. Means "
        "and comparisons are of those that trained."
    )
    assert cell_words.mean_and_interval(cells.iloc[1]) == "95.0 ± 0.2 (4 of 5 trained)"
    assert narrative.percent(cells.iloc[1]) == "95.0 ± 0.2 % (4 of 5 trained)"


def test_regimes_tell_prediction_and_measurement() -> None:
    clipped = {"clipped_below": 0.4, "clipped_above": 0.011, "r": 0.042, "regime": "lower"}
    [text] = narrative.regimes(cells_of({}, clipped))
    assert "r = 0.042, predicted regime: lower" in text and "40.0%" in text and "1.1%" in text
    unbounded = {"method": "adam", "clipped_below": 0.0, "clipped_above": 0.0}
    free = unbounded | {"method": "sgd", "epsilon": INF}
    _, text = narrative.regimes(cells_of(clipped, free, unbounded))
    assert text == "sgd, without privacy: no coordinate was clipped at any recorded step."


def test_scope_tells_epsilons_of_whole_clients() -> None:
    made = study([cell("sgd", 2.0, 5)])
    assert "at ε = 2: 1 cell" in narrative.scope(made, cells_of({}))
    assert "at ε = 2 per client: 1 cell" in narrative.scope(made, cells_of({"unit": "client"}))


def test_anchors_compare_the_best_mean_at_equal_epsilon_and_delta() -> None:
    published = pd.DataFrame(
        [
            {
                "dataset": d,
                "model": "CNN",
                "epsilon": e,
                "delta": 1e-5,
                "accuracy": 96.1,
                "source": "a paper",
            }
            for d, e in (("mnist", 2.0), ("mnist", 3.0), ("cifar10", 2.0))
        ]
    )
    unproven = {"method": "fsdp-central", "accuracy_mean": 97.0, "eps_certified": np.nan}
    cells = cells_of({}, {"method": "adam", "accuracy_mean": 95.6}, unproven)
    [text] = narrative.anchors(cells, published)
    assert text == (
        "ε = 2: CNN 96.10 % (a paper); best certified mean here 95.60 % (adam, n = 5), "
        "0.50 points below."
    )
    assert narrative.anchors(cells.assign(delta=1e-6), published) == []
    assert narrative.anchors(cells.assign(unit="client"), published) == []
