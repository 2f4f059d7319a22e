"""All that is generated of README.md, docs/ and CITATION.cff: texts by path."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import yaml

from dpfl.docs import (
    blocks,
    columns,
    configuration,
    hero,
    markdown,
    results,
    scales,
    speed,
    verdicts,
)
from dpfl.papers import citation, folder
from dpfl.provenance import kept

SCHEMAS = Path("workflow/schemas")


def texts(root: Path) -> dict[Path, str]:
    """Return the text of every generated file and of every page with generated parts."""
    found = {root / "docs/results.md": results.page(folder.HOME, root / kept.HOME, root / "docs")}
    return found | _references(root) | _with_blocks(root) | _cited(root)


def _cited(root: Path) -> dict[Path, str]:
    papers = {key: folder.load(key).about for key in folder.names()}
    path = root / "CITATION.cff"
    return {path: citation.renewed(_read(path), papers)}


def _references(root: Path) -> dict[Path, str]:
    def schema(name: str) -> dict:
        return yaml.safe_load(_read(root / SCHEMAS / name))

    config = _read(root / "config.yaml")
    user, composed = schema("config.schema.yaml"), schema("composed.schema.yaml")
    own = root / "docs/reference"
    return {
        own / "configuration.md": configuration.page(
            user, composed, yaml.safe_load(config), config
        ),
        own / "columns.md": columns.page(schema("tables.yaml")),
        own / "verdicts.md": verdicts.page(),
    }


def _with_blocks(root: Path) -> dict[Path, str]:
    """Return the pages that have generated parts, each with its parts made anew."""
    reference, derived = root / "results/reference", root / kept.HOME
    bench = reference / "bench"
    measured = sorted((reference / "measured").glob("*.csv"))
    made: dict[str, Callable[[], str]] = {
        **{path.stem: partial(markdown.of_csv, path) for path in measured},
        "papers": scales.papers,
        "scales": partial(scales.costs, yaml.safe_load(_read(root / "config.yaml"))),
        "taken": partial(scales.taken, derived),
        "hero": partial(hero.picture, derived),
        "claims": partial(results.short, folder.HOME, derived, "docs/results.md"),
        "bench-steps": partial(speed.steps, bench),
        "bench-splits": partial(speed.splits, bench),
        "bench-rounds": partial(speed.rounds, bench),
    }
    pages = [root / "README.md", *sorted((root / "docs").glob("*.md"))]
    return _renewed({page: _read(page) for page in pages}, made)


def _renewed(pages: Mapping[Path, str], made: Mapping[str, Callable[[], str]]) -> dict[Path, str]:
    return {page: blocks.renewed(text, made) for page, text in pages.items() if blocks.names(text)}


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
