"""The calculator's command line: numbers, and work given as steps or as the sizes of a data set."""

import argparse
from collections.abc import Iterable
from typing import Any

from dpfl import plugins, samplings
from dpfl.base.errors import UserError
from dpfl.calculator import plans as calculator

DIRECT = ("sample_rate", "steps")
SIZES = ("examples", "batch_size", "epochs")
CHOICE = "give --sample-rate and --steps, or --examples, --batch-size and --epochs"


def one_work(args: argparse.Namespace) -> tuple[float, int]:
    """Return the sample rate and the steps, given or from the sizes of a data set."""
    rates, counts = works(args)
    return rates[0], counts[0]


def works(args: argparse.Namespace) -> tuple[list[float], list[int]]:
    """Return sample rates and numbers of steps; UserError unless they are given in one way."""
    direct, sizes = ({n: vars(args)[n] for n in names} for names in (DIRECT, SIZES))
    if any(v is not None for v in sizes.values()):
        require_given(sizes, against=direct)
        rate, steps = calculator.steps_of(**sizes, delta=args.delta)
        return [rate], [steps]
    require_given(direct, against=sizes)
    return tuple(v if isinstance(v, list) else [v] for v in direct.values())


def require_given(wanted: dict[str, Any], against: dict[str, Any]) -> None:
    """Expect all of some arguments and none of others."""
    for name, value in wanted.items():
        if value is None:
            raise UserError(f"{option(name)} is missing; {CHOICE}")
    for name, value in against.items():
        if value is not None:
            raise UserError(f"{option(name)} {value} beside {option(next(iter(wanted)))}; {CHOICE}")


def require_sampling(args: argparse.Namespace) -> None:
    """Expect no accountant beside a sampling, and no participations without one."""
    if args.sampling and args.accountant:
        raise UserError("--accountant beside --sampling: each adjacency has one accountant here")
    for name in ("participations", "factorization"):
        if getattr(args, name) is not None and not args.sampling:
            raise UserError(f"--{name} {getattr(args, name)} without --sampling")
    if args.setting and not args.factorization:
        raise UserError(f"--setting {'='.join(args.setting[0])} without --factorization")


def plans_of(
    args: argparse.Namespace, works: Iterable[tuple[float, float, int]]
) -> list[samplings.Plan]:
    """Return plans of these rates, noise multipliers and steps, with what else was given."""
    found = [samplings.Plan(*work, args.participations) for work in works]
    if args.factorization:
        given = args.factorization, dict(args.setting)
        return [samplings.correlated(args.sampling, plan, *given) for plan in found]
    return found


def option(name: str) -> str:
    """Return how an argument is written on the command line."""
    return f"--{name.replace('_', '-')}"


def add_works(parser: argparse.ArgumentParser, several: dict[str, str]) -> None:
    """Let the work be given as rate and steps, perhaps several, or as the sizes of a data set."""
    parser.add_argument("--sample-rate", type=real, help="batch size / examples", **several)
    parser.add_argument("--steps", type=whole, **several)
    parser.add_argument("--examples", type=whole, help="in place of rate and steps")
    parser.add_argument("--batch-size", type=whole)
    parser.add_argument("--epochs", type=real, help="of floor(examples / batch size) steps")
    ways = ", ".join(plugins.names("samplings"))
    parser.add_argument("--sampling", help=f"{ways}: under every adjacency that it has")
    parser.add_argument("--participations", type=whole, help="of one example at most, in steps")
    correlated = ", ".join(plugins.names("factorizations"))
    parser.add_argument("--factorization", help=f"of correlated noise: {correlated}")
    add_setting(parser)


def add_setting(parser: argparse.ArgumentParser) -> None:
    """Add settings of what else is named."""
    parser.add_argument("--setting", type=setting, nargs="+", default=[], metavar="KEY=VALUE")


def real(text: str) -> float:
    """Read a number."""
    return read(float, text, "a number")


def whole(text: str) -> int:
    """Read a whole number."""
    return read(int, text, "a whole number")


def setting(text: str) -> tuple[str, str]:
    """Read key=value."""
    key, equals, value = text.partition("=")
    if not (key and equals and value):
        raise argparse.ArgumentTypeError(f"{text!r}, expected key=value")
    return key, value


def read(kind: type, text: str, expected: str) -> Any:
    """Read a value of a kind."""
    try:
        return kind(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}, expected {expected}") from error
