"""Write the first page, the board of claims, and the pages beside those of papers."""

import argparse
from pathlib import Path

from dpfl.base import cli
from dpfl.papers import folder
from dpfl.report import page, site
from dpfl.report.reader import Folder


def main() -> None:
    """Write every page whole or not at all, into the folder of the first one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", nargs="+", required=True, help="their keys, in this order")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--output", type=Path, default=Path("results/reports/index.html"))
    parser.add_argument("--home", type=Path, default=folder.HOME, help="the papers' folders")
    args = parser.parse_args()
    site.write(page.papers(args.papers, args.home), Folder(args.results), args.home, args.output)


if __name__ == "__main__":
    cli.main(main)
