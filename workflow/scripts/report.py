"""Write the first page, the board of claims, and the pages beside those of papers.

`--papers` are the keys of papers, in this order, `--home` the folder of their folders; `--output`
is the first page, whose folder gets all others.
"""

from pathlib import Path

from dpfl.base import cli, options
from dpfl.papers import folder
from dpfl.report import paper, site
from dpfl.report.reader import Folder


def main() -> None:
    """Write every page whole or not at all."""
    places = {"results": Path("results"), "output": Path("results/reports/index.html")}
    args = options.read(__doc__, papers=[str], **places, home=folder.HOME)
    site.write(paper.read_all(args.papers, args.home), Folder(args.results), args.output)


if __name__ == "__main__":
    cli.main(main)
