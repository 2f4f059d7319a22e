"""Keep finished results with their provenance: results/reference/{paper}/{scale}.

Of the last replicate, unless told otherwise. Files that differ from the commit are refused. So are
runs without a result or of other code, and tables that would be made again.

With `--finished`, what has finished of a scale that is not complete: results/unfinished. Such runs
count, and are not trained again, until the scale is kept.
"""

from pathlib import Path

from dpfl.base import cli
from dpfl.base.errors import UserError
from dpfl.planning import compose, plan
from dpfl.provenance import checks, tree
from dpfl.provenance.keep import Kept
from dpfl.terminal import choice, lock

RESULTS = Path("results")


def main() -> None:
    """Check everything, then write a folder per paper, each whole, while nobody replicates here."""
    parser = cli.Parser(description=__doc__)
    choice.add_arguments(parser)
    parser.add_argument("--finished", action="store_true", help="of a scale that is not complete")
    arguments = parser.parse_args()
    chosen = choice.chosen(arguments) or choice.last()
    made = chosen.plan()
    papers = [key for key in plan.papers_with(made) if key in compose.chosen(chosen.config())]
    commit, held, whole = tree.clean_commit(), lock.take(), not arguments.finished
    try:
        if whole:
            checks.require_finished(made, RESULTS)
            checks.require_current(chosen, made, papers)
    except UserError as error:
        raise UserError(f"{error}; first: {chosen.command()}") from error
    for paper in papers:
        kept = Kept(made, chosen, commit, paper, RESULTS, finished_alone=not whole)
        print(kept.write(RESULTS / ("reference" if whole else "unfinished")))
    held.close()


if __name__ == "__main__":
    cli.main(main)
