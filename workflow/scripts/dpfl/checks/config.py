"""Checks the configuration before any job: every mistake is one line with key, place and bound.

Files are read here, before Snakemake reads them. Of two equal keys it would keep the last one. A
file that it cannot read it tells by a traceback. First come the user's own file and the papers',
then the configuration that each paper is composed to. The schemas settle keys, types and ranges
(see schema_errors). Then comes what a schema cannot settle: names that must exist (see
unknown_names), plug-in files and their settings (see plugin_settings). Components may not fit
together (see fitting). Last are settings that no data set could satisfy (see feasibility).
"""

import os
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from dpfl.base.errors import UserError
from dpfl.checks import lines_of
from dpfl.checks.feasibility import impossible
from dpfl.checks.fitting import mismatches, too_many
from dpfl.checks.paper_errors import claim_errors, errors_of_scales, page_errors
from dpfl.checks.plugin_settings import setting_errors, unfit_plug_ins, unknown_plug_ins
from dpfl.checks.printed_errors import printed_errors
from dpfl.checks.schema_errors import broken_schema
from dpfl.checks.tuning_errors import tuning_errors
from dpfl.checks.unknown_names import unknown_names
from dpfl.papers import folder
from dpfl.planning import compose

DEFAULTS = Path(__file__).parents[4] / "config.yaml"
RESOLVED = Path(".snakemake/config.json")
"""The configuration of the Snakemake that runs here, for its jobs: too long for an argument."""


def check_folder(home: Path) -> None:
    """Raise a UserError where a call is made from another folder than the workflow's own.

    A working folder with a link to the workflow, as `make verify` has one, is as good.
    """
    if Path("workflow").resolve() != (home / "workflow").resolve():
        raise UserError(f"this runs in the folder {home} only: first cd there")
    if set("{}") & set(str(home)):
        raise UserError(f"{home}: to Snakemake, braces in a path are wildcards; rename the folder")


def read_files(paths: Iterable[str | Path]) -> list[dict[str, Any]]:
    """Return what YAML files say; UserError, a line for every one that is no mapping."""
    files = [Path(path) for path in paths]
    _raise(line for path in files for line in lines_of(_read, path))
    return [_read(path) for path in files]


def _read(path: Path) -> dict[str, Any]:
    """Read a YAML file; a mistake names it as its user would write it."""
    beneath = path.is_absolute() and path.is_relative_to(Path.cwd())
    return folder.read(path, os.path.relpath(path) if beneath else str(path))


def composed(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the configuration of every chosen paper; UserError with a line for every mistake."""
    _raise(broken_schema("config", config | {"papers": compose.chosen(config)}))
    _raise(_wrong_data_dir(Path(config["data_dir"])))
    for key in compose.chosen(config):
        _raise(_file_errors(key))
        for lender in compose.lenders(key, config["scale"]):
            _raise(_file_errors(lender))
    papers = compose.compose(config)
    for stage in STAGES:
        _raise(_of_every_paper(stage, papers))
    _raise(impossible(papers.values()))
    defaults = folder.read(DEFAULTS)
    for key in papers:
        _raise(errors_of_scales(key, defaults))
    return papers


def _raise(lines: Iterable[str]) -> None:
    found = list(dict.fromkeys(lines))
    if found:
        raise UserError("\n".join(found))


def _of_every_paper(stage: Any, papers: dict[str, dict]) -> Iterator[str]:
    """Find the mistakes of every paper; one that several papers share is told once, of none."""
    found: dict[str, dict[str, None]] = {}
    for key, config in papers.items():
        for line in stage(config):
            found.setdefault(line, {})[key] = None
    for line, keys in found.items():
        shared = 1 < len(papers) == len(keys)
        yield line if shared else line.replace("config: ", f"config: {next(iter(keys))}: ", 1)


def _wrong_data_dir(path: Path) -> Iterator[str]:
    """Find a folder of data that does not exist; that of config.yaml is made when it is needed."""
    if not path.is_dir() and str(path) != folder.read(DEFAULTS)["data_dir"]:
        expected = "expected that of the data sets, or an empty one to download to"
        yield f"config: data_dir = {path}: no such folder; {expected}"


def _file_errors(key: str) -> Iterator[str]:
    """Check the files of a paper by their schemas."""
    paper = folder.load(key)
    for file, content in ((folder.ABOUT, paper.about), (folder.STUDIES, paper.content)):
        yield from broken_schema(Path(file).stem, content, folder.shown(folder.path_of(key, file)))


shapes = partial(broken_schema, "composed")
STAGES = (
    *(shapes, too_many, unknown_names, unknown_plug_ins, tuning_errors, claim_errors),
    *(page_errors, unfit_plug_ins, setting_errors, mismatches, printed_errors),
)
"""What finds mistakes in the configuration of a paper; a stage rests on those before it."""
