"""The trials behind runs: those whose results choose their values."""

from dpfl.planning import stages
from dpfl.planning.plan import Plan, of_paper, runs_of


def of_run(plan: Plan, run: str) -> list[str]:
    """Return the trials of all stages that choose a run's values, in the order of the stages."""
    tuning = plan.runs[run]["tuning"]
    return stages.runs_of(plan.tunings[tuning]) if tuning else []


def and_runs(plan: Plan, studies: list[str]) -> list[str]:
    """Return the runs of some studies after the trials behind them, each once."""
    final = runs_of(plan.studies[name] for name in studies)
    return list(dict.fromkeys([*(trial for run in final for trial in of_run(plan, run)), *final]))


def and_runs_of_paper(plan: Plan, paper: str) -> list[str]:
    """Return the same of all studies of a paper."""
    return and_runs(plan, of_paper(plan.studies, paper))
