"""Build the report from kept results alone, without training: results/kept/index.html.

A page for every folder {paper}/{scale} of results/reference, and a first page for every scale.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd

from dpfl import cli, files
from dpfl.docs import found as answer
from dpfl.papers import folder
from dpfl.provenance import kept
from dpfl.report import kept_page
from dpfl.report import page as papers

SCRIPTS = Path(__file__).parent
Told = dict[Path, dict[str, Any]]


def main() -> None:
    """Check what is kept, then write all pages anew."""
    parser = cli.Parser(description=__doc__)
    parser.add_argument("--reference", type=Path, default=Path("results/reference"))
    parser.add_argument("--output", type=Path, default=Path("results/kept"))
    parser.add_argument("--home", type=Path, default=folder.HOME, help="the papers' folders")
    args = parser.parse_args()
    found = [(path, kept.about(path)) for path in kept.folders(args.reference)]
    files.remove(args.output)
    for scale in sorted({path.name for path, _ in found}):
        own = {path: about for path, about in found if path.name == scale}
        _scale(args.output / scale, {p: about for p, about in own.items() if about}, args)
        for path in (path for path, about in own.items() if not about):
            _before(args.output / scale, path, args)
    page = args.output / "index.html"
    read = papers.papers({path.parent.name: None for path, _ in found}, args.home)
    answers = {key: answer.short(args.home / key, args.reference) for key in read}
    files.write_text(page, kept_page.of_all(found, read, args.reference, answers))
    print(f"report: {page}")


def _scale(home: Path, told: Told, args: Any) -> None:
    """Write the pages of the papers that are kept at a scale, and their first page."""
    if not told:
        return
    for path, about in told.items():
        kept.lay_out(path, about, home)
    (home / "reference").symlink_to(args.reference.resolve())
    papers = [about["paper"] for about in told.values()]
    files.write_json(
        home / "config.json", {about["paper"]: about["config"] for about in told.values()}
    )
    for name in ("claims", "published"):
        tables = [files.read_table(path / "claims" / f"{name}.csv") for path in told]
        text = pd.concat(tables, ignore_index=True).to_csv(index=False, lineterminator="\n")
        files.write_text(home / "tables" / f"{name}.csv", text)
    for paper in papers:
        where = ("--results", home, "--home", args.home, "--html", home / "reports")
        _driver("notebook", "--paper", paper, *where, "--output", home / f"notebooks/{paper}.ipynb")
    page = home / "reports" / "index.html"
    where = ("--results", home, "--home", args.home, "--output", page)
    _driver("report", "--papers", *papers, *where)


def _before(home: Path, path: Path, args: Any) -> None:
    """Write the page of a folder that was kept before provenance was recorded."""
    text = kept_page.before_provenance(path, args.home, args.reference)
    files.write_text(home / "reports" / f"{path.parent.name}.html", text)


def _driver(name: str, *arguments: Any) -> None:
    command = [sys.executable, SCRIPTS / f"{name}.py", *arguments]
    env = os.environ | {"PYTHONPATH": str(SCRIPTS)}  # for the notebook's own process
    done = subprocess.run(list(map(str, command)), env=env, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.stderr.strip())


if __name__ == "__main__":
    cli.main(main)
