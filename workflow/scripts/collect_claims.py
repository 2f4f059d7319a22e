"""Puts the judged claims of all papers together: two tables, records with evidence, badges."""

import argparse
from pathlib import Path

import pandas as pd

from dpfl.base import cli, files
from dpfl.judging import badges, records
from dpfl.provenance import tree


def main() -> None:
    """Write tables/claims.csv, tables/published.csv, claims.json and badges/{paper}.svg."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--papers", nargs="+", required=True, help="their keys")
    parser.add_argument("--results", type=Path, default=Path("results"))
    args = parser.parse_args()

    tables = {name: _all(args.results, args.papers, name) for name in ("claims", "published")}
    for name, table in tables.items():
        text = table.to_csv(index=False, lineterminator="\n")
        files.write_text(args.results / "tables" / f"{name}.csv", text)
    made = records.document(args.papers, tables["claims"], args.results, tree.commit())
    files.write_json(args.results / "claims.json", made)
    for paper in args.papers:
        verdicts = [r["verdict"] for r in made["records"] if r["paper"]["key"] == paper]
        files.write_text(args.results / "badges" / f"{paper}.svg", badges.draw(paper, verdicts))


def _all(home: Path, papers: list[str], name: str) -> pd.DataFrame:
    """Return one table of all papers; a coordinate that only some have is empty for the others."""
    found = [records.read(home / "claims" / paper / f"{name}.csv") for paper in papers]
    return pd.concat(found, ignore_index=True)


if __name__ == "__main__":
    cli.main(main)
