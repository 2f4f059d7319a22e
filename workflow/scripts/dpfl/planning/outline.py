"""What is made of a paper, for those who read it: its page, and what is kept of it."""

from dpfl.planning import estimate
from dpfl.planning.plan import Plan, judging, of_paper


def make(paper: str, papers: dict[str, dict], planned: Plan, plan: Plan) -> dict:
    """Return the names of its studies and analyses, what is left out of them, and the core-hours.

    `plan` may be without what is not finished; the estimate is of all that was `planned`.
    """
    analyses = {name: plan.analyses[name] for name in of_paper(plan.analyses, paper)}
    left_out = {name: plan.unfinished[name] for name in of_paper(plan.unfinished, paper)}
    return {
        "key": paper,
        "scale": papers[paper]["scale"],
        "delta": papers[paper]["delta"],
        "studies": of_paper(plan.studies, paper),
        "judging": judging(plan, paper),
        "analyses": {n: {k: own[k] for k in ("title", "uses")} for n, own in analyses.items()},
        **({"unfinished": left_out} if left_out else {}),
        "core_hours": estimate.core_hours(planned, paper),
    }
