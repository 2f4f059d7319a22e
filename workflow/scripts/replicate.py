"""Replicate papers with Snakemake: a line per finished run, the answer at the end.

    python workflow/scripts/replicate.py --scale mnist --data-dir DIR -- --workflow-profile PROFILE

What follows -- goes to Snakemake as it is.
"""

import argparse
import sys
from collections.abc import Callable, Sequence

from dpfl.base import cli
from dpfl.base.errors import UserError
from dpfl.papers import folder
from dpfl.runs import checked
from dpfl.terminal import answer, choice
from dpfl.terminal.replicate import replicate
from dpfl.terminal.status import RESULTS


def main() -> None:
    """Parse the arguments, replicate, end with Snakemake's exit status."""
    parser = cli.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    choice.add_arguments(parser)
    parser.add_argument("--cores", default="all", help="jobs at a time; default: all cores")
    parser.add_argument("--seeds", choices=["decide"], help="more seeds while a claim needs them")
    parser.add_argument("--checked", action="store_true", help="remember these results as checked")
    parser.add_argument("snakemake", nargs="*", help="arguments for Snakemake, after --")
    arguments = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    chosen = choice.chosen(arguments)
    try:
        run = _run(arguments.seeds)
        status = run(chosen, arguments.cores, arguments.snakemake, closing_rows=rows)
    except KeyboardInterrupt:
        sys.exit("stopped; repeat to go on")
    except UserError as error:
        raise UserError("\n".join([str(error), *answer.older()])) from error
    if arguments.checked and status == 0:
        checked.write(answer.summaries(chosen.plan().runs))
    sys.exit(status)


def _run(seeds: str | None) -> Callable[..., int]:
    if seeds is None:
        return replicate
    from dpfl.terminal import decide  # reads claims, which takes a second

    return decide.decide


def rows(keys: Sequence[str], here: bool) -> list[str]:
    """Return a line for each of some papers: what came out here, or what is stored."""
    from dpfl.provenance import derivations
    from dpfl.report import answers, values  # two CPU seconds, which a failure need not take

    values.read.cache_clear()  # the look before had other results
    if here:
        return answers.in_terminal(*answers.of_run(folder.HOME, RESULTS, keys))
    papers, lines = answers.of_stored(folder.HOME, derivations.HOME)
    return answers.in_terminal({key: of for key, of in papers.items() if key in keys}, lines)


if __name__ == "__main__":
    cli.main(main)
