"""Retrain a sample of kept runs and compare them; exit status 1 if one differs.

On equal hardware, with equal versions and code, bits must be equal; else accuracies must agree.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

from tabulate import tabulate

from dpfl.base import cli
from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest
from dpfl.provenance import kept, sample, verify
from dpfl.terminal import lock
from dpfl.terminal.replicate import count

HEADS = ("run", "kept, %", "now, %", "asked for", "found")


def main() -> None:
    """Check the kept folders, retrain, print the table."""
    parser = cli.Parser(description=__doc__)
    parser.add_argument("--papers", nargs="*", help="default: all that are kept")
    parser.add_argument("--scale", help="default: all that are kept")
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--minutes", type=float, default=sample.MINUTES, help="by the estimate")
    parser.add_argument("--cores", default="all", help="runs that train at a time; default: all")
    parser.add_argument("--reference", type=Path, default=Path("results/reference"))
    parser.add_argument("--results", type=Path, default=Path("results"))
    args = parser.parse_args()
    cores = count(args.cores)
    there = list(kept.folders(args.reference))
    _expect("paper", args.papers or (), {path.parent.name for path in there})
    _expect("scale", [args.scale] if args.scale else (), {path.name for path in there})
    folders = [
        path
        for path in there
        if (not args.papers or path.parent.name in args.papers)
        and (not args.scale or path.name == args.scale)
    ]
    for path in folders:
        kept.about(path)  # what has changed since is no sample
    entries = verify.of_folders(folders, args.minutes)
    if not entries:
        raise UserError(f"nothing of this in {args.reference} names runs that can be retrained")
    retrained = {entry["run"]: entry["estimate"] for entry in entries}
    minutes = sum(retrained.values()) / 60
    print(f"{len(retrained)} runs are retrained: about {minutes:.1f} core-minutes", flush=True)
    home = args.results / "verify"
    held = lock.Lock(home / "running.json", "verify")
    try:
        again = verify.Retraining(home, args.results, args.data_dir, cores)
        again.train(entries)
        rows = [verify.compared(entry, again.found(entry)) for entry in entries]
    finally:
        held.close()
    print(tabulate([_shown(row) for row in rows], HEADS))
    if missing := verify.left_out(folders, entries):
        print(f"not compared, without training or longer than the time asked: {', '.join(missing)}")
    sys.exit(any(row["verdict"] in (verify.DIFFERS, verify.FAILED) for row in rows))


def _expect(what: str, names: Iterable[str], known: set[str]) -> None:
    for name in names:
        if name not in known:
            raise UserError(f"no {what} {name!r} is kept; {nearest(name, sorted(known))}")


def _shown(row: dict) -> list[str]:
    accuracies = (row["kept"], row["now"])
    shown = ["none" if value is None else f"{100 * value:.2f}" for value in accuracies]
    return [row["run"], *shown, row["asked"], row["verdict"]]


if __name__ == "__main__":
    cli.main(main)
