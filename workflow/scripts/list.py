"""List papers, scales and data sets; of one paper its studies and methods."""

from dpfl.base import cli
from dpfl.terminal import choice, listing


def main() -> None:
    """Parse the arguments, print."""
    parser = cli.Parser(description=__doc__)
    choice.add_arguments(parser)
    for line in listing.lines(choice.chosen(parser.parse_args())):
        print(line)


if __name__ == "__main__":
    cli.main(main)
