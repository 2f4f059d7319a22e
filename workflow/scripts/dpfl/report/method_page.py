"""The page on method and provenance: rules of verdicts, what ε means, where results come from."""

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from dpfl.base import files, machine
from dpfl.base.errors import UserError
from dpfl.figures import datasets
from dpfl.provenance import kept, tree
from dpfl.report import kept_words, markup, privacy_words, rules
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder

THREE = [
    "ε claimed is what a method says of itself.",
    "ε certified is what an accountant proves from the mechanism that ran. “No proof” means that "
    "a condition of every proof is violated, so no ε can be certified.",
    "ε audited is a lower bound that an attack has measured: it can refute a claim and never prove "
    "one. Beside it stands, of an audit of a whole run, its ceiling, the most that it could have "
    "shown; of one step by step, what noise of the stated size lets one run expect if it sees all "
    "that is released, which is no limit.",
]
TABLES = {"tables/claims.csv": "claims", "tables/published.csv": "printed numbers"}
TABLES |= {"claims.json": "claims with evidence"}
KEYS = {"papers": "PAPER", "select": "STUDY", "scale": "SCALE"}
KEPT = ["paper", "scale", "command", "commit", "trained", "machines", "versions"]


def body(folder: Folder, read: Mapping[str, Paper], reference: Path | None) -> Markup:
    """Return the whole page; `reference` holds kept results beside those of this run."""
    names = [name for key in read for name in folder.outline(key)["studies"]]
    studies = [folder.study(name) for name in names]
    claims = [claim for of in read.values() for claim in of.claims.values()]
    kinds = dict.fromkeys(claim["kind"] for claim in claims if "kind" in claim)
    told = rules.page(kinds, sorted({study["margin"] for study in studies}))
    return markup.joined(
        markup.part("heading", "How verdicts are made", 2, "statistics"),
        markup.markdown(told),
        markup.part("heading", "Three epsilons, and whom they protect", 2, "privacy"),
        markup.listing([*THREE, *privacy_words.notes(map(folder.cells, names))]),
        markup.part("heading", "Where the numbers come from", 2, "provenance"),
        *_sources(folder, read, reference, studies),
        *_files(folder),
    )


def of_kept(found: Iterable[tuple[str, dict[str, Any]]]) -> Markup:
    """Return a line for every kept folder, from its paper's name and its provenance."""
    lines = [
        [
            name,
            about["scale"],
            about["command"],
            about["commit"],
            kept_words.trained(about),
            "; ".join(machine.line(own) for own in about["hardware"]),
            ", ".join(f"{name} {text}" for name, text in about["versions"].items()),
        ]
        for name, about in found
    ]
    return markup.table(KEPT, lines, long=("command", "machines", "versions"))


def _sources(
    folder: Folder, read: Mapping[str, Paper], reference: Path | None, studies: list[dict]
) -> list[Markup]:
    """Return what stands behind this run, then kept results, if there are any."""
    own = [(of.short, about) for key, of in read.items() if (about := folder.kept(key))]
    this = [] if own else [_of_run(folder, studies)]
    paths = kept.folders(reference) if reference else []
    others = [(read[p.parent.name].short, kept.about(p)) for p in paths if p.parent.name in read]
    found = [*own, *others]
    return [*this, *([markup.part("heading", "Kept results", 3), of_kept(found)] if found else [])]


def _of_run(folder: Folder, studies: Iterable[dict]) -> Markup:
    runs = runs_of(studies)
    summaries = [files.read_json(folder.path / "runs" / run / "summary.json") for run in runs]
    versions = distinct(summary["versions"] for summary in summaries)
    facts = {"command": _command(folder), "commit": _commit(), "training runs": str(len(runs))}
    facts |= distinct(summary["hardware"] for summary in summaries)
    facts |= {f"version of {name}": text for name, text in versions.items()}
    pairs = {(s["settings"]["dataset"], s["inputs"]["data"]) for s in summaries if "inputs" in s}
    lines = [[datasets.title(name), digest] for name, digest in sorted(pairs)]
    return markup.joined(markup.part("facts", facts), markup.table(["data set", "SHA-256"], lines))


def runs_of(studies: Iterable[dict]) -> list[str]:
    """Return the runs of some studies, each once."""
    return list(dict.fromkeys(run for s in studies for cell in s["cells"] for run in cell["runs"]))


def distinct(records: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Return the distinct values of each key over many records."""
    found: dict[str, dict[str, None]] = {}
    for record in records:
        for key, value in record.items():
            found.setdefault(key, {})[str(value)] = None
    return {key: ", ".join(values) for key, values in found.items()}


def _files(folder: Folder) -> list[Markup]:
    """Return links to the tables, and the configuration."""
    there = [(f"../{p}", name) for p, name in TABLES.items() if (folder.path / p).exists()]
    text = (folder.path / "config.json").read_text(encoding="utf-8")
    source = markup.part("source", text)
    return [markup.part("links", there), markup.part("folded", "Configuration", source)]


def _command(folder: Folder) -> str:
    """Return the command that made a folder of results."""
    try:
        config = files.read_json(folder.path / "config.json")
    except (OSError, ValueError):
        return "make replicate"
    given = {name: config.get(key) for key, name in KEYS.items()}
    texts = {n: " ".join(v) if isinstance(v, list) else v for n, v in given.items() if v}
    return " ".join(["make replicate", *(f"{n}={shlex.quote(v)}" for n, v in texts.items())])


def _commit() -> str:
    try:
        return tree.clean_commit()
    except UserError:
        return "none: files differ from the commit, or there is no repository"
