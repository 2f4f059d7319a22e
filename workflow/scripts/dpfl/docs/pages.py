"""All that is generated of README.md, docs/ and CITATION.cff: texts by path."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import yaml

from dpfl.docs import blocks, design, hero, markdown, reference, results
from dpfl.papers import citation, folder
from dpfl.provenance import derivations

SCHEMAS, KEPT = Path("workflow/schemas"), Path("results/reference")


def texts(root: Path) -> dict[Path, str]:
    """Return CITATION.cff and all pages of documentation with their generated parts made anew."""
    papers = {key: folder.load(key).about for key in folder.names()}
    cited, made = root / "CITATION.cff", _blocks(root)
    pages = [root / "README.md", *(root / "docs").rglob("*.md")]
    found = {page: blocks.renewed(_read(page), made) for page in pages}
    return found | {cited: citation.renewed(_read(cited), papers)}


def _blocks(root: Path) -> dict[str, Callable[[], str]]:
    """Return what makes each generated part of a page, by its name."""
    files = ("config.schema.yaml", "composed.schema.yaml", "tables.yaml")
    user, composed, tables = (yaml.safe_load(_read(root / SCHEMAS / name)) for name in files)
    kept_files, derived, config = root / KEPT, root / derivations.HOME, _read(root / "config.yaml")
    measured = sorted((kept_files / "measured").glob("*.csv"))
    return {
        **{path.stem: partial(markdown.of_csv, path) for path in measured},
        "rules": partial(design.rule_graph, root),
        "scales": partial(design.scales, yaml.safe_load(config), derived),
        "hero": partial(hero.picture, derived),
        "first-claims": partial(results.first, folder.HOME, derived),
        "answers": partial(results.answers, folder.HOME, derived),
        "claims": partial(results.every, folder.HOME, derived),
        "verdicts": reference.verdicts,
        "claim-keys": reference.claim_keys,
        "figures": reference.figures,
        "columns": partial(reference.columns, tables),
        "top-keys": partial(reference.top_keys, user, config),
        "section-keys": partial(reference.section_keys, user, composed, config),
        "bench-steps": partial(markdown.of_steps, kept_files / "bench/steps.csv"),
        "bench-splits": partial(markdown.of_steps, kept_files / "bench/splits.csv"),
        "bench-rounds": partial(markdown.of_csv, kept_files / "bench/rounds.csv"),
    }


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
