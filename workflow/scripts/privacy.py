"""Prices plans without training: epsilon, noise, rounds and the spending of a budget.

    python workflow/scripts/privacy.py epsilon --sample-rate 0.01 --noise-multiplier 1.1 \\
        --steps 2000 --delta 1e-5
    python workflow/scripts/privacy.py noise --epsilon 2 8 --examples 6000 --batch-size 64 \\
        --epochs 20 --delta 1e-5
"""

import argparse
import logging
import os
from collections.abc import Callable
from pathlib import Path

from dpfl import plugins
from dpfl.base import cli
from dpfl.base.errors import UserError
from dpfl.calculator import output as calculator_output
from dpfl.calculator import plans as calculator
from dpfl.calculator.arguments import add_works, one_work, real, setting, whole, works
from dpfl.calculator.output import at_most, column
from dpfl.contracts.schedule import Budget, Work
from dpfl.privacy.cache import NoiseCache
from dpfl.words.numerals import rounded_up

CACHE = Path(__file__).resolve().parents[2] / "results" / "cache"


def main() -> None:
    """Parse the arguments, compute, print."""
    args = arguments()
    logging.getLogger("absl").setLevel(logging.ERROR)  # orders that rdp leaves out cost nothing
    args.run(args)


def epsilon(args: argparse.Namespace) -> None:
    """Print what the steps cost under every accountant."""
    rate, steps = one_work(args)
    rows = calculator.epsilons(rate, args.noise_multiplier, steps, args.delta, args.accountant)
    facts = {"sample_rate": rate, "noise_multiplier": args.noise_multiplier, "steps": steps}
    columns = {
        "accountant": column("accountant", str),
        "ε": column("epsilon", rounded_up),
        "CPU seconds": column("seconds", "{:.2f}".format),
        "remark": remark,
    }
    answer(args, facts, rows, columns)


def noise(args: argparse.Namespace) -> None:
    """Print the noise that every combination of rate, steps and target needs."""
    rates, counts = works(args)
    rows = calculator.noise_table(
        rates, counts, args.epsilon, args.delta, args.accountant, cache_of(args), args.jobs
    )
    columns = {
        "q": column("sample_rate", "{:.6g}".format),
        "steps": column("steps", str),
        "target ε": column("target", "{:g}".format),
        "noise multiplier": column("noise_multiplier", rounded_up),
        f"ε ({args.accountant})": lambda row: at_most(row["epsilon"], row["target"]),
    }
    if args.accountant != calculator.CERTIFICATE:
        columns["ε certified (pld)"] = column("certified", rounded_up)
    answer(args, {"accountant": args.accountant}, rows, columns)


def rounds(args: argparse.Namespace) -> None:
    """Print how many steps or rounds a budget buys, and what one more would cost."""
    per_round = 1 if args.steps_per_round is None else args.steps_per_round
    rows = calculator.rounds(
        args.sample_rate, args.noise_multiplier, args.epsilon, args.delta, per_round
    )
    columns = {
        "rounds": column("rounds", str),
        "steps": column("steps", str),
        "ε": lambda row: at_most(row["epsilon"], args.epsilon),
        f"within ε = {args.epsilon:g}": lambda row: "yes" if row["within_budget"] else "no",
    }
    if args.steps_per_round is None:
        del columns["rounds"]
    facts = {
        "sample_rate": args.sample_rate,
        "noise_multiplier": args.noise_multiplier,
        "budget": args.epsilon,
        "steps_per_round": per_round,
    }
    answer(args, facts, rows, columns)


def schedule(args: argparse.Namespace) -> None:
    """Print the noise and the epsilon spent after every round of a budget strategy."""
    work = Work(args.sample_rate, args.steps_per_round, args.rounds)
    budget = Budget(args.epsilon, args.delta, args.accountant)
    settings = dict(args.setting)
    rows, rule = calculator.schedule(work, budget, args.strategy, settings, cache_of(args))
    columns = {
        "round": column("round", str),
        "steps": column("steps", str),
        "noise multiplier": column("noise_multiplier", rounded_up),
        "ε spent": lambda row: at_most(row["epsilon"], args.epsilon),
    }
    facts = {**vars(work), "budget": args.epsilon, "strategy": args.strategy, "settings": settings}
    if rule:
        del columns["ε spent"]
        facts["filter"] = rule
    answer(args, facts, rows, columns)
    if rule and not args.json:
        print(
            f"\nFixed in advance: Renyi order {rule['order']:g}; the sum of the steps' divergences "
            f"stays at or below {rule['budget']:.6g}, which is ε = {args.epsilon:g} at δ = "
            f"{args.delta:g}.\nThe noise of the other rounds is decided while training, from what "
            "was released before."
        )


def remark(row: calculator_output.Row) -> str:
    """Say which accountant certifies, and why another has no answer."""
    certificate = "the certificate" if row["accountant"] == calculator.CERTIFICATE else ""
    return row["reason"] or certificate


def answer(
    args: argparse.Namespace,
    facts: calculator_output.Row,
    rows: list[calculator_output.Row],
    columns: dict[str, calculator_output.Column],
) -> None:
    """Print one JSON object, or one table."""
    if args.json:
        print(calculator_output.as_json(args.command, args.delta, facts, rows))
    else:
        print(calculator_output.as_table(args.delta, facts, rows, columns))


def cache_of(args: argparse.Namespace) -> NoiseCache:
    """Return the cache that was asked for; UserError if its folder is something else."""
    if args.cache.exists() and not args.cache.is_dir():
        raise UserError(f"--cache is {args.cache}, expected a folder")
    return NoiseCache(None if args.no_cache else args.cache)


def arguments() -> argparse.Namespace:
    """Parse the command line; UserError for a mistake."""
    form = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
    parser = cli.Parser(description=__doc__, **form)
    commands = parser.add_subparsers(dest="command", required=True)

    def command(run: Callable[[argparse.Namespace], None]) -> argparse.ArgumentParser:
        text = run.__doc__.partition("\n")[0]
        found = commands.add_parser(run.__name__, description=text, help=text, **form)
        found.set_defaults(run=run)
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
    table.add_argument("--jobs", type=whole, default=os.cpu_count(), help="processes for a table")
    bought = command(rounds)
    bought.add_argument("--epsilon", type=real, required=True)
    bought.add_argument("--sample-rate", type=real, required=True)
    bought.add_argument("--noise-multiplier", type=real, required=True)
    bought.add_argument("--steps-per-round", type=whole)
    plan = command(schedule)
    strategies = ", ".join(plugins.names(calculator.BUDGETS))
    plan.add_argument("--strategy", required=True, help=strategies)
    plan.add_argument("--epsilon", type=real, required=True)
    plan.add_argument("--sample-rate", type=real, required=True)
    plan.add_argument("--steps-per-round", type=whole, required=True)
    plan.add_argument("--rounds", type=whole, required=True)
    plan.add_argument("--setting", type=setting, nargs="+", default=[], metavar="KEY=VALUE")
    for calibrating in (table, plan):
        calibrating.add_argument("--accountant", default=calculator.CERTIFICATE)
        calibrating.add_argument("--cache", type=Path, default=CACHE, help="calibrations kept")
        calibrating.add_argument("--no-cache", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    cli.main(main)
