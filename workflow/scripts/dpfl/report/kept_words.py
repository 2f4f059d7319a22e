"""What a page of kept results says of where they come from."""

from typing import Any

from dpfl.base import machine
from dpfl.words.numerals import counted


def of(about: dict[str, Any] | None) -> list[str]:
    """Say which commit, command and machines kept results come from; nothing of other results."""
    if about is None:
        return []
    return [
        f"Kept results, `{about['command']}` at commit {about['commit']}: {trained(about)}.",
        *(f"{counted(own['runs'], 'run')} on {machine.line(own)}." for own in about["hardware"]),
    ]


def trained(about: dict[str, Any]) -> str:
    """Say how many runs were trained, how long and when."""
    runs, ended = about["runs"]["trained"], about["trained"]
    if not runs:
        return "no training"
    dates = dict.fromkeys(ended[key][:10] for key in ("first", "last") if ended)
    told = [counted(runs, "training run"), f"{about['core_hours']:g} core-hours"]
    return ", ".join([*told, *([" to ".join(dates)] if dates else [])])
