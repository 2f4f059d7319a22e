"""Sentences follow the numbers: change the number, and the sentence changes with it."""

import math

import numpy as np
import pandas as pd
import pytest
from synthetic import cell, study

from dpfl.report import forms, narrative, rate_words, verdict_words
from dpfl.tables import cell_words, comparisons, ranges, study_table

INF = math.inf


def cells_of(*rows: dict) -> pd.DataFrame:
    """Return a table of cells; what a row leaves out is an ordinary private cell."""
    usual = {
        "study": "main",
        "dataset": "mnist",
        "method": "sgd",
        "certified": True,
        "variant": "",
        "epsilon": 2.0,
        "delta": 1e-5,
        "n": 5,
        "accuracy_mean": 95.0,
        "ci_low": 94.8,
        "ci_high": 95.2,
        "sd": 0.1,
        "diverged": 0,
        "eps_claimed": 2.0,
        "eps_certified": 1.99,
        "eps_audited": np.nan,
        "audit_ceiling": np.nan,
        "audit_level": np.nan,
        "audit_estimator": "",
        "audit_status": "not audited",
        "audit_broken": "",
        "audit_blind": "",
        "privacy": "consistent",
        "privacy_reasons": "",
        "reasons": "",
        "unit": "example",
        "adjacency": "add-or-remove-one",
        "accountant": "pld",
        "noise": "seeded",
        "rate": "lr=0.1",
        "r": np.nan,
        "regime": "",
        "clipped_below": np.nan,
        "clipped_above": np.nan,
        "published": "",
        "verdict": "",
    }
    filled = [usual | {"label": r.get("method", "sgd"), "trained": r.get("n", 5)} | r for r in rows]
    settings = dict.fromkeys(key for row in rows for key in row if key not in study_table.COLUMNS)
    return pd.DataFrame(filled, columns=[*study_table.COLUMNS, *settings])


def compared_of(*rows: dict) -> pd.DataFrame:
    usual = {
        "study": "main",
        "dataset": "mnist",
        "kind": "baseline",
        "better": "adam",
        "worse": "sgd",
        "variant": "",
        "part": "overall",
        "epsilons": "2 8",
        "failed": 0,
        "tuning": "alike",
        "n": 5,
        "difference": 0.4,
        "ci_low": 0.1,
        "ci_high": 0.7,
        "p": 0.01,
        "p_holm": 0.03,
        "verdict": "gains",
        "better_certified": True,
        "worse_certified": True,
    }
    return pd.DataFrame([usual | r for r in rows], columns=comparisons.COLUMNS)


def main(dataset: str = "mnist", **extra) -> dict:
    return study([cell("sgd", 2.0, 2)], dataset=dataset, **extra)


def test_words_are_joined_and_counted() -> None:
    assert forms.listed(["a"]) == "a"
    assert forms.listed(["a", "b", "c"]) == "a, b and c"
    assert forms.listed([]) == "none"
    assert (forms.counted(1, "run"), forms.counted(0, "run")) == ("1 run", "0 runs")


def test_a_comparison_with_an_unproven_side_is_no_comparison_at_equal_privacy() -> None:
    [text] = verdict_words.changes(main(), compared_of({"better_certified": False}))
    assert text.endswith("Not certified, so not at equal privacy: adam.")


def test_a_demonstration_judges_nothing() -> None:
    compared = compared_of({"verdict": "demonstration"})
    assert verdict_words.changes(main("digits", demonstrates=True), compared) == []
    text = verdict_words.demonstration(main("digits"))
    assert (
        "A demonstration on handwritten digits" in text and "no published claim is judged" in text
    )


def test_a_comparison_carries_interval_n_and_p() -> None:
    [text] = verdict_words.changes(main(), compared_of({}))
    assert text == (
        "adam against sgd, at each of ε = 2 and 8, of which the one that says least has: +0.40 "
        "points [+0.10, +0.70] (n = 5, p = 0.03 after Holm): gains, for the whole interval lies "
        "above zero."
    )
    [text] = verdict_words.changes(main(), compared_of({"part": "pooled", "failed": 1}))
    assert text.startswith("adam against sgd, pooled over ε = 2 and 8, which decides nothing: +0.")
    assert text.endswith(" 1 run failed: compared are the pairs in which both trained.")
    [text] = verdict_words.changes(main(), compared_of({"epsilons": "2"}))
    assert text.startswith("adam against sgd, at ε = 2: +0.40 points")
    [text] = verdict_words.changes(main(), compared_of({"p_holm": 1e-9}))
    assert "(n = 5, p < 0.0001 after Holm)" in text


