# What several stages share: paths by name, and the source files that a job depends on.

from dpfl import plugins, sources

SCRIPTS = "workflow/scripts"
TABLES = ["", "_comparisons", "_ranges"]
# notebook: (the kinds of study it is made for, the kinds it reads)
NOTEBOOKS = {
    "cadabelief": ({"compare", "variants"}, {"compare", "variants"}),
    "rates": ({"rates"}, {"rates", "compare", "variants"}),
}
# The modules that notebooks import, whose imports sources_of follows.
NOTEBOOK_MODULES = [
    ("", name) for name in ("display", "ranges", "reader", "robustness")
]


wildcard_constraints:
    dataset="[a-z0-9-]+",
    partition="[a-z0-9.-]+",
    calibration="[a-z0-9.-]+",
    tuning="[a-z0-9.-]+",
    run="[a-z0-9.-]+",
    study="[a-z0-9-]+",
    figure="[a-z0-9-]+",


def sources_of(name, *used):
    """The source files of a driver and of the plug-ins it uses: (package, name) pairs."""
    driver = f"{SCRIPTS}/{name}.py"
    files = [plugins.path_of(package, plugin) for package, plugin in used]
    return [f for f in sources.needed_by(driver, *files) if f != driver]


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


def studies_of(kinds):
    return [name for name, study in PLAN.studies.items() if study["kind"] in kinds]


def figures_of(names):
    """The figures of some studies, as study/figure."""
    return [
        f"{name}/{figure}" for name in names for figure in PLAN.studies[name]["figures"]
    ]


def notebook_inputs(wildcards):
    """The tables and figures that a notebook reads, and the code that words them."""
    names = studies_of(NOTEBOOKS[wildcards.notebook][1])
    return [
        *expand("results/studies/{study}.json", study=names),
        *expand(
            "results/tables/{study}{part}.{form}",
            study=names,
            part=TABLES,
            form=["csv", "md"],
        ),
        *expand("results/figures/{figure}.png", figure=figures_of(names)),
    ]


FIGURES = sorted(
    {figure for study in PLAN.studies.values() for figure in study["figures"]}
)
SELECTED_NOTEBOOKS = [
    n for n, (made_for, _) in NOTEBOOKS.items() if studies_of(made_for)
]
