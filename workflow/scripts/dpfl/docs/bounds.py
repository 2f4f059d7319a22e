"""docs/reference/bounds.md: how far one example, or client, moves what noise is for, as found."""

from collections.abc import Iterator
from functools import partial

from dpfl import mechanisms, plugins
from dpfl.audit import found, trials
from dpfl.docs import markdown
from dpfl.privacy.release import of_step

PROVEN = ("dpsgd", "dp-fedavg")
UNITS = {"client": trials.Clients, "example": trials.Examples}
CLIPPING = {"rule": "fixed", "clip_norm": 1.0}
HEADS = ("mechanism", "unit", "published code, commit, place", "one moves, in C", "proof")


def table() -> str:
    """Return a row for each mechanism of published code, and for the ones that it could be."""
    return markdown.table(HEADS, list(_rows()))


def _rows() -> Iterator[list[str]]:
    for name in plugins.names("mechanisms"):
        declared = partial(plugins.constant, "mechanisms", name)
        if declared("READ_IN") or name in PROVEN:
            settings = {"mechanism": {"estimator": name}, "clipping": CLIPPING}
            build = partial(mechanisms.build, settings)
            moved = found.most(build, UNITS[declared("UNIT")]).moved
            reasons = getattr(of_step(build(), 1.0, 1), "reasons", ["yes"])
            places = ", ".join(declared("READ_IN"))
            yield [f"`{name}`", declared("UNIT"), places, f"{moved:,.3g}", "; ".join(reasons)]
