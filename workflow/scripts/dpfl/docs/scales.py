"""The tables of docs/presets.md: papers with their scales, and what a scale costs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dpfl.base import files
from dpfl.checks import config as configuration
from dpfl.docs import markdown
from dpfl.papers import folder
from dpfl.planning import estimate, plan
from dpfl.provenance import kept
from dpfl.report.paper import Paper

TAKEN = ("kept results", "training runs", "estimated core-hours", "taken", "taken / estimated")
COST = ("scale", "papers", "training runs", "core-hours", "seconds of a core, a run")


def papers() -> str:
    """Return a line for every paper: its folder, what it is, its scales."""
    found = [folder.load(key) for key in folder.names()]
    rows = [
        [
            f"[{own.key}](../workflow/papers/{own.key}/paper.yaml)",
            Paper(own.key, own.about).short,
            " ".join(map(markdown.code, own.scales)),
        ]
        for own in found
    ]
    return markdown.table(("folder", "paper", "scales"), rows)


def costs(defaults: dict[str, Any]) -> str:
    """Return a line for every scale of all papers together, by the estimate of their plan."""
    return markdown.table(COST, _costs(defaults))


def _costs(defaults: dict[str, Any]) -> Iterator[list[str]]:
    scales = {key: folder.load(key).scales for key in folder.names()}
    for scale in dict.fromkeys(name for own in scales.values() for name in own):
        given = defaults | {"papers": list(scales), "scale": scale}
        runs = plan.make(configuration.composed(given)).runs.values()
        seconds = sum(estimate.seconds(run["settings"]) for run in runs)
        held = ", ".join(key for key, own in scales.items() if scale in own)
        cost = (_short(seconds / 3600), _short(seconds / max(1, len(runs))))
        yield [markdown.code(scale), held, str(len(runs)), *cost]


def taken(reference: Path) -> str:
    """Return a line for every kept folder that trained: what was estimated, and what it took."""
    return markdown.table(TAKEN, _taken(reference))


def _taken(reference: Path) -> Iterator[list[str]]:
    for path in kept.folders(reference):
        about = kept.about(path)
        if about["runs"]["trained"]:
            hours = about["core_hours"]
            expected = files.read_json(path / kept.OUTLINE)["core_hours"]
            numbers = map(_short, (expected, hours, hours / expected))
            yield [f"{path.parent.name}, {path.name}", str(about["runs"]["trained"]), *numbers]


def _short(number: float) -> str:
    """Return two digits, without an exponent."""
    return f"{float(f'{number:.2g}'):g}"
