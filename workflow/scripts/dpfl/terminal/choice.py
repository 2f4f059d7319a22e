"""What is chosen on the command line: papers, studies, scale, files; kept for `make status`."""

import argparse
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from snakemake.utils import update_config

from dpfl import plugins
from dpfl.base import files
from dpfl.base.errors import UserError
from dpfl.checks import config as configuration
from dpfl.planning import plan

LAST = Path("results/logs/snakemake/last.json")


@dataclass(frozen=True)
class Choice:
    """Settings in force over configuration files, which are in force over config.yaml."""

    settings: dict[str, Any] = field(default_factory=dict)
    files: Sequence[str] = ()

    def __bool__(self) -> bool:
        """Tell whether anything is chosen."""
        return bool(self.settings or self.files)

    def arguments(self, **more: str) -> list[str]:
        """Return Snakemake's arguments for it, with further settings."""
        settings = {**self.settings, **more}
        pairs = [f"{key}={json.dumps(value)}" for key, value in settings.items()]
        given = {"--configfile": self.files, "--config": pairs}
        return [word for option, words in given.items() if words for word in (option, *words)]

    def plan(self) -> plan.Plan:
        """Return what it runs; UserError, a line for every mistake in the configuration."""
        return plan.make(configuration.composed(self.config()))

    def command(self) -> str:
        """Return how to replicate it, but for where data and files in other places lie."""
        shown = (Path(file).name if Path(file).is_absolute() else file for file in self.files)
        values = {
            "PAPER": " ".join(self.settings.get("papers", ())),
            "STUDY": " ".join(self.settings.get("select", ())),
            "SCALE": self.settings.get("scale", ""),
            "CONFIG": " ".join(shown),
            "DATA_DIR": "/path/to/datasets" if "data_dir" in self.settings else "",
        }
        given = (f"{name}={shlex.quote(value)}" for name, value in values.items() if value)
        return " ".join(["make replicate", *given])

    def config(self) -> dict[str, Any]:
        """Return the configuration as Snakemake puts it together."""
        config: dict[str, Any] = {}
        read = configuration.read_files([configuration.DEFAULTS, *self.files])
        for content in (*read, self.settings):
            update_config(config, content)
        return config

    def keep(self) -> None:
        """Remember it as the last one."""
        files.write_json(LAST, asdict(self))


def of_workflow(config: Mapping[str, Any], paths: Iterable[str | Path]) -> Choice:
    """Return the scale, studies and configuration files that a Snakemake was started with."""
    here = Path.cwd()
    shown = [p.relative_to(here) if p.is_relative_to(here) else p for p in map(Path, paths)]
    chosen = {key: config[key] for key in ("scale", "select") if config[key]}
    return Choice(chosen, [*map(str, shown)])


def last() -> Choice:
    """Return the choice that was kept last; the default if none was."""
    try:
        return Choice(**files.read_json(LAST)) if LAST.exists() else Choice()
    except TypeError as error:
        raise UserError(f"{LAST}: not a choice; delete it, and name PAPER and SCALE") from error


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a choice to a command."""
    several = {"nargs": "*", "action": "extend"}
    parser.add_argument("--papers", **several, help="folders of workflow/papers; default: all")
    parser.add_argument("--select", **several, metavar="STUDY", help="studies, as paper/study")
    parser.add_argument("--scale", help="a scale that a paper has")
    parser.add_argument("--data-dir", help="where data sets lie or are downloaded to")
    parser.add_argument("--configfile", **several, default=[], help="files that change config.yaml")


def chosen(arguments: argparse.Namespace) -> Choice:
    """Return what is chosen on a command line; what is left out, or empty, is not chosen."""
    configuration.check_folder(plugins.WORKFLOW.parent)
    given = {key: getattr(arguments, key) for key in ("papers", "select", "scale", "data_dir")}
    settings = {key: value for key, value in given.items() if value}
    return Choice(settings, list(filter(None, arguments.configfile)))
