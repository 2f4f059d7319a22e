"""Derive tables and verdicts from kept runs: {output}/{paper}/{scale}, where runs or code changed.

`--reference` holds the kept runs; `--figures` draws figures too, which takes most of the time.
`made.json` names what was derived, last.
"""

from pathlib import Path

from dpfl.base import cli, files, options
from dpfl.provenance import kept


def main() -> None:
    """Derive every folder, several at a time."""
    folders = {"reference": Path("results/reference"), "output": kept.HOME}
    args = options.read(__doc__, **folders, figures=False)
    kept.all_of(args.reference, args.output, args.figures)
    names = ["/".join(path.parts[-2:]) for path in kept.folders(args.output)]
    files.write_json(args.output / "made.json", names)


if __name__ == "__main__":
    cli.main(main)
