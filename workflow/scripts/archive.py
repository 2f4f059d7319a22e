"""Write the finished runs of a choice to results/reference/{paper}/{scale}.runs.tar.gz.

Of the last replicate, unless told otherwise. Not all have to be finished: `make restore` brings
them in elsewhere, or later, and `make replicate` trains the others.
"""

from pathlib import Path

from dpfl import cli
from dpfl.errors import UserError
from dpfl.planning import plan
from dpfl.provenance import archive
from dpfl.terminal import choice

RESULTS, REFERENCE = Path("results"), Path("results/reference")


def main() -> None:
    """Write an archive per paper, each whole."""
    parser = cli.Parser(description=__doc__)
    choice.add_arguments(parser)
    chosen = choice.chosen_or_last(parser.parse_args())
    made, scale = chosen.plan(), chosen.config()["scale"]
    found = {paper: archive.finished_of(made, paper, RESULTS) for paper in plan.papers_with(made)}
    if not any(found.values()):
        raise UserError(f"no run has finished; first: {chosen.command()}")
    for paper, runs in found.items():
        if runs:
            path = archive.path_of(REFERENCE, paper, scale)
            held = archive.write(path, runs, RESULTS)
            print(f"{path}: {held} of {len(archive.of_its_studies(made, paper))} runs")


if __name__ == "__main__":
    cli.main(main)
