"""The page on provenance: command, commit, versions, hardware, data, of this run and kept."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from dpfl.base import machine
from dpfl.figures import datasets
from dpfl.provenance import kept
from dpfl.report import kept_words, markup, page
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder

TABLES = {"tables/claims.csv": "claims", "tables/published.csv": "printed numbers"}
TABLES |= {"claims.json": "claims with evidence"}


def body(
    folder: Folder, read: Mapping[str, Paper], reference: Path | None, about: dict[str, str]
) -> Markup:
    """Return what stands behind all pages; `about` holds command and commit of this run."""
    own = [found for found in map(folder.kept, read) if found]
    this = [] if own else [markup.part("heading", "This run"), _of_run(folder, read, about)]
    others = [(p, kept.about(p)) for p in kept.folders(reference)] if reference else []
    places = [(p.parent.name, p.name, found) for p, found in others]
    places += [(found["paper"], found["scale"], found) for found in own]
    told = [_of_kept(_called(key, read), scale, found) for key, scale, found in places]
    config = folder.path / "config.json"
    return markup.joined(
        *this,
        *([markup.part("heading", "Kept results"), *told] if told else []),
        markup.part("heading", "Configuration and tables"),
        markup.part(
            "links", [(f"../{p}", n) for p, n in TABLES.items() if (folder.path / p).exists()]
        ),
        markup.part(
            "folded", "Configuration", markup.part("source", config.read_text(encoding="utf-8"))
        ),
    )


def _of_run(folder: Folder, read: Iterable[str], about: dict[str, str]) -> Markup:
    names = [name for key in read for name in folder.outline(key)["studies"]]
    studies = [folder.study(name) for name in names]
    found = page.provenance(studies, folder.path / "runs")
    facts = about | {"training runs": str(found["runs"])} | found["hardware"]
    facts |= {f"version of {name}": text for name, text in found["versions"].items()}
    return markup.joined(
        markup.part("facts", facts), markup.table(["data set", "SHA-256"], data(studies, folder))
    )


def data(studies: Iterable[dict], folder: Folder) -> list[list[str]]:
    """Return the digest of every data set that a run was trained on."""
    runs = dict.fromkeys(run for s in studies for cell in s["cells"] for run in cell["runs"])
    found = [own for own in map(folder.summary, runs) if own and "inputs" in own]
    pairs = {(own["settings"]["dataset"], own["inputs"]["data"]) for own in found}
    return [[datasets.title(name), digest] for name, digest in sorted(pairs)]


def _called(key: str, read: Mapping[str, Paper]) -> str:
    """Return the name of a paper as on the board; its key where it is not one of this report."""
    return read[key].short if key in read else key


def _of_kept(paper: str, scale: str, about: dict[str, Any]) -> Markup:
    head = markup.part("heading", f"{paper}, scale {scale}", 3)
    facts = {"command": about["command"], "commit": about["commit"], "kept": about["kept"]}
    facts |= {"hardware": "; ".join(machine.line(own) for own in about["hardware"])}
    facts |= {f"version of {name}": text for name, text in about["versions"].items()}
    return markup.joined(
        head, markup.listing(kept_words.of(about)[:1]), markup.part("facts", facts)
    )
