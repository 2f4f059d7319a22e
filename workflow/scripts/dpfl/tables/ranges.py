"""Learning-rate robustness: which rates of each optimizer diverge, crawl or are good.

A rate is judged by its final validation accuracy, in percent, the mean over its seeds. The test set
plays no part. A *series* is one method with one rate key (alpha or final_lr) at one epsilon.
Everything else that the grid varies has one value in it. Its best rate has the highest accuracy (of
equal ones the lowest rate), as by the rule `grid` of dpfl.tuning. Each rate is

    diverges   the loss was not finite at some round of a seed, or the accuracy ended at chance
               level at a rate above a best one that trains
    unstable   not so, but it does not train at a rate above a best one that trains
    crawls     it does not train at any other rate
    good       it trains, within GOOD points of the best accuracy
    fair       it trains, and everything else

"It trains" means that its accuracy is above chance level, and at least half of the best one. That
is the best of any optimizer at that epsilon: one that gets nowhere has no good range.

Chance level is `chance.level`. The good range is the unbroken run of good rates around the
best one. Its width is log10(highest / lowest), in decades, so a single good rate has width 0. Where
the range touches an end of the grid (`edge`), the width is a lower bound. The range is empty where
even the best rate is not good. Trials are runs: rates times seeds.
"""

from itertools import takewhile

import numpy as np
import pandas as pd

from dpfl.base.errors import UserError
from dpfl.tables import results
from dpfl.tuning.parts import chance, rules

GOOD = 2.0
TRAINS = 0.5
SERIES = ["method", "label", "certified", "rate_key", "epsilon"]


def classified(study: results.Study, runs: pd.DataFrame) -> pd.DataFrame:
    """Return one row per rate of each series: accuracy, trials, state, best; rates rise.

    Raises UserError if the study holds no validation examples out.
    """
    if runs["validation_accuracy"].isna().all():
        raise UserError(f"study {study['name']}: rates are judged on validation, none is held out")
    guess, level = chance.guessing(study["dataset"]), chance.level(study["dataset"])
    keys = results.settings(study)
    named = (row.dropna().astype(str) for _, row in runs[["label", *keys]].iterrows())
    runs = runs.assign(
        validation=runs["validation_accuracy"].fillna(guess), label=list(map(", ".join, named))
    )
    rates = (
        runs.groupby([*SERIES, *keys, "algorithm", "rate"], sort=False, dropna=False)
        .agg(accuracy=("validation", "mean"), trials=("run", "size"), diverged=("diverged", "any"))
        .reset_index()
    )
    top = rates.groupby("epsilon")["accuracy"].transform("max")
    rates["trains"] = (rates["accuracy"] >= TRAINS * top) & (rates["accuracy"] > level)
    each = rates.groupby([*SERIES, *keys], sort=False, dropna=False)
    parts = [_with_states(own.sort_values("rate", ignore_index=True), level) for _, own in each]
    return pd.concat(parts, ignore_index=True)


def ranges(study: results.Study, runs: pd.DataFrame) -> pd.DataFrame:
    """Return one row per series of a study that varies the rate, none of another study."""
    if study["kind"] != "rates":
        return results.table("ranges", [])
    head, keys = results.about(study), [*SERIES, *results.settings(study)]
    rows = [
        head | dict(zip(keys, key, strict=True)) | _summary(group.reset_index(drop=True))
        for key, group in classified(study, runs).groupby(keys, sort=False, dropna=False)
    ]
    return results.table("ranges", rows)


def _with_states(group: pd.DataFrame, level: float) -> pd.DataFrame:
    """Classify the rates of one series; the first condition that holds decides."""
    accuracy = group["accuracy"]
    points = zip(group["rate"], accuracy, strict=True)
    best = rules.best([rules.Point({"rate": rate}, (mean,)) for rate, mean in points])
    beyond = (group.index > best) & group["trains"][best]
    conditions = {
        "diverges": group["diverged"] | (beyond & (accuracy <= level)),
        "unstable": beyond & ~group["trains"],
        "crawls": ~group["trains"],
        "good": accuracy >= accuracy[best] - GOOD,
    }
    state = np.select(list(conditions.values()), list(conditions), default="fair")
    return group.assign(state=state, best=group.index == best)


def _summary(group: pd.DataFrame) -> dict[str, object]:
    best, state = int(group["best"].argmax()), group["state"]
    return {
        "algorithm": group["algorithm"][best],
        "best_rate": group["rate"][best],
        "best_validation_accuracy": group["accuracy"][best],
        "rates": len(group),
        "diverging": int((state == "diverges").sum()),
        "unstable": int((state == "unstable").sum()),
        "crawling": int((state == "crawls").sum()),
        **_good_range(group["rate"], state.eq("good").tolist(), best),
        "trials": int(group["trials"].sum()),
    }


def _good_range(rate: pd.Series, good: list[bool], best: int) -> dict[str, object]:
    """Return the unbroken run of good rates around the best one; empty if that is not good."""
    if not good[best]:
        return {}
    low = best - len(list(takewhile(bool, reversed(good[:best]))))
    high = best + len(list(takewhile(bool, good[best + 1 :])))
    touched = {"lower": low == 0, "upper": high == len(good) - 1}
    return {
        "good_low": rate[low],
        "good_high": rate[high],
        "width_decades": float(np.log10(rate[high] / rate[low])),
        "edge": " and ".join(end for end, touches in touched.items() if touches),
    }
