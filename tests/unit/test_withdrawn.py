"""A kept verdict that is known to be wrong is shown as withdrawn, with the reason."""

import pandas as pd
import pytest

from dpfl.base.errors import UserError
from dpfl.docs.judged import Claim
from dpfl.judging import claims, withdrawn
from dpfl.report import claims_table

COMMIT, OTHER = "a" * 40, "b" * 40
CLAIM = {
    "id": "faster",
    "where": "abstract",
    "quote": "It is faster.",
    "kind": "convergence",
    "study": "main",
    "better": "a",
    "worse": ["b"],
    "within": 1.0,
    "withdrawn": {"commit": COMMIT, "reason": "A run was counted\nas fast."},
}


def kept():
    rows = [("faster", "overall"), ("faster", "against b"), ("better", "overall")]
    table = pd.DataFrame(rows, columns=["claim", "part"])
    return table.assign(verdict="replicated")


def test_all_parts_of_the_claim_and_nothing_else_lose_their_verdict():
    found = withdrawn.from_table(kept(), [CLAIM, {"id": "better"}], COMMIT)
    assert found["verdict"].tolist() == ["withdrawn", "withdrawn", "replicated"]
    assert "withdrawn" not in claims_table.TONES  # it is no answer


def test_results_that_were_kept_again_have_their_own_verdict():
    again = withdrawn.from_table(kept(), [CLAIM], OTHER)
    pd.testing.assert_frame_equal(again, kept())
    assert withdrawn.reason(CLAIM, OTHER) == ""


def test_the_reason_stands_where_the_finding_would():
    row = {"verdict": "withdrawn", "eps_claimed": 2.0, "eps_certified": 1.999, "privacy": ""}
    row |= {"eps_audited": float("nan"), "audit_status": "not audited"}
    shown = Claim(CLAIM, [row], withdrawn.reason(CLAIM, COMMIT)).cells
    assert shown[2:] == ["A run was counted as fast.", "withdrawn", "2 / 1.999 / not audited"]


def test_a_claim_of_any_kind_may_be_withdrawn():
    claims.check(CLAIM)
    with pytest.raises(UserError, match="unknown key 'withdrawm': did you mean 'withdrawn'"):
        claims.check({"withdrawm" if key == "withdrawn" else key: v for key, v in CLAIM.items()})
