"""Privacy on pages: why some methods have no proof, and whom epsilons protect."""

import numpy as np
import pandas as pd
import pytest

from dpfl.report import layout, privacy

USUAL = dict.fromkeys(("reasons", "audit_blind"), "")
USUAL |= {"method": "sgd", "eps_claimed": 2.0, "eps_certified": 1.99}
NO_PROOF = {"eps_certified": np.nan, "reasons": "clips after the noise"}


def cells_of(*rows: dict) -> pd.DataFrame:
    """Return a table of cells; what a row leaves out is an ordinary private cell."""
    return pd.DataFrame([USUAL | row for row in rows])


def test_reasons_are_told_once_with_the_methods_that_they_are_about() -> None:
    blind = {"method": "c", "audit_blind": "It sees a part only."}
    free = NO_PROOF | {"method": "free", "eps_claimed": np.inf}
    cells = cells_of({}, NO_PROOF, NO_PROOF | {"method": "b"}, blind, free)
    assert privacy.reasons(cells) == [
        "No proof of sgd and b: clips after the noise.",
        "Not seen by an audit of c: It sees a part only.",
    ]


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
