"""Retrain a sample of kept runs and compare them; exit status 1 if one differs.

On equal hardware, with equal versions and code, bits must be equal; else accuracies must agree.
"""

import sys
from pathlib import Path

from tabulate import tabulate

from dpfl.base import cli
from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest
from dpfl.provenance import verify
from dpfl.runs import kept_runs
from dpfl.terminal import lock
from dpfl.terminal.replicate import count

HEADS = ("run", "kept, %", "now, %", "asked for", "found")


def main() -> None:
    """Choose a sample of the kept folders, retrain it, print the table."""
    parser = cli.Parser(description=__doc__)
    parser.add_argument("--papers", nargs="*", help="default: all that are kept")
    parser.add_argument("--scale", help="default: all that are kept")
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--minutes", type=float, default=verify.MINUTES, help="on one core")
    parser.add_argument("--cores", default="all", help="runs that train at a time; default: all")
    parser.add_argument("--reference", type=Path, default=Path("results/reference"))
    parser.add_argument("--home", type=Path, default=Path("results/verify"))
    args = parser.parse_args()
    folders = _chosen(args)
    chosen = verify.of_folders(folders, args.minutes)
    if not chosen:
        raise UserError(f"nothing of this in {args.reference} can be retrained in so many minutes")
    seconds = sum(verify.cost(row) for rows in chosen.values() for row in rows)
    runs = sum(map(len, chosen.values()))
    print(f"{runs} runs are retrained: about {seconds / 60:.1f} core-minutes", flush=True)
    held, found = lock.Lock(args.home / "running.json", "verify"), []
    try:
        for folder, rows in chosen.items():
            again = verify.Again(folder, rows, args.home, args.data_dir)
            again.train(count(args.cores))
            found += again.compared()
    finally:
        held.close()
    print(tabulate(map(_shown, found), HEADS))
    if missing := [path for path in folders if path not in chosen]:
        names = ", ".join("/".join(path.parts[-2:]) for path in missing)
        print(f"not compared, without training or longer than the time asked: {names}")
    sys.exit(any(row["verdict"] in (verify.DIFFERS, verify.FAILED) for row in found))


def _chosen(args: object) -> list[Path]:
    """Return the kept folders that are asked for; UserError for a name that none has."""
    there = kept_runs.folders(args.reference)
    papers, scales = args.papers or (), [args.scale] if args.scale else ()
    for what, names, known in (
        ("paper", papers, {path.parent.name for path in there}),
        ("scale", scales, {path.name for path in there}),
    ):
        for name in names:
            if name not in known:
                raise UserError(f"no {what} {name!r} is kept; {nearest(name, sorted(known))}")
    return [
        path
        for path in there
        if (not papers or path.parent.name in papers) and (not scales or path.name in scales)
    ]


def _shown(row: dict) -> list[str]:
    accuracies = (row["kept"], row["now"])
    shown = ["none" if value is None else f"{100 * value:.2f}" for value in accuracies]
    return [row["run"], *shown, row["asked"], row["verdict"]]


if __name__ == "__main__":
    cli.main(main)
