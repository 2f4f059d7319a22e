"""The page on method and provenance: rules of verdicts, what ε means, where results come from."""

import ast
from collections.abc import Iterable, Mapping
from typing import Any

from markupsafe import Markup

from dpfl import plugins
from dpfl.figures import datasets
from dpfl.judging import orderings
from dpfl.planning import plan
from dpfl.provenance import facts, tree
from dpfl.report import cells, markup
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder
from dpfl.seeds import conjunction, fairness, verdicts
from dpfl.terminal.choice import Choice
from dpfl.words.forms import points

TABLES = {"tables/claims.csv": "claims", "tables/published.csv": "printed numbers"}
TABLES |= {"claims.json": "claims with evidence", "config.json": "configuration"}


def context(folder: Folder, read: Mapping[str, Paper]) -> dict[str, Any]:
    """Return everything that the page shows."""
    names = [name for key in read for name in folder.outline(key)["studies"]]
    studies = [folder.study(name) for name in names]
    private = [cells.private(folder.cells(name)) for name in names]
    claims = [claim for of in read.values() for claim in of.claims.values()]
    kinds = dict.fromkeys(claim["kind"] for claim in claims if "kind" in claim)
    files = [(f"../{p}", name) for p, name in TABLES.items() if (folder.path / p).exists()]
    return {
        "margins": ", ".join(map(points, sorted({study["margin"] for study in studies}))),
        "rules": verdicts,
        "adding_up": markup.markdown(conjunction.__doc__),
        "tuned": fairness.SAID,
        "kinds": markup.markdown(rules(kinds, "###")),
        "units": {unit for own in private for unit in own["unit"]},
        "noise": {source for own in private for source in own["noise"]},
        "sources": markup.joined(_sources(folder, read, studies), markup.part("links", files)),
    }


def rules(kinds: Iterable[str], level: str) -> str:
    """Return how some kinds of claims are judged, in Markdown: the first lines of their files."""
    texts = {kind: ast.get_docstring(plugins.tree("judging/kinds", kind)) or "" for kind in kinds}
    texts = {"differences": orderings.__doc__.strip()} | texts
    each = (f"{level} {kind}\n\n{text.replace('+-', '±')}" for kind, text in texts.items())
    return "\n\n".join(each)


def of_kept(about: dict[str, Any]) -> Markup:
    """Return where the kept results of a paper at a scale come from."""
    return markup.part("facts", facts.of_kept(about))


def _sources(folder: Folder, read: Mapping[str, Paper], studies: list[dict]) -> Markup:
    """Return what stands behind this run; of kept results the way to what stands behind each."""
    if folder.is_kept:
        ways = [(f"{key}.html#reproduce", of.short) for key, of in read.items()]
        return markup.part("links", ways)
    summaries = [folder.summary(run) for run in plan.runs_of(studies)]
    [scale] = {folder.outline(key)["scale"] for key in read}
    told = {
        "command": Choice({"papers": [*read], "scale": scale}).command(),
        "commit": tree.commit() or "none: there is no repository",
        "training runs": str(len(summaries)),
    } | facts.machines([s | {"hardware": [s["hardware"]]} for s in summaries])
    pairs = {(s["settings"]["dataset"], s["inputs"]["data"]) for s in summaries if "inputs" in s}
    lines = [[datasets.title(name), digest] for name, digest in sorted(pairs)]
    return markup.joined(markup.part("facts", told), markup.table(["data set", "SHA-256"], lines))