def test_a_comparison_of_one_seed_or_none() -> None:
    nothing = {"ci_low": np.nan, "ci_high": np.nan, "p": np.nan, "p_holm": np.nan}
    few = nothing | {"n": 1, "verdict": "too few seeds"}
    one, none = verdict_words.changes(
        main(), compared_of(few, few | {"difference": np.nan, "n": 0})
    )
    assert "(n = 1)" in one and "[" not in one and "Holm" not in one
    assert none == "adam against sgd: no seed has both; too few seeds."


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


def test_privacy_sets_three_epsilons_side_by_side() -> None:
    unproven = {
        **{"eps_certified": np.nan, "privacy": "unproven", "reasons": "clips after the noise"},
        **{"eps_audited": 1.319, "audit_ceiling": 4.9, "audit_level": 0.05},
        **{"audit_status": "audited", "audit_estimator": "one run, top calls"},
    }
    free = {"epsilon": INF, "eps_claimed": INF, "eps_certified": INF, "privacy": "no claim"}
    more = unproven | {"epsilon": 8.0, "eps_claimed": 8.0}
    proven, not_proven, eight, why = narrative.privacy(cells_of({}, unproven, free, more))
    assert proven == (
        "Claimed ε = 2: certified at most 1.99 (pld, add-or-remove-one, unit example); "
        "audit: not audited; consistent in 1 cell."
    )
    assert "no certificate for sgd; audit: ≥ 1.31 (ceiling 4.9), level 0.05, one" in not_proven
    assert not_proven.endswith("unproven in 1 cell.")
    assert eight.startswith("Claimed ε = 8: no certificate for sgd;")
    assert why == "No proof of sgd: clips after the noise."


def test_privacy_tells_why_a_budget_is_refuted_and_what_no_audit_sees() -> None:
    usual = {"privacy": "certificate refuted", "audit_status": "audited", "audit_level": 0.01}
    why = {"privacy_reasons": "audited above what is certified"}
    cells = [usual | why | {"method": m, "eps_audited": e} for m, e in (("a", 2.5), ("b", 3.5))]
    blind = {"method": "c", "audit_status": "blind", "audit_blind": "It sees a part only."}
    refuted, rest, unseen = narrative.privacy(cells_of(*cells, blind))
    assert "audit: ≥ 3.5 of b, the largest of 2, level 0.02" in refuted
    assert refuted.endswith("certificate refuted in 2 cells: audited above what is certified.")
    assert "audit: blind; consistent in 1 cell." in rest
    assert unseen == "Not seen by an audit of c: It sees a part only."


def test_each_unit_says_whom_it_protects() -> None:
    [example] = narrative.units(cells_of({}))
    assert "one training example of one client" in example
    assert "1/(examples of a client)" in example and "no privacy for a whole client" in example
    [client] = narrative.units(cells_of({"unit": "client"}))
    assert "a whole client, added or removed" in client and "1/clients" in client
    assert "trusted" in client and "share no column" in client
    assert narrative.units(cells_of({"eps_claimed": INF})) == []


def test_notes_on_privacy_are_told_once_for_all_studies() -> None:
    tables = [cells_of({}), cells_of({}, {"unit": "example"}), cells_of({"unit": "client"})]
    units = [line for line in narrative.notes(tables) if line.startswith("Unit ")]
    assert len(units) == 2 and len(narrative.notes(tables)) == 3
    assert narrative.notes([cells_of({"eps_claimed": INF})]) == ["No run of this scale is private."]


def test_scope_tells_epsilons_of_whole_clients() -> None:
    made = study([cell("sgd", 2.0, 5)])
    assert "at ε = 2: 1 cell" in narrative.scope(made, cells_of({}))
    assert "at ε = 2 per client: 1 cell" in narrative.scope(made, cells_of({"unit": "client"}))


def test_assumptions_follow_the_noise() -> None:
    assert "secret seed" in narrative.assumptions(cells_of({}))[0]
    [text] = narrative.assumptions(cells_of({"noise": "secure"}))
    assert "seed" not in text and "ideal Gaussian" in text
    assert narrative.assumptions(cells_of({"eps_claimed": INF})) == []


def test_selection_is_never_paid_for() -> None:
    assert "study rates" in narrative.selection(main(tuned_by="rates"))
    for made in (main(), main(kind="rates"), main(tuned_by="rates")):
        assert "o ε" in narrative.selection(made) and "pay" in narrative.selection(made)


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


def test_the_rules_name_the_margin_in_force() -> None:
    text = " ".join(verdict_words.rules(2.0))
    assert "The margin is 2 points" in text and "below n = 5" in text
    assert (
        "no difference if the whole interval lies within half the margin, 1 point, of zero" in text
    )


def test_the_rules_of_a_kind_are_told_by_its_own_file() -> None:
    told = verdict_words.of_kinds(["ordering", "number"])
    assert list(told) == ["ordering", "number"]
    assert "the lower end is above half the margin" in told["ordering"]
    assert "the interval lies wholly outside the band" in told["number"]
