"""Runs the workflow through a private Slurm of two nodes, then breaks things while it runs.

    python tests/slurm [measure | faults] [--config FILE]

Every result is compared with a local run's, bit for bit. Prints a table of costs and one of faults;
fails where bits differ, or where repeating the command did not mend a fault.
"""

import argparse
import copy
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "workflow"))

import cluster  # noqa: E402
import faults  # noqa: E402
from work import Work, measured  # noqa: E402
from worktree import MINI, Tree, copied  # noqa: E402

PACKS = {"packed": 1, "a job per run": 0}
"""Minutes of a pack, by what is said of them."""
MEASURED = (
    *("trainings", "nodes", "Slurm's jobs", "of them training", "seconds"),
    *("beside training, s a run", "training, s a run", "bits"),
)
TRIED = ("what was done", "what happened", "exit status, at the repetition", "bits", "seconds")
# Four runs long enough to be met in the middle, in two packs.
ROUNDS = 40
PACK_MINUTES = 0.2
TARGET = "results/tables/meng2023/rates.csv"


def main() -> int:
    """Return 0 where all bits are the same and a repetition mended every fault."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="?", choices=PARTS, help="one part alone")
    parser.add_argument("--config", type=Path, help="what to measure; default: eight small runs")
    args = parser.parse_args()
    config = yaml.safe_load(args.config.read_text(encoding="utf-8")) if args.config else MINI
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # cleans up as Ctrl-C
    parts = [args.part] if args.part else list(PARTS)
    try:
        with tempfile.TemporaryDirectory() as folder, cluster.started() as slurm:
            good = [PARTS[part](slurm, Path(folder), config) for part in parts]
    except cluster.NoSlurmError as error:
        sys.exit(f"error: {error}")
    return int(not all(good))


def measure(slurm: cluster.Cluster, folder: Path, config: dict[str, Any]) -> bool:
    """Print what the workflow costs through Slurm; tell whether it gives a local run's bits."""
    local = Work(_tree(folder / "local", config), slurm)
    local.tree.make()
    expected, good = local.bits(), True
    print(f"\nmeasured; {len(expected)} files compared with a local run's")
    _show(MEASURED, dict.fromkeys(MEASURED, "---").values())
    for nodes in (2, 1):
        for name, minutes in PACKS.items():
            packing = {"pack": {"minutes": minutes, "cores": 1}}
            work = Work(_tree(folder / f"{minutes}-{nodes}", config | packing), slurm)
            with slurm.only(nodes):
                spent = measured(work)
            same = work.bits() == expected
            good = good and same
            costs = (spent.jobs, spent.training_jobs, f"{spent.seconds:.0f}")
            a_run = (f"{spent.beside_training:.1f}", f"{spent.training / spent.runs:.1f}")
            _show((f"{spent.runs}, {name}", nodes, *costs, *a_run, _word(same)))
    return good


def break_things(slurm: cluster.Cluster, folder: Path, config: dict[str, Any]) -> bool:
    """Print what came of every fault; tell whether a repetition mended all."""
    config = copy.deepcopy(MINI) | {"pack": {"minutes": PACK_MINUTES, "cores": 1}}
    config["federations"]["default"]["rounds"] = ROUNDS
    prepared = _tree(folder / "prepared", config)
    prepared.make(TARGET, "--until", "calibrate_1")
    whole = Work(prepared.copy(folder / "whole"), slurm)
    whole.tree.make(TARGET)
    expected = whole.bits()
    print(f"\nbroken while four runs of {ROUNDS} rounds train in two jobs on two nodes")
    _show(TRIED, dict.fromkeys(TRIED, "---").values())
    good = True
    for fault in faults.FAULTS:
        work = Work(prepared.copy(folder / fault.__name__), slurm, (TARGET,))
        outcome = faults.tried(fault, work, expected)
        good = good and outcome.good
        status = f"{outcome.status}, {outcome.repeated}"
        said = (outcome.fault, outcome.happened, status, _word(outcome.same))
        _show((*said, f"{outcome.seconds:.0f}"))
        slurm.cancel_all()
    return good


PARTS = {"measure": measure, "faults": break_things}


def _tree(path: Path, config: dict[str, Any]) -> Tree:
    tree = copied(ROOT, path)
    tree.configure(config)
    return tree


def _word(same: bool) -> str:
    return "the same" if same else "DIFFERENT"


def _show(*rows: Sequence[Any]) -> None:
    """Print rows of a table in Markdown."""
    for row in rows:
        print("|", " | ".join(map(str, row)), "|", flush=True)


if __name__ == "__main__":
    sys.exit(main())
