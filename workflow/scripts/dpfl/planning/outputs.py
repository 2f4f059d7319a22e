"""What the workflow writes of studies and analyses for readers: tables and figures, by name.

Of a plan's entries; a table or figure is named by its path below results/tables or results/figures,
without its ending.
"""

from collections.abc import Iterator

from dpfl import plugins
from dpfl.planning.plan import Plan, of_paper
from dpfl.plugins import analyses

FORMS = ("csv", "md", "tex")
OF_STUDIES = {
    "": "cells",
    "_comparisons": "comparisons",
    "_ranges": "ranges",
    "_tuned": "tuned",
    "_trials": "trials",
}
"""The kind of each table of a study (workflow/schemas/tables.yaml), by its suffix."""
OTHER = "other"
"""The kind of tables whose columns a figure or an analysis declares itself."""


def tables(plan: Plan, paper: str) -> dict[str, str]:
    """Return the tables of a paper with their kinds."""
    found = {}
    for name in of_paper(plan.studies, paper):
        found |= study_tables(plan, name)
    for name in of_paper(plan.analyses, paper):
        found |= dict.fromkeys(analysis_tables(plan, name), OTHER)
    return found


def study_tables(plan: Plan, name: str) -> dict[str, str]:
    """Return the tables of a study with their kinds."""
    own = {f"{name}{suffix}": kind for suffix, kind in OF_STUDIES.items()}
    return own | {f"{name}_{figure}": OTHER for figure in _figures_with_table(plan, name)}


def figures(plan: Plan, paper: str) -> list[str]:
    """Return the figures of a paper, as paper/study/figure."""
    trained = of_paper(plan.studies, paper)
    drawn = [f"{name}/{figure}" for name in trained for figure in _figures(plan, name)]
    return [*drawn, *(analysis_figure(plan, name) for name in of_paper(plan.analyses, paper))]


def files(plan: Plan, paper: str) -> Iterator[str]:
    """Yield the paths of all tables and figures of a paper, and of its resolved studies."""
    yield from (f"results/studies/{name}.json" for name in of_paper(plan.studies, paper))
    yield from (f"results/tables/{name}.{form}" for name in tables(plan, paper) for form in FORMS)
    drawn = figures(plan, paper)
    yield from (f"results/figures/{name}.{form}" for name in drawn for form in ("png", "txt"))
    for name in of_paper(plan.analyses, paper):
        yield f"results/figures/{analysis_figure(plan, name)}.pdf"


def analysis_tables(plan: Plan, name: str) -> list[str]:
    """Return the tables of an analysis, as its plug-in declares them."""
    uses = plan.analyses[name]["uses"]
    package = analyses.package_of(name.split("/")[0], uses)
    suffixes = plugins.constant(package, uses, "TABLES", ("",))
    return [f"{name}_{suffix}" if suffix else name for suffix in suffixes]


def analysis_figure(plan: Plan, name: str) -> str:
    """Return the figure of an analysis."""
    return f"{name}/{plan.analyses[name]['uses']}"


def _figures(plan: Plan, name: str) -> list[str]:
    return plan.studies[name].get("figures", [])


def _figures_with_table(plan: Plan, name: str) -> list[str]:
    return [f for f in _figures(plan, name) if plugins.constant("figures/kinds", f, "TABLE", False)]
