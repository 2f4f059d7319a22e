"""Judges the claims of one paper, and sets what it printed beside what was run."""

import argparse
from pathlib import Path
from typing import Any

import pandas as pd

from dpfl.base import cli, files
from dpfl.judging import claims, evidence, judge, published
from dpfl.papers import folder
from dpfl.plugins import analyses
from dpfl.tables import results


def main() -> None:
    """Write both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--paper", type=Path, required=True, help="JSON that describe.py wrote")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--claims", type=Path, required=True, help="a .csv file")
    parser.add_argument("--published", type=Path, required=True, help="a .csv file")
    args = parser.parse_args()

    outline = files.read_json(args.paper)
    studies = [files.read_json(args.results / "studies" / f"{n}.json") for n in outline["studies"]]
    ran = {s["name"]: (s, results.frame(s, args.results / "runs")) for s in studies}
    computed = {
        name: _tables(args.results, name, found) for name, found in outline["analyses"].items()
    }
    printed = published.table(
        outline["key"], ran.values(), dict(_priced(outline["analyses"], computed))
    )
    runs, missing = args.results / "runs", outline.get("unfinished", {})
    known = evidence.Known(outline["key"], ran, computed, printed, runs, missing)
    judged = [
        judge.judge(claim, evidence.of(claim, known))
        for claim in folder.load(outline["key"]).about.get("claims", [])
    ]
    found = pd.concat(judged, ignore_index=True) if judged else pd.DataFrame(columns=claims.COLUMNS)
    for path, table in ((args.claims, found), (args.published, printed)):
        files.write_text(path, table.to_csv(index=False, lineterminator="\n"))


def _tables(home: Path, name: str, found: dict) -> dict[str, pd.DataFrame]:
    """Read the tables of an analysis by their suffixes."""
    plugin = analyses.load(name.split("/")[0], found["uses"])
    stems = {suffix: f"{name}_{suffix}" if suffix else name for suffix in plugin.TABLES}
    return {
        suffix: files.read_table(home / "tables" / f"{stem}.csv") for suffix, stem in stems.items()
    }


def _priced(outlined: dict, computed: dict[str, dict]) -> Any:
    """Yield the analyses that price printed losses, with what stands beside these."""
    for name, found in outlined.items():
        plugin = analyses.load(name.split("/")[0], found["uses"])
        if hasattr(plugin, "beside_print"):
            yield name, plugin.beside_print(computed[name])


if __name__ == "__main__":
    cli.main(main)
