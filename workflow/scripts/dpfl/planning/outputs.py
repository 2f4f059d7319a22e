"""What the workflow writes of studies and analyses for readers: tables and figures, by name.

A table or figure of a plan is named by its path below results/tables or results/figures, without
its ending.
"""

from collections.abc import Iterator

from dpfl import plugins
from dpfl.planning.plan import Plan, of_paper
from dpfl.plugins import analyses
from dpfl.runs import state

FORMS = ("csv", "md", "tex")
OF_STUDIES = ("", "_comparisons", "_ranges", "_tuned", "_trials")
"""What the names of a study's tables end with, beside those of its figures."""


def study_tables(plan: Plan, name: str) -> list[str]:
    """Return the tables of a study: those that every study has, and those of its figures."""
    own = (f"_{figure}" for figure in state.weighed(plan.studies[name]))
    return [f"{name}{suffix}" for suffix in (*OF_STUDIES, *own)]


def analysis_tables(plan: Plan, name: str) -> list[str]:
    """Return the tables of an analysis, as its plug-in declares them."""
    uses = plan.analyses[name]["uses"]
    package = analyses.package_of(name.split("/")[0], uses)
    suffixes = plugins.constant(package, uses, "TABLES", ("",))
    return [f"{name}_{suffix}" if suffix else name for suffix in suffixes]


def analysis_figure(plan: Plan, name: str) -> str:
    """Return the figure of an analysis."""
    return f"{name}/{plan.analyses[name]['uses']}"


def files(plan: Plan, paper: str) -> Iterator[str]:
    """Yield the paths of all tables and figures of a paper, and of its resolved studies."""
    studies, computed = of_paper(plan.studies, paper), of_paper(plan.analyses, paper)
    tables = [table for name in studies for table in study_tables(plan, name)]
    tables += [table for name in computed for table in analysis_tables(plan, name)]
    drawn = [f"{n}/{figure}" for n in studies for figure in plan.studies[n].get("figures", [])]
    own = [analysis_figure(plan, name) for name in computed]
    yield from (f"results/studies/{name}.json" for name in studies)
    yield from (f"results/tables/{table}.{form}" for table in tables for form in FORMS)
    yield from (f"results/figures/{f}.{form}" for f in drawn + own for form in ("png", "txt"))
    yield from (f"results/figures/{figure}.pdf" for figure in own)
