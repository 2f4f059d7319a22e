"""Derive tables and verdicts from kept runs: {output}/{paper}/{scale}, where runs or code changed.

`--reference` holds the kept runs; `--figures` draws figures too, which takes most of the time.
`made.json` names what was derived, last. With `--runs` it writes the files of some runs that
`--folder` keeps, into results, and derives nothing. `--cores` is how many processes derive.
"""

from pathlib import Path

from dpfl.base import cli, files, options
from dpfl.provenance import derivations, kept
from dpfl.runs import kept_runs


def main() -> None:
    """Derive every folder, several at a time."""
    folders = {"reference": Path("results/reference"), "output": derivations.HOME}
    args = options.read(__doc__, **folders, figures=False, folder=Path(), runs="", cores=2)
    if args.runs:
        kept_runs.lay_out_whole(args.folder, Path("results"), set(args.runs.split()))
        return
    kept.all_of(args.reference, args.output, args.figures, args.cores)
    names = ["/".join(path.parts[-2:]) for path in derivations.folders(args.output)]
    files.write_json(args.output / "made.json", names)


if __name__ == "__main__":
    cli.main(main)
