"""What a page of kept results says of where they come from."""

from typing import Any

from dpfl import machine
from dpfl.report.forms import counted

MARK = "Kept before provenance was recorded."
"""Of a folder that names no commit, no runs and no machine that a program could read."""


def of(about: dict[str, Any] | None) -> list[str]:
    """Say which commit, command and machines kept results come from; nothing of other results."""
    if about is None:
        return []
    runs, trained = counted(about["runs"]["trained"], "training run"), about["trained"]
    dates = dict.fromkeys(trained[key][:10] for key in ("first", "last") if trained)
    told = [runs, f"{about['core_hours']:g} core-hours", " to ".join(dates)]
    return [
        f"Kept results, `{about['command']}` at commit {about['commit']}: "
        f"{', '.join(filter(None, told))}.",
        *(f"{counted(own['runs'], 'run')} on {machine.line(own)}." for own in about["hardware"]),
    ]
