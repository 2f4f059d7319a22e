"""Which claims are open for a cell without a result: those that speak of it, and no others."""

import pandas as pd
import pytest

from dpfl.judging import judge
from dpfl.judging.evidence import Evidence
from dpfl.words.vocabulary import NOT_JUDGED, NOT_RUN, UNFINISHED, verdict_of

CELL = {
    **{"method": "b", "label": "b", "variant": {"rank": 50}, "epsilon": 8.0},
    **{"message": "RuntimeError: planted", "log": "results/logs/train/x.log"},
}
CLAIM = {"id": "c", "kind": "ordering", "study": "s", "better": "a", "worse": ["b"]}


def without(cell, planned=None):
    """Return evidence of no run; a cell of the planned study has no result."""
    return Evidence("p", planned, pd.DataFrame(), pd.DataFrame, pd.DataFrame(), {}, [cell])


def judged(**claim):
    return judge.judge(CLAIM | claim, without(CELL)).iloc[0]


@pytest.mark.parametrize(
    "claim",
    [
        {},
        {"cells": {"rank": 50}},
        {"cells": {"rank": [20, 50]}},
        {"cells": {"unknown": 1}},
        {"epsilons": [2, 8]},
        {"of": "rank", "better": 50, "worse": [20]},
    ],
)
def test_a_claim_that_speaks_of_the_cell_is_open_with_the_reason(claim):
    row = judged(**claim)
    assert verdict_of(row) == UNFINISHED
    reason = "b, rank=50, ε = 8.0; RuntimeError: planted (results/logs/train/x.log)"
    assert row["about"] == f"not finished: {reason}"


FREE = CELL | {"epsilon": "inf"}


@pytest.mark.parametrize(
    ("claim", "others", "opens"),
    [
        ({}, [CELL | {"epsilon": 2.0}], False),
        ({"epsilons": [2, "inf"]}, [CELL | {"epsilon": 2.0}], True),
        ({"cells": {"epsilon": "inf"}}, [CELL | {"epsilon": 2.0}], True),
        ({"cells": {"rank": 50}}, [CELL | {"variant": {"rank": 20}}], True),
        ({"kind": "number", "table": "table 1"}, [CELL | {"epsilon": 2.0}], True),
        ({}, [], True),  # without a budget at all, what is claimed is asked without one
    ],
)
def test_a_cell_without_privacy_opens_what_is_asked_of_it(claim, others, opens):
    evidence = without(FREE, {"dataset": "mnist", "cells": [FREE, *others]})
    assert bool(judge.unfinished(CLAIM | claim, evidence)) == opens


@pytest.mark.parametrize(
    "claim",
    [
        {"worse": ["c"]},
        {"cells": {"rank": 20}},
        {"epsilons": [2]},
        {"of": "rank", "better": 20, "worse": [10]},
        {"status": "not judged"},
    ],
)
def test_another_claim_is_judged_as_ever(claim):
    assert verdict_of(judged(**claim)) in (NOT_RUN, NOT_JUDGED)


@pytest.mark.parametrize(("dataset", "opens"), [("mnist", True), ("cifar10", False)])
def test_a_claim_on_another_data_set_is_not_open_for_a_cell_of_this(dataset, opens):
    evidence = without(CELL, {"dataset": "mnist-scatter", "cells": []})
    asked = CLAIM | {"cells": {"dataset": dataset}}
    assert bool(judge.unfinished(asked, evidence)) == opens
