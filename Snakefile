"""Replicates papers on differentially private federated learning: `snakemake --cores all`."""

import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.0")


sys.path.insert(0, str(Path(workflow.basedir) / "workflow" / "scripts"))

from dpfl.base.errors import UserError
from dpfl.checks import config as configuration, config_files
from dpfl.planning import (
    estimate,
    interpreter,
    naming,
    outline,
    packs,
    plan,
    restored,
    unfinished,
)
from dpfl.terminal import lock

try:
    config_files.check_files(["config.yaml", *workflow.overwrite_configfiles])
except UserError as error:
    sys.exit(str(error))


configfile: "config.yaml"


try:
    PAPERS = configuration.composed(config)
    PLANNED = plan.make(PAPERS)
except UserError as error:
    sys.exit(str(error))

RESTORED, STALE = restored.parted(PLANNED, Path("results"))
PLAN = unfinished.handled(PLANNED, config["unfinished"], Path("results"))
PACKS = packs.packs(restored.trained(PLAN, RESTORED), config["pack"])
interpreter.lead_path()

FIRST_PAGE = Path("results/reports/index.html")
EARLIER = FIRST_PAGE.with_name("index-of-an-earlier-call.html")


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/privacy.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/attacks.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/report.smk"


if workflow.is_main_process:
    HELD = (
        lock.take_if_free()
    )  # until this process ends: Snakemake's own outlives a kill
    estimate.announce(PLAN, "results/runs")


onstart:
    # Under its limit, Snakemake checks all open jobs once a second for every finished one.
    workflow.scheduler.job_rate_limiter = None


onerror:
    # What earlier calls reported must not pass for the report of this one.
    if FIRST_PAGE.exists():
        FIRST_PAGE.replace(EARLIER)
        print(
            f"{FIRST_PAGE} was of an earlier call: it is now {EARLIER}",
            file=sys.stderr,
        )


onsuccess:
    EARLIER.unlink(missing_ok=True)


localrules:
    all,
    describe_study,
    describe_paper,
    describe_config,
    tune,


rule all:
    default_target: True
    input:
        FIRST_PAGE,
        all_files(plan.runs_of(PLAN.studies.values()), RESTORED),
        restored.weights_of(STALE, PLAN, Path("results")),
