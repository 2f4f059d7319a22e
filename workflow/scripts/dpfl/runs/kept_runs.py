"""Kept runs: a folder {paper}/{scale} of results/reference, read and laid out as results.

`runs.jsonl.gz` has a line per run, trials too: its summary, the digests of its files, the seconds
it took. `rounds.csv.gz` has a row per run and round. `outputs/` holds what needs data or weights
and is small: it lies there as below `results/`. `provenance.json` says what all came from.
Everything else is derived (dpfl.provenance.kept).
"""

import csv
import gzip
import io
import json
import shutil
from collections.abc import Collection, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from dpfl.base import files
from dpfl.base.errors import UserError

FORMAT = "kept-runs/1"
ABOUT, RUNS, ROUNDS, OUTPUTS = "provenance.json", "runs.jsonl.gz", "rounds.csv.gz", "outputs"
BY_ROUND = ("metrics", "rates")
"""The files of a run that have a row per round; a column of ROUNDS begins with the file's name."""
Row = dict[str, Any]


def folders(reference: Path) -> list[Path]:
    """Return the kept folders, {paper}/{scale}, in the order of their names."""
    return sorted(path.parent for path in reference.glob(f"*/*/{ABOUT}"))


def about(folder: Path) -> dict[str, Any]:
    """Return what a kept folder came from.

    UserError for a folder of another format, and for files that are not as they were kept.
    """
    found = files.read_json(folder / ABOUT)
    told = found if isinstance(found, dict) else {}
    if told.get("format") != FORMAT or not isinstance(told.get("files"), dict):
        said = f"format {told.get('format')}, expected {FORMAT} with its files"
        raise UserError(f"{folder / ABOUT}: {said}; keep it again")
    _require_unchanged(folder, found["files"])
    return found


def rows(folder: Path) -> list[Row]:
    """Return the rows of all kept runs; UserError for a file that is not whole."""
    path = folder / RUNS
    if not path.exists():
        return []
    lines = files.read(path, lambda content: gzip.decompress(content.read()).splitlines())
    return [json.loads(line) for line in lines]


def write(folder: Path, runs: Iterable[Row], rounds: Iterable[Row]) -> None:
    """Write the rows of runs and of rounds, in the order of their names."""
    lines = [json.dumps(row, sort_keys=True) for row in sorted(runs, key=itemgetter("run"))]
    if lines:
        _write_zipped(folder / RUNS, "".join(f"{line}\n" for line in lines))
    listed = sorted(rounds, key=lambda row: (row["run"], int(row["round"])))
    if listed:
        columns = dict.fromkeys(key for row in listed for key in row)
        _write_zipped(folder / ROUNDS, csv_text(columns, listed))


def rounds_of(run: str, folder: Path) -> Iterator[Row]:
    """Yield a row per round of a finished run's folder."""
    found: dict[str, Row] = {}
    for name in BY_ROUND:
        with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                number = row.pop("round")
                of_round = found.setdefault(number, {"run": run, "round": number})
                of_round |= {f"{name}.{key}": value for key, value in row.items()}
    yield from found.values()


def lay_out(folder: Path, home: Path) -> None:
    """Write the kept runs of a folder below `home`, as finished runs lie below results.

    A run of which no curve is kept has no files by round.
    """
    lay_out_runs(folder, home, {row["run"] for row in rows(folder)})
    if (folder / OUTPUTS).is_dir():
        shutil.copytree(folder / OUTPUTS, home, dirs_exist_ok=True)


def lay_out_runs(folder: Path, home: Path, names: Collection[str]) -> None:
    """Write some kept runs of a folder below `home`, without their weights, which nobody keeps."""
    if (folder / ROUNDS).exists():
        _lay_out_rounds(folder / ROUNDS, home / "runs", names)
    for row in rows(folder):
        if row["run"] in names:
            files.write_json(home / "runs" / row["run"] / "summary.json", row)


def lay_out_whole(folder: Path, home: Path, names: Collection[str]) -> None:
    """Write some kept runs as `lay_out_runs` does; one without a curve gets tables without rows."""
    lay_out_runs(folder, home, names)
    for path in (home / "runs" / name / f"{table}.csv" for name in names for table in BY_ROUND):
        if not path.exists():
            files.write_text(path, "round\n")


def _lay_out_rounds(path: Path, runs: Path, names: Collection[str]) -> None:
    with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        for run, found in groupby(reader, itemgetter("run")):
            if run not in names:
                continue
            listed = list(found)
            for name in BY_ROUND:
                own = [key for key in reader.fieldnames or () if key.startswith(f"{name}.")]
                heads = {"round": "round"} | {key.removeprefix(f"{name}."): key for key in own}
                there = [row for row in listed if any(row[key] for key in own)]
                table = ({head: row[key] for head, key in heads.items()} for row in there)
                files.write_text(runs / run / f"{name}.csv", csv_text(heads, table))


def _write_zipped(path: Path, text: str) -> None:
    """Write a text so that equal texts are equal files."""
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def csv_rows(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV file; none where there is none."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return csv.DictReader(text.splitlines())


def csv_text(columns: Iterable[str], rows: Iterable[Row]) -> str:
    """Return rows as the text of a CSV file."""
    made = io.StringIO()
    table = csv.DictWriter(made, list(columns), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return made.getvalue()


def _require_unchanged(folder: Path, known: dict[str, dict[str, Any]]) -> None:
    there = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()} - {ABOUT}
    for name in sorted(known.keys() | there):
        if name not in known:
            raise UserError(f"{folder / name}: not what was kept: nothing wrote it")
        if name not in there or files.digest(folder / name) != known[name]["sha256"]:
            raise UserError(f"{folder / name}: not as it was kept; restore it or keep it again")
