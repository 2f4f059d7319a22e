"""Prices plans without training: epsilon, noise, rounds and the spending of a budget.

    python workflow/scripts/privacy.py epsilon --sample-rate 0.01 --noise-multiplier 1.1 \\
        --steps 2000 --delta 1e-5
    python workflow/scripts/privacy.py noise --epsilon 2 8 --examples 6000 --batch-size 64 \\
        --epochs 20 --delta 1e-5
"""

import argparse
import logging
from collections.abc import Callable
from pathlib import Path

from dpfl import plugins
from dpfl.base import cli
from dpfl.calculator import plans as calculator
from dpfl.calculator.arguments import add_setting, add_works, real, whole
from dpfl.calculator.output import epsilon, noise, rounds, schedule

CACHE = Path(__file__).resolve().parents[2] / "results" / "cache"


def main() -> None:
    """Parse the arguments, compute, print."""
    args = arguments()
    logging.getLogger("absl").setLevel(logging.ERROR)  # orders that rdp leaves out cost nothing
    args.run(args)


def arguments() -> argparse.Namespace:
    """Parse the command line; UserError for a mistake."""
    form = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
    parser = cli.Parser(description=__doc__, **form)
    commands = parser.add_subparsers(dest="command", required=True)

    def command(run: Callable[[argparse.Namespace], None]) -> argparse.ArgumentParser:
        text = run.__doc__.partition("\n")[0]
        found = commands.add_parser(run.__name__, description=text, help=text, **form)
        found.set_defaults(run=run, sampling=None)
        found.add_argument("--delta", type=real, required=True)
        found.add_argument("--json", action="store_true", help="for machines, unrounded")
        return found

    one = command(epsilon)
    one.add_argument("--noise-multiplier", type=real, required=True)
    one.add_argument("--accountant", nargs="+", help="default: all of them")
    add_works(one, {})
    table = command(noise)
    table.add_argument("--epsilon", type=real, nargs="+", required=True)
    add_works(table, {"nargs": "+"})
    table.add_argument("--accountant", help=f"default: {calculator.CERTIFICATE}")
    bought, plan = command(rounds), command(schedule)
    for spent in (bought, plan):
        spent.add_argument("--epsilon", type=real, required=True)
        spent.add_argument("--sample-rate", type=real, required=True)
    bought.add_argument("--noise-multiplier", type=real, required=True)
    bought.add_argument("--steps-per-round", type=whole)
    strategies = ", ".join(plugins.names(calculator.BUDGETS))
    plan.add_argument("--strategy", required=True, help=strategies)
    plan.add_argument("--steps-per-round", type=whole, required=True)
    plan.add_argument("--rounds", type=whole, required=True)
    add_setting(plan)
    plan.add_argument("--accountant", default=calculator.CERTIFICATE)
    for calibrating in (table, plan):
        calibrating.add_argument("--cache", type=Path, default=CACHE, help="calibrations kept")
        calibrating.add_argument("--no-cache", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    cli.main(main)
