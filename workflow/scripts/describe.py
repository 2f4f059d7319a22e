"""Write a resolved part of the configuration as the JSON that later steps read.

`--name` is a study, paper/study, or a paper; `--config` the JSON of all; `--digest` that of what is
resolved, as it was planned.
"""

from pathlib import Path

from dpfl.base import cli, files, options
from dpfl.base.errors import UserError
from dpfl.planning import compose, naming, outline, plan, unfinished


def main() -> None:
    """Resolve a study or a paper of a configuration."""
    args = options.read(__doc__, config=Path, name=str, digest=str, output=Path)
    found = resolved(args.name, files.read_json(args.config))
    if naming.digest(found) != args.digest:
        raise UserError(f"{args.name}: what has finished is not what it was when this call began")
    files.write_json(args.output, found)


def resolved(name: str, config: dict) -> dict:
    """Return a study or a paper: as it is asked for, of the runs that are there."""
    paper = name.split("/")[0]
    composed = compose.compose(config)
    # Beside it stand the papers whose studies it selects.
    own = {key: composed[key] for key in (paper, *compose.lenders(paper, config["scale"]))}
    planned = plan.make(own)
    made = unfinished.handled(planned, config["unfinished"], Path("results"))
    return made.studies[name] if "/" in name else outline.make(name, own, planned, made)


if __name__ == "__main__":
    cli.main(main)
