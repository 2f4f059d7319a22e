"""Tell how far the runs are, of the last replicate or of the given choice; also while they run."""

from dpfl.base import cli
from dpfl.terminal import choice, status


def main() -> None:
    """Parse the arguments, print; nothing is written, no lock is taken."""
    parser = cli.Parser(description=__doc__)
    choice.add_arguments(parser)
    chosen = choice.chosen_or_last(parser.parse_args())
    plan, process = chosen.plan(), status.process()
    print(f"running: {process}" if process else "nothing runs here")
    for line in status.of_plan(plan, running=process is not None).lines():
        print(line)


if __name__ == "__main__":
    cli.main(main)
