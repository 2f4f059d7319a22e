"""Privacy on pages: three epsilons of every cell, why some have none, whom they protect."""

import numpy as np
import pandas as pd
import pytest

from dpfl.report import layout, privacy
from dpfl.tables import results

USUAL = dict.fromkeys((*results.declared("cells"), "variant"), "") | {
    **{"method": "sgd", "label": "sgd", "certified": True, "n": 5, "trained": 5},
    **{"epsilon": 2.0, "eps_claimed": 2.0, "eps_accounted": 2.0, "eps_certified": 1.99},
    **{"eps_audited": np.nan, "audit_ceiling": np.nan, "audit_level": np.nan},
    **{"audit_status": "not audited", "privacy": "proven", "unit": "example"},
    **{"accountant": "pld", "edge": ""},
}

NO_PROOF = {
    **{"eps_certified": np.nan, "privacy": "no proof", "reasons": "clips after the noise"},
    **{"eps_audited": 1.319, "audit_ceiling": 4.9, "audit_level": 0.05},
    **{"audit_status": "audited", "audit_estimator": "one run, top calls"},
}


def cells_of(*rows: dict) -> pd.DataFrame:
    """Return a table of cells; what a row leaves out is an ordinary private cell."""
    return pd.DataFrame([USUAL | row for row in rows])


def test_every_private_cell_has_three_epsilons_side_by_side() -> None:
    free = dict.fromkeys(("epsilon", "eps_claimed", "eps_certified"), np.inf)
    heads, lines = privacy.table(cells_of({}, NO_PROOF, free))
    proven, not_proven = (dict(zip(heads, line, strict=True)) for line in lines)
    assert proven["ε claimed"] == "2" and proven["ε certified"] == "1.99"
    assert proven["certified by"] == "pld" and proven["ε audited"] == "not audited"
    assert not_proven["ε certified"] == "none" and not_proven["privacy"] == "no proof"
    assert not_proven["ε audited"] == "≥ 1.31 (ceiling 4.9)"
    assert not_proven["audit level"] == "0.05"


def test_reasons_are_told_once_with_the_methods_that_they_are_about() -> None:
    blind = {"method": "c", "audit_status": "blind", "audit_blind": "It sees a part only."}
    refuted = {"privacy": "certificate refuted", "privacy_reasons": "audited above"}
    cells = cells_of({}, NO_PROOF, NO_PROOF | {"method": "b"}, blind, refuted)
    assert privacy.reasons(cells) == [
        "No proof of sgd and b: clips after the noise.",
        "Not seen by an audit of c: It sees a part only.",
    ]
    heads, lines = privacy.table(cells)
    assert lines[-1][heads.index("privacy")] == "certificate refuted: audited above"


@pytest.mark.parametrize(
    ("units", "noise", "told", "untold"),
    [
        (["example"], ["seeded"], ["no privacy for a whole client", "secret seed"], "Unit client"),
        (["client"], ["secure"], ["1/clients", "trusted", "system's entropy"], "Unit example"),
        ([], [], ["No run of this scale is private."], "Unit"),
    ],
)
def test_the_page_on_method_says_whom_epsilons_protect(units, noise, told, untold) -> None:
    shown = dict.fromkeys(("margins", "level", "min_spread", "min_seeds", "far"), "")
    shown |= dict.fromkeys(("adding_up", "kinds", "sources"), "") | {"tuned": {}}
    text = " ".join(
        layout.render("method", "method", [], title="", units=units, noise=noise, **shown).split()
    )
    assert all(words in text for words in told) and untold not in text
    assert "No ε here pays for that" in text and "sum of their levels" in text
