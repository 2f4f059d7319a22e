"""Tell how far the runs are, of the last replicate or of the given choice; also while they run."""

from dpfl.base import cli
from dpfl.terminal import choice, lock, status


def main() -> None:
    """Parse the arguments, print; nothing is written, no lock is taken."""
    parser = cli.Parser(description=__doc__)
    choice.add_arguments(parser)
    chosen = choice.chosen_or_last(parser.parse_args())
    plan, holder = chosen.plan(), lock.holder()
    runs = holder is not None and holder.lives()
    print(f"running: {holder}" if runs else "nothing runs here")
    for line in status.lines(plan, status.states(plan, runs)):
        print(line)


if __name__ == "__main__":
    cli.main(main)
