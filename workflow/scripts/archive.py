"""Write the finished runs of a choice to results/reference/{paper}/{scale}.runs.tar.gz.

Of the last replicate, unless told otherwise. Not all have to be finished: `make restore` brings
them in elsewhere, or later, and `make replicate` trains the others.
"""

from pathlib import Path

from dpfl.base import cli
from dpfl.base.errors import UserError
from dpfl.planning import plan, trials
from dpfl.provenance import archive, checks
from dpfl.terminal import choice, lock

RESULTS, REFERENCE = Path("results"), Path("results/reference")


def main() -> None:
    """Write an archive per paper, each whole, while nobody replicates here."""
    parser = cli.Parser(description=__doc__)
    choice.add_arguments(parser)
    chosen = choice.chosen_or_last(parser.parse_args())
    made, scale = chosen.plan(), chosen.config()["scale"]
    held = lock.Lock()
    found = {paper: archive.finished_of(made, paper, RESULTS) for paper in plan.papers_with(made)}
    if not any(found.values()):
        raise UserError(f"no run has finished; first: {chosen.command()}")
    done = [run for runs in found.values() for run in runs]
    try:
        checks.require_inputs_current(chosen, made, done, RESULTS)
    except UserError as error:
        raise UserError(f"{error}; first: {chosen.command()}") from error
    for paper, runs in found.items():
        if runs:
            path = archive.path_of(REFERENCE, paper, scale)
            written = archive.write(path, runs, made, RESULTS)
            gone = f"; {written.left_out} of other code left out" if written.left_out else ""
            planned = len(trials.and_runs_of_paper(made, paper))
            print(f"{path}: {written.held} of {planned} runs{gone}")
    held.close()


if __name__ == "__main__":
    cli.main(main)
