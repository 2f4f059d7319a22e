"""Replicates papers on differentially private federated learning: `snakemake --cores all`."""

import sys
from os.path import dirname
from pathlib import Path
from shlex import quote

from snakemake.settings.types import DeploymentMethod
from snakemake.utils import min_version

min_version("9.0")


GIVEN = workflow.overwrite_configfiles
sys.path.insert(0, str(Path(workflow.basedir) / "workflow" / "scripts"))

from dpfl.base.errors import UserError
from dpfl.checks import config as configuration
from dpfl.planning import estimate, naming, outline, packs, plan, unfinished
from dpfl.base.files import write_json
from dpfl.runs import state
from dpfl.terminal import choice, lock

try:
    configuration.check_folder(Path(workflow.basedir))
    configuration.read_files(["config.yaml", *GIVEN])
except UserError as error:
    sys.exit(str(error))


configfile: "config.yaml"


try:
    PAPERS = configuration.composed(config)
    PLANNED = plan.make(PAPERS)
except UserError as error:
    sys.exit(str(error))

OPEN = state.open_of(PLANNED, Path("results"))
COUNTED = packs.by_folder(state.counted(PLANNED, Path("results")))
PLAN = unfinished.handled(PLANNED, config["unfinished"], Path("results"))
PACKS = packs.packs(PLAN, config["pack"], OPEN)
PACK_OF = {run: pack for pack, runs in PACKS.items() for run in runs}
RESOLVED = configuration.RESOLVED
FIRST_PAGE = Path("results/reports/index.html")


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/privacy.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/attacks.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/report.smk"


# Jobs run the interpreter that runs Snakemake, activated or not, or else that of their environment.
if DeploymentMethod.CONDA not in workflow.deployment_settings.deployment_method:
    shell.prefix(
        f"set -euo pipefail; export PATH={quote(dirname(sys.executable))}:$PATH; "
    )


onstart:
    lock.hold()  # until this process ends: Snakemake's own outlives a kill
    write_json(RESOLVED, config)
    logger.info(estimate.summary(PLAN, OPEN), extra={"event": "plan", "plan": PLAN})
    # Under its limit, Snakemake checks all open jobs once a second for every finished one.
    workflow.scheduler.job_rate_limiter = None


localrules:
    all,
    describe_study,
    describe_paper,
    describe_config,


rule all:
    default_target: True
    input:
        everything,
