"""Runs round by round, of which some end before others: what they last had stays theirs.

Otherwise the last rounds of a mean over seeds would be those of the seeds that lasted longest.
"""

import pandas as pd


def carried(metrics: pd.DataFrame, line: list[str], columns: list[str]) -> pd.DataFrame:
    """Return every run of a line with all rounds that any of them took, `columns` kept since.

    `metrics` has a row per run and round, with `cell`, `run`, `round` and the keys of a line.
    """
    groups = metrics.groupby(line, sort=False, dropna=False)
    return (
        pd.concat([_filled(own, [*line, *columns]) for _, own in groups])
        if len(metrics)
        else metrics
    )


def _filled(own: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    last = own["round"].max()
    return pd.concat(
        [_to(run, last, columns) for _, run in own.groupby(["cell", "run"], sort=False)]
    )


def _to(run: pd.DataFrame, last: int, columns: list[str]) -> pd.DataFrame:
    """Repeat the last row of a run up to a round, without the columns that are not kept."""
    end = run.loc[run["round"].idxmax()]
    rounds = range(end["round"] + 1, last + 1)
    if not rounds:
        return run
    more = pd.DataFrame([end.to_dict() | {"round": number} for number in rounds])
    gone = run.select_dtypes("float").columns.difference(columns)
    return pd.concat([run, more.assign(**dict.fromkeys(gone, float("nan")))])
