"""Evidence of known truth, for the tests of claims: made-up runs of a study in memory."""

import pandas as pd
from synthetic import cell, study

from dpfl.judging import published
from dpfl.judging.evidence import Evidence
from dpfl.seeds import outcomes
from dpfl.tables import results
from dpfl.tuning.parts import chance

NONE = pd.DataFrame(columns=["table", "row", "metric", "reading", "printed", "study", "method"])


def normal(rng, mean, seeds=5, sd=0.3):
    """Draw one accuracy per seed, in percent."""
    return rng.normal(mean, sd, seeds)


def found(sides, printed=None, curves=None, dataset="mnist", margin=1.0, tables=None, **extra):
    """Return evidence; `sides` maps (method, epsilon, variant as pairs) to accuracies by seed.

    `curves(method, epsilon, seed)` gives test accuracies by round from 0, as fractions.
    """
    cells = [cell(m, e, len(values), **dict(variant)) for (m, e, variant), values in sides.items()]
    made = study(cells, "paper/main", dataset, margin=margin, demonstrates=False)
    rows = [
        _run(made, index, own, number, values[number], extra)
        for index, (own, values) in enumerate(zip(cells, sides.values(), strict=True))
        for number in range(len(values))
    ]
    runs = _marked(pd.DataFrame(rows), chance.level(dataset))
    return Evidence(
        "paper",
        made,
        runs,
        lambda: _rounds(runs, curves),
        NONE if printed is None else _beside(made, runs, printed),
        tables or {},
    )


def _beside(made, runs, printed):
    """Set what the runs say beside the printed numbers that they are named at."""
    lines = printed.to_dict("records")
    for line in lines:
        own = runs[runs["run"].isin(str(line["runs"]).split())]
        line |= published.judged(made, own, line["printed"]) if len(own) else {}
    return pd.DataFrame(lines)


def _marked(runs, level):
    """Mark the runs that trained, as `results.frame` does."""
    cells = runs.groupby("cell")["accuracy"] if len(runs) else None
    mark = lambda own: outcomes.trained(own, level)  # noqa: E731
    return runs.assign(trained=cells.transform(mark).astype(bool)) if len(runs) else runs


def _run(made, index, own, seed, accuracy, extra):
    return {
        "method": own["method"],
        "label": own["label"],
        "variant": results.variant_text(own["variant"]),
        "epsilon": float(own["epsilon"]),
        **results.setting_columns(made, own),
        "tuning": own.get("tuning", ""),
        "unit": "example",
        "cell": index,
        "run": own["runs"][seed],
        "seed": seed,
        "accuracy": accuracy,
        "train_accuracy": accuracy + 1,
        "diverged": False,
        "eps_claimed": float(own["epsilon"]),
        "eps_certified": float(own["epsilon"]),
        "certified": True,
        "refuted": False,
        **results.audit(None),
        "estimator": "dpsgd",
        **extra,
    }


def _rounds(runs, curves):
    return pd.DataFrame(
        {"cell": r["cell"], "run": r["run"], "seed": r["seed"], "round": t, "test_accuracy": at}
        for r in runs.to_dict("records")
        for t, at in enumerate(curves(r["method"], r["epsilon"], r["seed"]))
    )
