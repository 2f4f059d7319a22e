# What several stages share: paths by name, and the source files that a job depends on.

import json
import re

from dpfl import plugins
from dpfl.papers import folder
from dpfl.planning import outputs
from dpfl.plugins import analyses
from dpfl.runs import sources
from dpfl.tuning.parts import stages, tuned

SCRIPTS = "workflow/scripts"
# What notebooks import, with all that it imports: sources_of follows it.
NOTEBOOK_MODULES = [("report", name) for name in plugins.names("report")]


RUN_FILES = {
    "metrics": "results/runs/{run}/metrics.csv",
    "rates": "results/runs/{run}/rates.csv",
    "model": "results/runs/{run}/model.safetensors",
    "summary": "results/runs/{run}/summary.json",
    "digests": "results/runs/{run}/SHA256SUMS",
}


def everything(wildcards):
    """The report, and every run's summary."""
    runs = plan.runs_of(PLAN.studies.values())
    return [FIRST_PAGE, *expand(RUN_FILES["summary"], run=runs)]


def slug(name):
    """A part of the name of a rule."""
    return re.sub("[^a-z0-9]", "_", name)


def one_of(names):
    """A wildcard that is one of some names; if there are none, none matches."""
    return "|".join(map(re.escape, names)) or "(?!)"


def verbatim(text):
    """A text for params and resources, in which braces are no wildcards."""
    return lambda wildcards: text


wildcard_constraints:
    dataset="[a-z0-9-]+",
    tuning="[a-z0-9.-]+",
    run=naming.pattern(OPEN, PLAN.runs),
    pack="[a-z0-9.-]+",
    study=one_of(PLAN.studies),
    paper=one_of(PLAN.papers),


def sources_of(name, *used):
    """A digest of a driver's sources and of the plug-ins it uses, (package, name) pairs.

    Of the driver, the plug-ins, all that these import, and the data files that a plug-in declares
    as READS. As a parameter of a job it reruns the job when one of them changes; as inputs, forty
    files of every run would be most of the DAG.
    """
    return sources.of_driver(name, used)


def runs_of_study(study):
    """The finished runs of a study."""
    names = plan.runs_of([PLAN.studies[study]])
    return [f"results/runs/{run}/summary.json" for run in names]


def tuned_of_study(study):
    """What has chosen the values of a study's cells, and what their noise is calibrated for."""
    cells = [c for c in PLAN.studies[study]["cells"] if "tuning" in c]
    chosen = {f"results/tunings/{c['tuning']}.json" for c in cells}
    noise = {
        f"results/calibrations/{c['calibration']}.json"
        for c in cells
        if c["calibration"]
    }
    return sorted(chosen | noise)


def models_of(wildcards):
    """The networks of a study's runs, in their order."""
    names = plan.runs_of([PLAN.studies[wildcards.study]])
    return [PLAN.runs[run]["settings"]["model"] for run in names]


def files_of_figure(study, figure):
    """What a figure of a study reads beside its runs."""
    read = plugins.constant("figures/kinds", figure, "READS_STUDY", ())
    return [path.format(study=study, paper=study.split("/")[0]) for path in read]


def derived_from():
    """What stored verdicts are made of beside code: stored runs, papers, what all of them share."""
    stored = Path("results/reference").glob("*/*/provenance.json")
    shared = ["workflow/components.yaml", "workflow/schemas/tables.yaml", "config.yaml"]
    papers = Path("workflow/papers").glob("*/*.[cy]*")  # tables and YAML, not the pages
    paths = sorted([*stored, *papers, *map(Path, shared)])
    return [path.read_text(encoding="utf-8") for path in paths]


def read_by(run):
    """What the training of a run reads, by name."""
    return plan.files_read(PLAN, run)


def described(runs):
    """Some runs as their training job is told of them, JSON."""
    return json.dumps(
        [
            {
                "run": run,
                "settings": PLAN.runs[run]["settings"],
                "sources": sources.of_run(PLAN.runs[run]["settings"]),
                "made": state.made_by(run, PLAN),
                **read_by(run),
            }
            for run in runs
        ]
    )


GPUS = int(config["device"] == "cuda")


def settings_of(runs):
    return [PLAN.runs[run]["settings"] for run in runs]


def memory(runs, attempt, at_once=1):
    """The memory that training some runs may take, in MB: more at every attempt."""
    return (
        attempt * at_once * max(map(estimate.memory_mb, settings_of(runs)), default=1)
    )


def at_once(pack):
    """How many runs of a pack train at a time, a thread each."""
    return max(1, min(config["pack"]["cores"], len(PACKS[pack])))


def runtime(runs, attempt):
    """The minutes that training some runs may take: more at every attempt."""
    return attempt * estimate.minutes(settings_of(runs))


def trials_of(wildcards):
    """What a stage of tuning reads: its trials, and the stages that named values of theirs."""
    stage = PLAN.tunings[wildcards.tuning]
    return [
        *expand("results/runs/{run}/summary.json", run=tuned.trials_of(stage)),
        *expand("results/tunings/{name}.json", name=stages.stages_before(stage)),
    ]


def package_of(analysis):
    """The package of the plug-in of a study without training."""
    paper = analysis.split("/")[0]
    return analyses.package_of(paper, PLAN.analyses[analysis]["uses"])


def data_of(analysis):
    """The prepared data set of a study without training, if it reads one."""
    names = analyses.inputs_of(PLAN.analyses[analysis])
    return expand("results/data/{dataset}.safetensors", dataset=names)


def dataset_arguments(analysis):
    """The same for the driver, with its name."""
    names = analyses.inputs_of(PLAN.analyses[analysis])
    return [
        f"--dataset {name} --data {path}"
        for name, path in zip(names, data_of(analysis))
    ]


def named_by(analysis):
    """The data set and the networks that a study without training names, as plug-ins."""
    entry = PLAN.analyses[analysis]
    return [
        *(("data", name) for name in analyses.inputs_of(entry)),
        *(("models", name) for name in analyses.models_of(entry)),
    ]


def analysis_outputs(names, form):
    return [
        f"results/tables/{table}.{form}"
        for name in names
        for table in outputs.analysis_tables(PLAN, name)
    ]


def analysis_figures(names, form="png"):
    return [
        f"results/figures/{outputs.analysis_figure(PLAN, name)}.{form}"
        for name in names
    ]


def paper_files(key):
    """The files of a paper's folder that its page reads."""
    paths = [folder.HOME / key / name for name in folder.FILES]
    return [folder.shown(path) for path in paths if path.exists()]


def tables_and_figures(key):
    """All tables and figures of a paper."""
    return list(outputs.files(PLAN, key))
