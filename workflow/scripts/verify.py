"""Retrain a sample of kept runs and compare them; exit status 1 if one differs.

`--papers` and `--scale` choose among all that are kept. The sample takes at most `--minutes` on one
core, and `--cores` runs train at a time. On equal hardware, with equal versions and code, bits must
be equal; else accuracies must agree.
"""

import argparse
import sys
from contextlib import closing
from pathlib import Path

from tabulate import tabulate

from dpfl.base import cli, options
from dpfl.base.errors import UserError
from dpfl.base.suggestions import unknown
from dpfl.provenance import verify
from dpfl.runs import kept_runs
from dpfl.terminal import lock
from dpfl.terminal.replicate import count

HEADS = ("run", "kept, %", "now, %", "asked for", "found")


def main() -> None:
    """Choose a sample of the kept folders, retrain it, print the table."""
    places = {"reference": Path("results/reference"), "home": Path("results/verify")}
    what = {"papers": [""], "scale": "", "data_dir": Path("data"), "minutes": verify.MINUTES}
    args = options.read(__doc__, **what, **places, cores="all")
    folders = _chosen(args)
    chosen = verify.of_folders(folders, args.minutes)
    if not chosen:
        raise UserError(f"nothing of this in {args.reference} can be retrained in so many minutes")
    seconds = sum(verify.cost(row) for rows in chosen.values() for row in rows)
    runs = sum(map(len, chosen.values()))
    print(f"{runs} runs are retrained: about {seconds / 60:.1f} core-minutes", flush=True)
    found = []
    with closing(lock.Lock(args.home / "running.txt", "verify")):
        for folder, rows in chosen.items():
            again = verify.Again(folder, rows, args.home, args.data_dir)
            again.train(count(args.cores))
            found += again.compared()
    print(tabulate(map(_shown, found), HEADS))
    if missing := [path for path in folders if path not in chosen]:
        names = ", ".join("/".join(path.parts[-2:]) for path in missing)
        print(f"not compared, without training or longer than the time asked: {names}")
    sys.exit(any(row["verdict"] in (verify.DIFFERS, verify.FAILED) for row in found))


def _chosen(args: argparse.Namespace) -> list[Path]:
    """Return the kept folders that are asked for; UserError for a name that none has."""
    there = kept_runs.folders(args.reference)
    papers, scales = ({path.parts[place] for path in there} for place in (-2, -1))
    chosen = (args.papers or papers, [args.scale] if args.scale else scales)
    for what, names, known in zip(("paper", "scale"), chosen, (papers, scales), strict=True):
        for line in unknown(names, sorted(known), f"no {what}", " is kept"):
            raise UserError(line)
    return [path for path in there if path.parts[-2] in chosen[0] and path.parts[-1] in chosen[1]]


def _shown(row: dict) -> list[str]:
    told = ("none" if row[k] is None else f"{100 * row[k]:.2f}" for k in ("kept", "now"))
    return [row["run"], *told, row["asked"], row["verdict"]]


if __name__ == "__main__":
    cli.main(main)
