"""Sentences on privacy: three epsilons, whom they protect, what is assumed."""

import numpy as np
from told_tables import INF, cells_of, main

from dpfl.report import privacy_words


def test_privacy_sets_three_epsilons_side_by_side() -> None:
    unproven = {
        **{"eps_certified": np.nan, "privacy": "unproven", "reasons": "clips after the noise"},
        **{"eps_audited": 1.319, "audit_ceiling": 4.9, "audit_level": 0.05},
        **{"audit_status": "audited", "audit_estimator": "one run, top calls"},
    }
    free = {"epsilon": INF, "eps_claimed": INF, "eps_certified": INF, "privacy": "no claim"}
    more = unproven | {"epsilon": 8.0, "eps_claimed": 8.0}
    proven, not_proven, eight, why = privacy_words.privacy(cells_of({}, unproven, free, more))
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
    refuted, rest, unseen = privacy_words.privacy(cells_of(*cells, blind))
    assert "audit: ≥ 3.5 of b, the largest of 2, level 0.02" in refuted
    assert refuted.endswith("certificate refuted in 2 cells: audited above what is certified.")
    assert "audit: blind; consistent in 1 cell." in rest
    assert unseen == "Not seen by an audit of c: It sees a part only."


def test_the_level_counts_the_cells_among_which_a_verdict_was_picked() -> None:
    """One of twenty claims that all are exactly true is refuted by luck in every second study."""
    bound = {"eps_certified": np.nan, "audit_status": "audited", "audit_level": 0.05}
    rest = [bound | {"method": f"m{i}", "privacy": "unproven", "eps_audited": 1} for i in range(9)]
    lucky = bound | {"method": "lucky", "privacy": "refuted", "eps_audited": 2.1}
    told = privacy_words.privacy(cells_of(*rest, lucky))
    assert [line for line in told if "refuted in 1 cell" in line and "level 0.5" in line]


def test_each_unit_says_whom_it_protects() -> None:
    [example] = privacy_words.units(cells_of({}))
    assert "one training example of one client" in example
    assert "1/(examples of a client)" in example and "no privacy for a whole client" in example
    [client] = privacy_words.units(cells_of({"unit": "client"}))
    assert "a whole client, added or removed" in client and "1/clients" in client
    assert "trusted" in client and "share no column" in client
    assert privacy_words.units(cells_of({"eps_claimed": INF})) == []


def test_notes_on_privacy_are_told_once_for_all_studies() -> None:
    tables = [cells_of({}), cells_of({}, {"unit": "example"}), cells_of({"unit": "client"})]
    units = [line for line in privacy_words.notes(tables) if line.startswith("Unit ")]
    assert len(units) == 2 and len(privacy_words.notes(tables)) == 3
    assert privacy_words.notes([cells_of({"eps_claimed": INF})]) == [
        "No run of this scale is private."
    ]


def test_assumptions_follow_the_noise() -> None:
    assert "secret seed" in privacy_words.assumptions(cells_of({}))[0]
    [text] = privacy_words.assumptions(cells_of({"noise": "secure"}))
    assert "seed" not in text and "ideal Gaussian" in text
    assert privacy_words.assumptions(cells_of({"eps_claimed": INF})) == []


def test_selection_is_never_paid_for() -> None:
    assert "study rates" in privacy_words.selection(main(tuned_by="rates"))
    for made in (main(), main(kind="rates"), main(tuned_by="rates")):
        assert "o ε" in privacy_words.selection(made) and "pay" in privacy_words.selection(made)
