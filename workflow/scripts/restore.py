"""Bring the archived runs of a choice into results, so that they are not trained here.

Of the last replicate, unless told otherwise; from results/reference/{paper}/{scale}.runs.tar.gz.
"""

from pathlib import Path

from dpfl.base import cli
from dpfl.base.errors import UserError
from dpfl.planning import plan
from dpfl.provenance import archive
from dpfl.terminal import choice, lock

RESULTS, REFERENCE = Path("results"), Path("results/reference")


def main() -> None:
    """Restore an archive per paper, while nobody replicates here."""
    parser = cli.Parser(description=__doc__)
    choice.add_arguments(parser)
    chosen = choice.chosen_or_last(parser.parse_args())
    made, scale = chosen.plan(), chosen.config()["scale"]
    paths = [archive.path_of(REFERENCE, paper, scale) for paper in plan.papers_with(made)]
    there = [path for path in paths if path.exists()]
    if not there:
        raise UserError(f"no archive of these runs: {', '.join(map(str, paths))}")
    held = lock.Lock()
    for path in there:
        print(f"{path}: {archive.restore(path, made, RESULTS)}")
    held.close()


if __name__ == "__main__":
    cli.main(main)
