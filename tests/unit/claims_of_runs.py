"""Claims judged on runs whose accuracies are known."""

import judged
import numpy as np
import pandas as pd

from dpfl.judging import judge as judging
from dpfl.words.vocabulary import verdict_of

HEAD = {"id": "some", "where": "table 1", "quote": "words", "study": "main"}


def judge(evidence, **claim):
    return judging.judge(HEAD | claim, evidence)


def verdict(evidence, **claim):
    return verdicts(judge(evidence, **claim))[0]


def verdicts(table):
    return [verdict_of(row) for row in table.to_dict("records")]


def two(better, worse, seeds=5, sd=0.3, epsilons=(2.0, 4.0), rng=None, **how):
    """Return evidence on `a` and `b` of some true accuracies, at equal epsilons."""
    rng = rng or np.random.default_rng(1)
    sides = {
        (method, epsilon, ()): judged.normal(rng, mean, seeds, sd)
        for epsilon in epsilons
        for method, mean in (("a", better), ("b", worse))
    }
    return judged.found(sides, **how)


def drawn(rng, seeds=5, **means):
    """Return evidence on methods of some true accuracies, at one epsilon."""
    return judged.found({(m, 2.0, ()): judged.normal(rng, at, seeds) for m, at in means.items()})


def exact(curves=None, seeds=5, **accuracies):
    """Return evidence on methods that reach the same with every seed, or what a list says."""
    sides = {(m, 2.0, ()): np.zeros(seeds) + values for m, values in accuracies.items()}
    return judged.found(sides, curves=curves)


ORDERING = {"kind": "ordering", "better": "a", "worse": ["b"]}


def ranks(rng, means, epsilons=(2.0,), seeds=5, sd=0.3):
    return judged.found(
        {
            ("a", epsilon, (("rank", rank),)): judged.normal(rng, mean, seeds, sd)
            for epsilon in epsilons
            for rank, mean in means.items()
        }
    )


RISES = {"kind": "trend", "method": "a", "over": "rank", "direction": "rises"}
OVER_EPSILON, OVER_ROUNDS = RISES | {"over": "epsilon"}, RISES | {"over": "rounds"}
CONTROLS = {"kind": "controls", "better": "a", "controls": ["b", "c"], "subject": "belief"}
RACE = {"kind": "convergence", "better": "a", "worse": ["b"], "accuracy": 40}


BEST = {"kind": "ordering", "of": "rank", "better": 50, "worse": [10, 200]}


def printed(rows):
    """Return printed numbers beside the runs of `two`: (row, method, epsilon, value)."""
    return pd.DataFrame(
        {
            "table": "table 1",
            "row": name,
            "metric": "accuracy_pct",
            "reading": "",
            "epsilon": epsilon,
            "printed": value,
            "study": "main" if method else np.nan,
            "method": method or np.nan,
            "runs": " ".join(f"{method}-{epsilon:g}-{seed}" for seed in range(8)) * bool(method),
        }
        for name, method, epsilon, value in rows
    )


def losses(rows):
    """Return printed losses beside prices: (epochs, printed, reading, ours, verdict)."""
    return pd.DataFrame(
        {
            "table": "table 4",
            "row": "m",
            "metric": "epsilon",
            "reading": reading,
            "epochs": epochs,
            "printed": value,
            "study": "prices" if reading else np.nan,
            "method": np.nan,
            "ours": ours,
            **word._asdict(),
            "runs": "",
        }
        for epochs, value, reading, ours, word in rows
    )


def named(claim):
    return f"{claim['kind']}-{claim.get('over', '')}"
