"""One computed sentence per paper: what holds, how much, and what is open."""

from collections.abc import Iterable

from dpfl.papers.badges import FAILS, HOLDS
from dpfl.report.claims_table import Line
from dpfl.report.forms import counted

UNDECIDED = {
    "demonstration": "{} only shown at work on a small data set",
    "not run": "{} not run at this scale",
    "unfinished": "{} not finished",
    "too few seeds": "{} with too few seeds",
    "inconclusive": "{} inconclusive",
}


def answer(lines: Iterable[Line], left: int) -> str:
    """Say what the claims of one paper at one scale come to; `left` are not judged."""
    lines = list(lines)
    if not lines:
        return f"No claim is judged; {counted(left, 'claim')} cannot be." if left else "No claim."
    hold = [line for line in lines if line.verdict in HOLDS]
    fail = [line for line in lines if line.verdict in FAILS]
    decided = _decided(hold, fail, len(lines))
    rest = [line for line in lines if line not in hold and line not in fail]
    parts = [decided, _open(rest), f"{left} cannot be judged" if left else ""]
    return "; ".join(filter(None, parts)) + "."


def _decided(hold: list[Line], fail: list[Line], count: int) -> str:
    if not hold and not fail:
        return f"None of {counted(count, 'claim')} is decided"
    told = f"{len(hold)} of {counted(count, 'claim')} {'holds' if len(hold) == 1 else 'hold'}"
    told += _example(hold)
    if fail:
        told += f"; {len(fail)} {'does' if len(fail) == 1 else 'do'} not{_example(fail)}"
    return told


def _example(lines: list[Line]) -> str:
    """Name the claim whose difference is the largest, with that."""
    if not lines:
        return ""
    most = max(lines, key=lambda line: abs(line.bar.middle or 0) if line.bar else -1)
    much = f": {most.difference}" if most.difference else ""
    such = ", such as" if len(lines) > 1 else ":"
    return f"{such} “{most.short.removesuffix('.')}”{much}"


def _open(lines: list[Line]) -> str:
    """Count what is open by its verdict."""
    counts: dict[str, int] = {}
    for line in lines:
        counts[line.verdict] = counts.get(line.verdict, 0) + 1
    said = [
        UNDECIDED.get(verdict, f"{{}} {verdict}").format(count) for verdict, count in counts.items()
    ]
    return f"open: {', '.join(said)}" if said else ""
