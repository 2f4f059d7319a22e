"""Shows the files of a trained run in its folder, or says why there are none."""

import argparse
from pathlib import Path

from dpfl.base import cli
from dpfl.base.errors import UserError
from dpfl.runs import finished
from dpfl.training.job import DONE


def main() -> None:
    """Show the files; without any, the stamp is removed, so that the next call trains the run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stamp", required=True, type=Path, help="what training left of the run")
    parser.add_argument("--log", required=True, help="where training told its progress")
    parser.add_argument("--output", required=True, type=Path, help="folder of the run")
    args = parser.parse_args()
    try:
        told = args.stamp.read_text(encoding="utf-8")
    except FileNotFoundError as error:  # an earlier attempt at this job took it away
        raise UserError(f"{args.output.name}: it failed (see {args.log})") from error
    try:
        if told != DONE:
            raise UserError(f"{args.output.name}: {told} (see {args.log})")
        finished.show(args.output)
    except (UserError, OSError):
        args.stamp.unlink()
        raise


if __name__ == "__main__":
    cli.main(main)
