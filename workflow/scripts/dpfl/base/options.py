"""The options of a driver, as its rule in workflow/rules gives them."""

import argparse
from typing import Any

from dpfl.base import cli


def read(description: str, **wanted: Any) -> argparse.Namespace:
    """Return the options of the command line, by name; UserError for a mistake.

    An option that has to be given is named with its type. The type is in a list if the option takes
    several values. Any other is named with its default, where False makes it a switch:

        read(__doc__, study=Path, models=[str], runs=Path("results/runs"), table=False)
    """
    parser = cli.Parser(description=description, allow_abbrev=False)
    for name, kind in wanted.items():
        parser.add_argument(f"--{name.replace('_', '-')}", **_how(kind))
    return parser.parse_args()


def _how(kind: Any) -> dict[str, Any]:
    if isinstance(kind, list):
        return {"nargs": "+", **_how(kind[0])}
    if kind is False:
        return {"action": "store_true"}
    if callable(kind):
        return {"type": kind, "required": True}
    return {"type": type(kind), "default": kind}
