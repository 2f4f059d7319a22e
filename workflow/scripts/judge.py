"""Judge the claims of one paper, beside what it printed; or put all judged papers together.

With `--paper`, the JSON file that describe.py wrote: writes claims/{paper}/claims.csv and
published.csv. With `--papers`, their keys: writes tables/claims.csv, tables/published.csv and
claims.json, the records with evidence.
"""

from pathlib import Path

from dpfl.base import cli, files, options
from dpfl.judging import of_paper, records
from dpfl.provenance import tree


def main() -> None:
    """Write the tables into the folder of results."""
    args = options.read(__doc__, paper=Path(), papers=[""], results=Path("results"))
    if args.papers:
        judged = of_paper.together(args.papers, args.results)
        made = records.of_results(args.papers, judged, args.results, tree.commit())
        files.write_json(args.results / "claims.json", made)
    else:
        of_paper.write(files.read_json(args.paper), args.results)


if __name__ == "__main__":
    cli.main(main)
