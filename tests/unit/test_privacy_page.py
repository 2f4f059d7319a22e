"""Privacy on pages: why some methods have no proof, and whom epsilons protect."""

import numpy as np
import pandas as pd
import pytest

from dpfl.report import layout, methods
from dpfl.seeds import verdicts


def test_reasons_are_told_once() -> None:
    """No ε needs a reason where none is claimed."""
    rows = [
        (2.0, np.nan, "no proof", "clips late", ""),
        (8.0, np.nan, "no proof", "clips late", ""),
    ]
    rows += [
        (2.0, 1.99, "proven", "", "It sees a part."),
        (np.inf, np.nan, "not private", "free", ""),
    ]
    heads = ["eps_claimed", "eps_certified", "privacy", "reasons", "audit_blind"]
    cells = pd.DataFrame(rows, columns=heads).assign(
        accountant="pld", privacy_reasons="no certificate"
    )
    assert methods.privacy_of(cells) == [
        "no proof: 2 cells (no certificate)",
        "proven: 1 cell (pld)",
        "No proof: clips late",
        "Not seen by an audit: It sees a part.",
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
    shown = dict.fromkeys(("margins", "adding_up", "kinds", "sources"), "")
    shown |= {"tuned": {}, "rules": verdicts}
    text = " ".join(
        layout.render("method", "method", [], title="", units=units, noise=noise, **shown).split()
    )
    assert all(words in text for words in told) and untold not in text
    assert "No ε here pays for that" in text and "sum of their levels" in text
