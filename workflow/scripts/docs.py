"""Write what README.md and docs/ have of tables, schemas and papers, then build the site.

The site lies in results/docs/site; mkdocs.yml says what is in it.
"""

import os
import subprocess
import sys
from pathlib import Path

from dpfl.base import cli, files
from dpfl.docs import pages, site

ROOT = Path(__file__).parents[2]
SOURCE, SITE = Path("results/docs/source"), Path("results/docs/site")
SERVE = f"python -m http.server --directory {SITE}"
"""Browsers start no search worker from a file."""


def main() -> None:
    """Write the files, then the site unless it is not wanted."""
    parser = cli.Parser(description=__doc__)
    parser.add_argument("--no-site", action="store_true", help="write the files alone")
    arguments = parser.parse_args()
    for path, text in pages.texts(ROOT).items():
        files.write_text(path, text)
    if not arguments.no_site:
        site.lay_out(ROOT, ROOT / SOURCE)
        build()
        print(f"docs: {SITE / 'index.html'}; its search needs a server: {SERVE}")


def build() -> None:
    """Build the site from what is laid out; a dead link ends it with the status of Zensical."""
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | {"NO_COLOR": "1"})
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    cli.main(main)
