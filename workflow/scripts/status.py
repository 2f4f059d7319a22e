"""Tell how far the runs are, of the last replicate or of the given choice; also while they run."""

from dpfl.base import cli
from dpfl.terminal import choice, lock, status


def main() -> None:
    """Parse the arguments, print; nothing is written, no lock is kept."""
    parser = cli.Parser(description=__doc__)
    choice.add_arguments(parser)
    chosen = choice.chosen(parser.parse_args()) or choice.last()
    plan, running = chosen.plan(), lock.holder()
    print(f"running: {running}" if running else "nothing runs here")
    for line in status.lines(plan, bool(running)):
        print(line)


if __name__ == "__main__":
    cli.main(main)
