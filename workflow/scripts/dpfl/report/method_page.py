"""The page on method and provenance: rules of verdicts, what ε means, where results come from."""

import ast
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from markupsafe import Markup

from dpfl import plugins
from dpfl.base import machine
from dpfl.figures import datasets
from dpfl.judging import orderings
from dpfl.provenance import derivations, tree
from dpfl.report import markup, privacy
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder
from dpfl.seeds import conjunction, fairness, verdicts
from dpfl.words.forms import points
from dpfl.words.numerals import counted

TABLES = {"tables/claims.csv": "claims", "tables/published.csv": "printed numbers"}
TABLES |= {"claims.json": "claims with evidence"}
HEADS = ["paper", "scale", "command", "commit", "trained", "machines", "versions"]


def context(folder: Folder, read: Mapping[str, Paper]) -> dict[str, Any]:
    """Return everything that the page shows."""
    names = [name for key in read for name in folder.outline(key)["studies"]]
    studies = [folder.study(name) for name in names]
    private = [privacy.private(folder.cells(name)) for name in names]
    claims = [claim for of in read.values() for claim in of.claims.values()]
    kinds = dict.fromkeys(claim["kind"] for claim in claims if "kind" in claim)
    return {
        "margins": ", ".join(map(points, sorted({study["margin"] for study in studies}))),
        "level": f"{verdicts.LEVEL:.0%}",
        "min_spread": verdicts.MIN_SPREAD,
        "min_seeds": verdicts.MIN_SEEDS,
        "adding_up": markup.markdown(conjunction.__doc__),
        "tuned": fairness.SAID,
        "kinds": markup.markdown(rules(kinds, "###")),
        "units": {unit for cells in private for unit in cells["unit"]},
        "noise": {source for cells in private for source in cells["noise"]},
        "sources": markup.joined(*_sources(folder, read, studies), *_files(folder)),
    }


def rules(kinds: Iterable[str], level: str) -> str:
    """Return how some kinds of claims are judged, in Markdown: the first lines of their files."""
    texts = {kind: ast.get_docstring(plugins.tree("judging/kinds", kind)) or "" for kind in kinds}
    texts = {"differences": orderings.__doc__.strip()} | texts
    return "\n\n".join(
        f"{level} {kind}\n\n{text.replace('+-', '±')}" for kind, text in texts.items()
    )


def of_kept(found: Iterable[tuple[str, dict[str, Any]]]) -> Markup:
    """Return a line for every kept folder, from its paper's name and its provenance."""
    lines = []
    for name, about in found:
        machines = "; ".join(machine.line(own) for own in about["hardware"])
        plain = [name, about["scale"], about["command"], _commits(about)]
        lines.append([*plain, _trained(about), machines, _versions(about["versions"].items())])
    return markup.table(HEADS, lines, long=("command", "machines", "versions"))


def command(papers: Iterable[str], scale: str) -> str:
    """Return the command that runs papers at a scale."""
    return f"make replicate PAPER={shlex.quote(' '.join(papers))} SCALE={shlex.quote(scale)}"


def runs_of(studies: Iterable[dict]) -> list[str]:
    """Return the runs of some studies, each once."""
    return list(dict.fromkeys(run for s in studies for cell in s["cells"] for run in cell["runs"]))


def _commits(about: dict[str, Any]) -> str:
    """Name the commit of the runs, and those of trials that were accepted from older ones."""
    older = (f"{n} trials of {commit}" for commit, n in about.get("accepted", {}).items())
    return "; ".join([about["commit"], *older])


def _trained(about: dict[str, Any]) -> str:
    """Say how many runs were trained, how long and when."""
    runs, ended = about["runs"]["trained"], about["trained"]
    if not runs:
        return "no training"
    dates = dict.fromkeys(ended[key][:10] for key in ("first", "last") if ended)
    told = [counted(runs, "training run"), f"{about['core_hours']:g} core-hours"]
    return ", ".join([*told, *([" to ".join(dates)] if dates else [])])


def _versions(found: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {text}" for name, text in dict.fromkeys(found))


def _sources(folder: Folder, read: Mapping[str, Paper], studies: list[dict]) -> list[Markup]:
    """Return what stands behind this run, then kept results, if there are any."""
    if folder.is_kept:
        return [of_kept((of.short, folder.kept(key) or {}) for key, of in read.items())]
    paths = [path for path in derivations.folders(folder.reference) if path.parent.name in read]
    table = of_kept((read[path.parent.name].short, derivations.about(path)) for path in paths)
    heading = markup.part("heading", "Stored results", 3)
    return [_of_run(folder, read, studies), *([heading, table] if paths else [])]


def _of_run(folder: Folder, read: Mapping[str, Paper], studies: list[dict]) -> Markup:
    runs = runs_of(studies)
    summaries = [folder.summary(run) for run in runs]
    scales = {folder.outline(key)["scale"] for key in read}
    facts = {
        "command": command(read, *scales),
        "commit": tree.commit() or "none: there is no repository",
        "training runs": str(len(runs)),
        "machines": "; ".join(dict.fromkeys(machine.line(s["hardware"]) for s in summaries)),
        "versions": _versions(pair for s in summaries for pair in s["versions"].items()),
    }
    pairs = {(s["settings"]["dataset"], s["inputs"]["data"]) for s in summaries if "inputs" in s}
    lines = [[datasets.title(name), digest] for name, digest in sorted(pairs)]
    return markup.joined(markup.part("facts", facts), markup.table(["data set", "SHA-256"], lines))


def _files(folder: Folder) -> list[Markup]:
    """Return links to the tables, and the configuration."""
    there = [(f"../{p}", name) for p, name in TABLES.items() if (folder.path / p).exists()]
    text = (folder.path / "config.json").read_text(encoding="utf-8")
    source = markup.part("source", text)
    return [markup.part("links", there), markup.part("folded", "Configuration", source)]
