# What several stages share: paths by name, and the source files that a job depends on.

import re
import shlex

from dpfl import plugins
from dpfl.planning import sources

SCRIPTS = "workflow/scripts"
TABLES = ["", "_comparisons", "_ranges"]
# What notebooks import, with all that it imports: sources_of follows it.
NOTEBOOK_MODULES = [("report", name) for name in plugins.names("report")]


def one_of(names):
    """A wildcard that is one of some names; if there are none, none matches."""
    return "|".join(map(re.escape, names)) or "(?!)"


wildcard_constraints:
    dataset="[a-z0-9-]+",
    partition="[a-z0-9.-]+",
    calibration="[a-z0-9.-]+",
    tuning="[a-z0-9.-]+",
    run="[a-z0-9.-]+",
    study=one_of(PLAN.studies),
    analysis=one_of(PLAN.analyses),
    figure="[a-z0-9-]+",


def sources_of(name, *used):
    """The source files of a driver and of the plug-ins it uses, (package, name) pairs.

    With them the data files that a plug-in declares as READS.
    """
    driver = f"{SCRIPTS}/{name}.py"
    files = [plugins.path_of(package, plugin) for package, plugin in used]
    read = {f for pair in used for f in plugins.constant(*pair, "READS", ())}
    return [
        *(f for f in sources.needed_by(driver, *files) if f != driver),
        *sorted(read),
    ]


def runs_of_study(wildcards):
    """The finished runs of a study."""
    names = plan.runs_of([PLAN.studies[wildcards.study]])
    return [f"results/runs/{run}/summary.json" for run in names]


def partition_of(wildcards):
    return PLAN.partitions[wildcards.partition]


def calibration_of(wildcards):
    return PLAN.calibrations[wildcards.calibration]


def run_of(wildcards):
    return PLAN.runs[wildcards.run]


def run_sources(wildcards):
    settings = run_of(wildcards)["settings"]
    return sources_of(
        "train",
        ("models", settings["model"]),
        ("mechanisms", settings["mechanism"]["estimator"]),
        ("clippings", settings["clipping"]["rule"]),
        ("optimizers", settings["optimizer"]["algorithm"]),
    )


def if_any(pattern, name):
    """The path of an input that only some runs have."""
    return [pattern.format(name)] if name else []


def trials_of(wildcards):
    trials = PLAN.tunings[wildcards.tuning]["trials"]
    return [
        f"results/runs/{run}/summary.json" for trial in trials for run in trial["runs"]
    ]


def studies_in(notebook):
    """The studies that a notebook reads: its own, and those that one of its own has tuned."""
    own = [
        name for name, study in PLAN.studies.items() if study["notebook"] == notebook
    ]
    tuned = [n for n, study in PLAN.studies.items() if study.get("tuned_by") in own]
    return list(dict.fromkeys([*own, *tuned]))


def analyses_in(notebook):
    """The studies without training that a notebook reads."""
    return [n for n, found in PLAN.analyses.items() if found["notebook"] == notebook]


def notebook_parameters(notebook):
    """What papermill tells a notebook: which studies to read, those without training by plug-in."""
    found = {
        "studies": studies_in(notebook),
        "analyses": {n: PLAN.analyses[n]["analysis"] for n in analyses_in(notebook)},
    }
    given = {name: json.dumps(value) for name, value in found.items() if value}
    return " ".join(f"-p {name} {shlex.quote(text)}" for name, text in given.items())


def tables_of(analysis):
    """The tables of a study without training, as its plug-in declares them."""
    plugin = PLAN.analyses[analysis]["analysis"]
    return plugins.constant("analyses", plugin, "TABLES", ("",))


def analysis_outputs(names, form):
    return [
        f"results/tables/{name}{suffix and '_'}{suffix}.{form}"
        for name in names
        for suffix in tables_of(name)
    ]


def analysis_files(names):
    return [
        *(f for form in ("csv", "md", "tex") for f in analysis_outputs(names, form)),
        *(f for form in ("png", "pdf") for f in analysis_figures(names, form)),
    ]


def analysis_figures(names, form="png"):
    return [
        f"results/figures/{name}/{PLAN.analyses[name]['analysis']}.{form}"
        for name in names
    ]


def figures_of(names):
    """The figures of some studies, as study/figure."""
    return [
        f"{name}/{figure}" for name in names for figure in PLAN.studies[name]["figures"]
    ]


def notebook_inputs(wildcards):
    """The tables and figures that a notebook reads, and the code that words them."""
    names, analyses = studies_in(wildcards.notebook), analyses_in(wildcards.notebook)
    return [
        *expand("results/studies/{study}.json", study=names),
        *expand(
            "results/tables/{study}{part}.{form}",
            study=names,
            part=TABLES,
            form=["csv", "md"],
        ),
        *expand("results/figures/{figure}.png", figure=figures_of(names)),
        *analysis_outputs(analyses, "csv"),
        *analysis_outputs(analyses, "md"),
        *analysis_figures(analyses),
    ]


FIGURES = sorted(
    {figure for study in PLAN.studies.values() for figure in study["figures"]}
)
SELECTED_NOTEBOOKS = sorted(
    {found["notebook"] for found in [*PLAN.studies.values(), *PLAN.analyses.values()]}
)
