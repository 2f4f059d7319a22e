"""The commands of the privacy calculator: a table for readers, or strict JSON for machines."""

import argparse
import json
import math
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

from dpfl import samplings
from dpfl.base.errors import UserError
from dpfl.calculator import plans as calculator
from dpfl.calculator.arguments import one_work, plans_of, require_sampling, works
from dpfl.contracts.schedule import Budget, Work
from dpfl.plugins.catalogue import title
from dpfl.privacy.cache import NoiseCache
from dpfl.privacy.events import ADD_OR_REMOVE_ONE
from dpfl.tables.rendering import markdown
from dpfl.words.numerals import rounded_up

Row = dict[str, Any]
Columns = Mapping[str, Callable[[Row], str]]

MEANING = {"unit": "example", "adjacency": ADD_OR_REMOVE_ONE, "sampling": "poisson"}
IN_WORDS = "Unit: one example, added or removed; every step draws a fresh Poisson batch at rate q."


def epsilon(args: argparse.Namespace) -> None:
    """Print what the steps cost under every accountant, or under every adjacency of a sampling."""
    rate, steps = one_work(args)
    require_sampling(args)
    if args.sampling:
        (plan,) = plans_of(args, [(rate, args.noise_multiplier, steps)])
        return _of_sampling(args, samplings.costs(args.sampling, plan, args.delta))
    rows = calculator.epsilons(rate, args.noise_multiplier, steps, args.delta, args.accountant)
    facts = {"sample_rate": rate, "noise_multiplier": args.noise_multiplier, "steps": steps}
    columns = {
        "accountant": column("accountant", str),
        "ε": column("epsilon", rounded_up),
        "CPU seconds": column("seconds", "{:.2f}".format),
        "remark": _remark,
    }
    _answer(args, facts, rows, columns)


def noise(args: argparse.Namespace) -> None:
    """Print the noise that every combination of rate, steps and target needs."""
    rates, counts = works(args)
    require_sampling(args)
    if args.sampling:
        plans = plans_of(args, product(rates, [1.0], counts))
        priced = args.epsilon, args.delta
        return _of_sampling(args, samplings.noises(args.sampling, plans, *priced))
    args.accountant = args.accountant or calculator.CERTIFICATE
    asked = rates, counts, args.epsilon, args.delta, args.accountant
    rows = calculator.noise_table(*asked, _cache_of(args))
    columns = {
        "q": column("sample_rate", "{:.6g}".format),
        "steps": column("steps", str),
        "target ε": column("target", "{:g}".format),
        "noise multiplier": column("noise_multiplier", rounded_up),
        f"ε ({args.accountant})": lambda row: at_most(row["epsilon"], row["target"]),
    }
    if args.accountant != calculator.CERTIFICATE:
        columns["ε certified (pld)"] = column("certified", rounded_up)
    _answer(args, {"accountant": args.accountant}, rows, columns)


def _of_sampling(args: argparse.Namespace, rows: list[Row]) -> None:
    """Print rows of several adjacencies, each with the accountant that prices it."""
    columns = {
        "q": column("sample_rate", "{:.6g}".format),
        "steps": column("steps", str),
        "adjacency": column("adjacency", str),
        "target ε": column("target", "{:g}".format),
        "noise multiplier": column("noise_multiplier", rounded_up),
        "accountant": column("accountant", str),
        "ε": column("epsilon", rounded_up),
    }
    if args.command == "epsilon":
        del columns["target ε"]
    if args.factorization:
        columns["sensitivity"] = column("sensitivity", rounded_up)
    _answer(args, {}, rows, columns)


