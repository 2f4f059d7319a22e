"""What a reader is told of where results come from: command, commit, training, machines."""

from typing import Any

from dpfl.base import machine
from dpfl.words.numerals import counted


def of_kept(about: dict[str, Any]) -> dict[str, str]:
    """Return where the kept results of a paper at a scale come from."""
    accepted = (f"{n} trials of {commit}" for commit, n in about.get("accepted", {}).items())
    commits = "; ".join([about["commit"], *accepted])
    plain = {"command": about["command"], "commit": commits, "trained": _trained(about)}
    return plain | machines([about])


def machines(found: list[dict[str, Any]]) -> dict[str, str]:
    """Return machines and versions that some runs, or kept results, name."""
    hardware = (machine.line(one) for about in found for one in about["hardware"])
    versions = (f"{name} {text}" for about in found for name, text in about["versions"].items())
    joined = {"machines": "; ".join(dict.fromkeys(hardware))}
    return joined | {"versions": ", ".join(dict.fromkeys(versions))}


def _trained(about: dict[str, Any]) -> str:
    """Say how many runs were trained, how long and when."""
    runs, ended = about["runs"]["trained"], about["trained"]
    if not runs:
        return "no training"
    dates = dict.fromkeys(ended[key][:10] for key in ("first", "last") if ended)
    told = counted(runs, "training run"), f"{about['core_hours']:g} core-hours", " to ".join(dates)
    return ", ".join(filter(None, told))
