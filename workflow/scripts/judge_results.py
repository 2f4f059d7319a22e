"""Judge results of other software: is one method more accurate than others at the same epsilon?

`--results` is a table with a row per run: method, epsilon, seed, accuracy; also dataset and failed.
Writes claims.csv and claims.json into the output folder. Nothing is trained.
"""

from itertools import chain
from pathlib import Path

from dpfl.base import cli, files, options
from dpfl.contracts import bounds
from dpfl.judging import claims, rows
from dpfl.judging.outside import Outside
from dpfl.provenance import tree
from dpfl.terminal.choice import Choice
from dpfl.words.vocabulary import in_words


def main() -> None:
    """Judge, write both files, print a line for each part."""
    usual = {"margin": float(Choice().config()["margin"]), "output": Path("results/judged")}
    args = options.read(__doc__, results=Path, better=str, worse=[str], **usual)
    bounds.expect("--margin", args.margin, "number > 0")
    asked = Outside(args.results, args.better, args.worse, args.margin)
    judged = asked.judged()
    files.write_json(args.output / "claims.json", asked.document(judged, tree.commit()))
    table = rows.table(chain.from_iterable(judged.values()))
    files.write_text(args.output / "claims.csv", table.to_csv(index=False))
    for dataset, found in judged.items():
        for row in found:
            print(f"{dataset}, {row['part']}: {in_words(row)}  {claims.words(row)}")
    print(f"written: {args.output}/claims.csv, claims.json")


if __name__ == "__main__":
    cli.main(main)
