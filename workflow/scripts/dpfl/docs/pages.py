"""All that is generated of README.md, docs/ and CITATION.cff: texts by path."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from textwrap import indent

import yaml

from dpfl.docs import blocks, bounds, design, hero, markdown, reference, results
from dpfl.papers import folder
from dpfl.plugins import catalogue
from dpfl.provenance import derivations

SCHEMAS, KEPT = Path("workflow/schemas"), Path("results/reference")


def texts(root: Path) -> dict[Path, str]:
    """Return CITATION.cff, the first picture and all pages with their parts made anew."""
    pages = [root / "README.md", root / "CITATION.cff", *(root / "docs").rglob("*.md")]
    made, rows = _blocks(root), results.rows(folder.HOME, root / derivations.HOME)
    renewed = {page: blocks.renewed(_read(page), made) for page in pages}
    return renewed | {root / hero.PICTURE: hero.svg(rows)}


def _blocks(root: Path) -> dict[str, Callable[[], str]]:
    """Return what makes each generated part of a page, by its name."""
    files = ("config.schema.yaml", "composed.schema.yaml", "tables.yaml")
    user, composed, tables = (yaml.safe_load(_read(root / SCHEMAS / name)) for name in files)
    kept_files, derived, config = root / KEPT, root / derivations.HOME, _read(root / "config.yaml")
    measured = [*sorted((kept_files / "measured").glob("*.csv")), kept_files / "bench/rounds.csv"]
    bench = [kept_files / f"bench/{name}.csv" for name in ("steps", "splits")]
    return {
        **{path.stem: partial(markdown.of_csv, path) for path in measured},
        "rules": partial(design.rule_graph, root),
        "scales": partial(design.scales, yaml.safe_load(config), derived),
        "hero": lambda: hero.picture(results.rows(folder.HOME, derived)),
        "first-claims": partial(results.first, folder.HOME, derived),
        "answers": partial(results.answers, folder.HOME, derived),
        "claims": partial(results.every, folder.HOME, derived),
        "cited-papers": cited_papers,
        "verdicts": reference.verdicts,
        "bounds": bounds.table,
        "claim-keys": reference.claim_keys,
        "example": partial(reference.example, derived),
        "columns": partial(reference.columns, tables),
        "top-keys": partial(reference.top_keys, user, config),
        "section-keys": partial(reference.section_keys, user, composed, config),
        **{f"bench-{path.stem}": partial(markdown.of_steps, path) for path in bench},
        **{f"files-of-{own}": partial(markdown.table, *told) for own, told in catalogue.tables()},
    }


def cited_papers() -> str:
    """Return the papers that have a citation as references of CITATION.cff."""
    papers = (folder.load(key).about for key in folder.names())
    cited = [(own["title"], own["citation"]) for own in papers if "citation" in own]
    references = [{"type": found["type"], "title": title, **found} for title, found in cited]
    text = yaml.safe_dump(references, allow_unicode=True, sort_keys=False, width=100)
    return indent(text.rstrip(), "  ")


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
