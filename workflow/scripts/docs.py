"""Write what is generated of README.md, docs/ and CITATION.cff, then build the site.

The site lies in results/docs/site, and mkdocs.yml says what is in it. The pages of papers, from
kept runs, are built into it. `--no-site` leaves it out.
"""

import os
import subprocess
import sys
from pathlib import Path

from dpfl.base import cli, files, options
from dpfl.docs import pages, site
from dpfl.provenance import derivations, kept

ROOT = Path(__file__).parents[2]
SOURCE, SITE = Path("results/docs/source"), Path("results/docs/site")
SERVE = f"python -m http.server --directory {SITE}"
"""Browsers start no search worker from a file."""


def main() -> None:
    """Write the files, then the site unless it is not wanted."""
    arguments = options.read(__doc__, no_site=False)
    drawn = not arguments.no_site  # the site shows figures
    kept.all_of(ROOT / "results/reference", ROOT / derivations.HOME, figures=drawn)
    for path, text in pages.texts(ROOT).items():
        files.write_text(path, text)
    if not arguments.no_site:
        site.lay_out(ROOT, ROOT / SOURCE)
        run("-m", "zensical", "build", "--clean", "--strict")  # a dead link ends it
        run(Path(__file__).with_name("report_reference.py"), "--output", SITE / site.PAGES)
        print(f"docs: {SITE / 'index.html'}; its search needs a server: {SERVE}")


def run(*command: str | Path) -> None:
    """Run a program of Python; what fails ends this with its status."""
    done = subprocess.run([sys.executable, *command], cwd=ROOT, env=os.environ | {"NO_COLOR": "1"})
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    cli.main(main)
