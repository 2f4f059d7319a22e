"""Write the first page, the board of claims, and the pages beside those of papers.

`--papers` are the keys of papers, in this order, `--home` the folder of their folders; `--output`
is the first page, whose folder gets all others; `--chosen` the JSON of what was asked for.
"""

import json
from pathlib import Path

from dpfl.base import cli, options
from dpfl.papers import folder
from dpfl.report import paper, site
from dpfl.report.reader import Folder
from dpfl.terminal.choice import Choice


def main() -> None:
    """Write every page whole or not at all."""
    places = {"results": Path("results"), "output": Path("results/reports/index.html")}
    args = options.read(__doc__, papers=[str], **places, home=folder.HOME, chosen="{}")
    made = Folder(args.results, Choice(**json.loads(args.chosen)))
    site.write(paper.read_all(args.papers, args.home), made, args.output)


if __name__ == "__main__":
    cli.main(main)