def rounds(args: argparse.Namespace) -> None:
    """Print how many steps or rounds a budget buys, and what one more would cost."""
    per_round = 1 if args.steps_per_round is None else args.steps_per_round
    plan = args.sample_rate, args.noise_multiplier, args.epsilon, args.delta, per_round
    rows = calculator.rounds(*plan)
    columns = {
        "rounds": column("rounds", str),
        "steps": column("steps", str),
        "ε": lambda row: at_most(row["epsilon"], args.epsilon),
        f"within ε = {args.epsilon:g}": lambda row: "yes" if row["within_budget"] else "no",
    }
    if args.steps_per_round is None:
        del columns["rounds"]
    facts = {"sample_rate": args.sample_rate, "noise_multiplier": args.noise_multiplier}
    facts |= {"budget": args.epsilon, "steps_per_round": per_round}
    _answer(args, facts, rows, columns)


def schedule(args: argparse.Namespace) -> None:
    """Print the noise and the epsilon spent after every round of a budget strategy."""
    work = Work(args.sample_rate, args.steps_per_round, args.rounds)
    budget = Budget(args.epsilon, args.delta, args.accountant)
    settings = dict(args.setting)
    rows, rule = calculator.schedule(work, budget, args.strategy, settings, _cache_of(args))
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
    _answer(args, facts, rows, columns)
    if rule and not args.json:
        print(
            f"\nFixed in advance: Renyi order {rule['order']:g}; the sum of the steps' divergences "
            f"stays at or below {rule['budget']:.6g}, which is ε = {args.epsilon:g} at δ = "
            f"{args.delta:g}.\nThe noise of the other rounds is decided while training, from what "
            "was released before."
        )


def _remark(row: Row) -> str:
    """Say which accountant certifies, and why another has no answer."""
    certificate = "the certificate" if row["accountant"] == calculator.CERTIFICATE else ""
    return row["reason"] or certificate


def _answer(args: argparse.Namespace, facts: Row, rows: list[Row], columns: Columns) -> None:
    """Print one JSON object, or one table."""
    if args.json:
        print(as_json(args, facts, rows))
    else:
        print(as_table(args, facts, rows, columns))


def _cache_of(args: argparse.Namespace) -> NoiseCache:
    """Return the cache that was asked for; UserError if its folder is something else."""
    if args.cache.exists() and not args.cache.is_dir():
        raise UserError(f"--cache is {args.cache}, expected a folder")
    return NoiseCache(None if args.no_cache else args.cache)


def as_table(args: argparse.Namespace, facts: Row, rows: list[Row], columns: Columns) -> str:
    """Return a line on what the numbers mean, one on what was asked, and a Markdown table."""
    unit = f"Unit: one example. {title('samplings', args.sampling)}" if args.sampling else IN_WORDS
    meaning = f"ε of all steps together at δ = {args.delta:g}, rounded up. {unit}"
    told = {name: value for name, value in facts.items() if isinstance(value, str | int | float)}
    asked = ", ".join(f"{name.replace('_', ' ')} {_text(value)}" for name, value in told.items())
    lines = [[shown(row) for shown in columns.values()] for row in rows]
    return "\n".join(filter(None, [meaning, asked, "\n" + markdown(list(columns), lines)])).rstrip()


def as_json(args: argparse.Namespace, facts: Row, rows: list[Row]) -> str:
    """Return one JSON object with the unrounded numbers; infinity is the text "inf"."""
    meaning = {"unit": "example", "sampling": args.sampling} if args.sampling else MEANING
    answer = {"command": args.command, **meaning, "delta": args.delta, **facts, "rows": rows}
    return json.dumps(_finite(answer), indent=2, allow_nan=False)


def column(name: str, form: Callable[[Any], str]) -> Callable[[Row], str]:
    """Make a column of formatted values, empty where there is none."""
    return lambda row: "" if row[name] is None else form(row[name])


def at_most(epsilon: float, target: float) -> str:
    """Round an epsilon up, but not above a target that it meets."""
    text = rounded_up(epsilon)
    above = math.isfinite(epsilon) and float(text) > target >= epsilon
    return f"{target}" if above else text


def _finite(value: Any) -> Any:
    """Replace infinity inside an answer."""
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return "inf" if value == math.inf else value


def _text(value: str | float) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
