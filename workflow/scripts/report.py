"""Write the first page: the claims of all papers on top, a line per paper, relative links."""

import argparse
from pathlib import Path

from dpfl import cli, files
from dpfl.papers import folder
from dpfl.report import markup, page
from dpfl.report.reader import Folder

TEMPLATE = "index.html.jinja"


def main() -> None:
    """Write the page whole or not at all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", nargs="+", required=True, help="their keys, in this order")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--output", type=Path, default=Path("results/reports/index.html"))
    parser.add_argument("--home", type=Path, default=folder.HOME, help="the papers' folders")
    args = parser.parse_args()

    shown = page.context(page.papers(args.papers, args.home), Folder(args.results))
    files.write_text(args.output, markup.environment().get_template(TEMPLATE).render(shown))


if __name__ == "__main__":
    cli.main(main)
