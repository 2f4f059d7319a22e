"""Checks the configuration before any job: every mistake is one line with key, place and bound.

First the user's own file and the papers', then the configuration that each paper is composed to.
The schemas settle keys, types and ranges (see schema_errors). Then comes what a schema cannot
settle: names that must exist (see unknown_names), plug-in files and their settings (see
plugin_settings), components that do not fit together and settings that no data set could satisfy
(see feasibility).
"""

import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from dpfl.base.errors import UserError
from dpfl.base.suggestions import shortened, unknown
from dpfl.checks.claim_errors import claim_errors
from dpfl.checks.feasibility import impossible
from dpfl.checks.fitting import mismatches
from dpfl.checks.lacking import too_many
from dpfl.checks.plugin_settings import plugin_errors
from dpfl.checks.schema_errors import broken_schema, not_numbers
from dpfl.checks.unknown_names import unknown_names
from dpfl.papers import folder
from dpfl.planning import compose
from dpfl.planning.beside import Beside, unmatched

DEFAULTS = Path(__file__).parents[4] / "config.yaml"


def composed(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the configuration of every chosen paper; UserError with a line for every mistake."""
    _raise(not_numbers(config))
    _raise(broken_schema("config", config))
    _raise(_wrong_data_dir(Path(config["data_dir"])))
    known = folder.names()
    _raise(unknown(config["papers"] or [], known, "config: papers: no", " in workflow/papers"))
    for key in compose.chosen(config):
        _raise(_wrong_folder(key))
        _raise(_file_errors(folder.load(key)))
    papers = compose.compose(config)
    for stage in STAGES:
        _raise(_told(stage, papers))
    _raise(impossible(papers.values()))
    for key in papers:
        _raise(_unmatched(key))
    return papers


def _raise(lines: Iterable[str]) -> None:
    found = list(dict.fromkeys(lines))
    if found:
        raise UserError("\n".join(found))


def _told(stage: Any, papers: dict[str, dict]) -> Iterator[str]:
    """Find the mistakes of every paper; one that several papers share is told once, of none."""
    found: dict[str, dict[str, None]] = {}
    for key, config in papers.items():
        for line in stage(config):
            found.setdefault(line, {})[key] = None
    for line, keys in found.items():
        shared = 1 < len(papers) == len(keys)
        yield line if shared else line.replace("config: ", f"config: {next(iter(keys))}: ", 1)


def _wrong_data_dir(path: Path) -> Iterator[str]:
    """Find a folder of data that is none, or that a slip would make somewhere."""
    if path.exists() and not path.is_dir():
        yield f"config: data_dir = {path}, which is no folder"
    elif not path.exists() and not path.absolute().parent.is_dir():
        yield f"config: data_dir = {path}: there is no {path.absolute().parent} to make it in"


def _wrong_folder(key: str) -> Iterator[str]:
    """Check the name of a paper's folder, which names its results and is part of their paths."""
    if not re.fullmatch(r"[a-z0-9-]{1,100}", key):
        where = shortened(folder.shown(folder.HOME / key))
        yield f"{where}: expected a name of at most 100 lower-case letters, digits and dashes"


def _file_errors(paper: folder.Paper) -> Iterator[str]:
    """Check the files of a paper by their schemas, its scale blocks too."""
    for file, schema, content in (
        (folder.ABOUT, "paper", paper.about),
        (folder.STUDIES, "studies", paper.content),
    ):
        where = folder.shown(folder.path_of(paper.key, file))
        for line in list(not_numbers(content)) or broken_schema(schema, content):
            yield line.replace("config: ", f"{where}: ", 1)


def _sizes(config: dict) -> Iterator[str]:
    for name, study in config["studies"].items():
        yield from too_many(f"config: studies.{name}", study)


def _printed(config: dict) -> Iterator[str]:
    """Find printed numbers that stand beside no cell, or beside two."""
    for name in config["select"]:
        if name in config["studies"]:
            yield from Beside(config["paper"], name, config).mistakes()


_shapes = partial(broken_schema, "composed")
STAGES = (_shapes, _sizes, unknown_names, claim_errors, plugin_errors, mismatches, _printed)
"""What finds mistakes in the configuration of a paper; a stage rests on those before it."""


def _unmatched(key: str) -> Iterator[str]:
    """Find printed accuracies of a paper that no study at any scale of it stands beside."""
    defaults, paper = folder.read(DEFAULTS), folder.load(key)
    scales = {scale: compose.at_scale(defaults, paper, scale) for scale in paper.scales}
    found = [analysis for made in scales.values() for analysis in made["analyses"].values()]
    priced = {table for analysis in found for table in analysis.get("prices", [])}
    yield from unmatched(key, scales, priced)
