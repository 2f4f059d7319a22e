"""Tell how far the runs are, of the last replicate or of the given choice; also while they run.

With `--list`, what a choice can name: papers, scales, data sets; of one paper studies and methods.
"""

from dpfl.base import cli
from dpfl.terminal import choice, listing, lock, status


def main() -> None:
    """Parse the arguments, print; nothing is written, no lock is kept."""
    parser = cli.Parser(description=__doc__)
    choice.add_arguments(parser)
    parser.add_argument("--list", action="store_true", help="what there is, in place of how far")
    arguments = parser.parse_args()
    chosen = choice.chosen(arguments)
    lines = listing.lines(chosen) if arguments.list else status.lines(chosen, lock.holder())
    for line in lines:
        print(line)


if __name__ == "__main__":
    cli.main(main)
