"""Build the report from kept runs alone, without training: results/kept/index.html.

What they say is derived first (derive.py). Then a page for every folder {paper}/{scale} of
results/reference is made, and a first page for every scale. `--derived` is where that is derived,
`--home` the folder of the papers' folders.
"""

import os
import runpy
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from dpfl.base import cli, files, options
from dpfl.papers import folder
from dpfl.provenance import derivations, kept
from dpfl.report import paper, site
from dpfl.runs import kept_runs

SCRIPTS = Path(__file__).parent
Command = tuple[str | Path, ...]
"""A script by its name, and its arguments."""


def main() -> None:
    """Check what is kept, then write all pages anew."""
    kept_in = {"reference": Path("results/reference"), "derived": derivations.HOME}
    args = options.read(__doc__, **kept_in, output=Path("results/kept"), home=folder.HOME)
    kept.all_of(args.reference, args.derived)
    found = [(path, derivations.about(path)) for path in derivations.folders(args.derived)]
    files.remove(args.output)
    notebooks, firsts = [], []
    for scale in sorted({path.name for path, _ in found}):
        own = {path: about for path, about in found if path.name == scale}
        firsts.append(_scale(args.output / scale, own, args))
        notebooks += [_notebook(args.output / scale, path.parent.name, args) for path in own]
    os.environ["PYTHONPATH"] = str(SCRIPTS)  # for the processes of notebooks
    read = paper.read_all({path.parent.name: None for path, _ in found}, args.home)
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), initializer=_hush) as pool:
        of_all = pool.submit(site.write_all_kept, read, args.derived, args.output)
        for stage in (notebooks, firsts):
            for made in pool.map(_run, stage):
                print(f"page: {made.parents[1].name} {made.stem}", flush=True)
        of_all.result()
    print(f"report: {args.output / 'index.html'}")


def _scale(home: Path, told: dict[Path, dict[str, Any]], args: Any) -> Command:
    """Lay out what is kept at a scale; return the command for its first page."""
    studies = [files.read_json(study) for path in told for study in path.glob("studies/*.json")]
    runs = {run for study in studies for cell in study["cells"] for run in cell["runs"]}
    for path, about in told.items():
        derivations.lay_out(path, home)
        kept = args.reference / about["paper"] / about["scale"]
        kept_runs.lay_out_runs(kept, home, runs)
    (home / derivations.HOME.name).symlink_to(args.derived.resolve())
    papers = {about["paper"]: about["config"] for about in told.values()}
    files.write_json(home / "config.json", papers)
    page = home / "reports" / "index.html"
    return ("report", "--papers", *papers, "--results", home, "--home", args.home, "--output", page)


def _notebook(home: Path, paper: str, args: Any) -> Command:
    """Return the command for the page of a paper that is kept at a scale."""
    where = ("--results", home, "--home", args.home, "--html", home / "reports")
    return ("notebook", "--paper", paper, *where, "--output", home / f"notebooks/{paper}.ipynb")


def _hush() -> None:
    """Drop what kernels say at their start; mistakes are exceptions."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def _run(command: Command) -> Path:
    """Run a script, whose last argument is what it writes; return that.

    In this process, which has imported before what the next one needs too.
    """
    name, *arguments = command
    sys.argv = [name, *map(str, arguments)]
    runpy.run_path(str(SCRIPTS / f"{name}.py"), run_name="__main__")
    return Path(arguments[-1])


if __name__ == "__main__":
    cli.main(main)
