"""Runs round by round, of which some end before others: what they last had stays theirs.

Otherwise the last rounds of a mean over seeds would be those of the seeds that lasted longest.
"""

from pathlib import Path

import pandas as pd

from dpfl.seeds import outcomes
from dpfl.tables import results

RUN = ["cell", "run"]


def of_trained(
    study: dict, runs_dir: Path, runs: pd.DataFrame, line: list[str], kept: str
) -> pd.DataFrame:
    """Return every run that trained with all rounds that any run of its line took.

    The column `kept` has its last value since, the others have none. `runs` are those of
    `results.frame`, with a column `series`, which stands in the result.
    """
    trained = outcomes.of_trained(runs)[[*RUN, "series"]]
    metrics = results.trajectories(study, runs_dir, "metrics").merge(trained, on=RUN)
    rounds = metrics[[*line, "round"]].drop_duplicates()
    every = metrics[[*line, *RUN]].drop_duplicates().merge(rounds, on=line)
    filled = every.merge(metrics, on=[*line, *RUN, "round"], how="left")
    return filled.assign(**{kept: filled.groupby(RUN)[kept].ffill()})
