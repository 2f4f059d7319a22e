"""Replicates papers on differentially private federated learning: `snakemake --cores all`."""

import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.0")


sys.path.insert(0, str(Path(workflow.basedir) / "workflow" / "scripts"))

from dpfl.planning import config as configuration, config_files, estimate
from dpfl.planning import interpreter, plan
from dpfl.errors import UserError

try:
    config_files.check_files(["config.yaml", *workflow.overwrite_configfiles])
except UserError as error:
    sys.exit(str(error))


configfile: "config.yaml"


try:
    PAPERS = configuration.composed(config)
    PLAN = plan.make(PAPERS)
except UserError as error:
    sys.exit(str(error))

interpreter.lead_path()


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
    estimate.announce(PLAN, "results/runs")


onstart:
    # Under its limit, Snakemake checks all open jobs once a second for every finished one.
    workflow.scheduler.job_rate_limiter = None


localrules:
    all,
    describe_study,
    describe_paper,
    describe_config,
    tune,


rule all:
    default_target: True
    input:
        "results/reports/index.html",
