"""Replicate papers with Snakemake: a line per finished run, the answer at the end.

    python workflow/scripts/replicate.py --scale mnist --data-dir DIR -- --workflow-profile PROFILE

What follows -- goes to Snakemake as it is.
"""

import argparse
import sys

from dpfl.base import cli
from dpfl.terminal import choice
from dpfl.terminal.replicate import replicate


def main() -> None:
    """Parse the arguments, replicate, end with Snakemake's exit status."""
    parser = cli.Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    choice.add_arguments(parser)
    parser.add_argument("--cores", default="all", help="jobs at a time; default: all cores")
    parser.add_argument("snakemake", nargs="*", help="arguments for Snakemake, after --")
    arguments = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    sys.exit(replicate(choice.chosen(arguments), arguments.cores, arguments.snakemake))


if __name__ == "__main__":
    cli.main(main)
