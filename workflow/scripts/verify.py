"""Retrain a sample of kept runs and compare them; exit status 1 if one differs.

`--papers` and `--scale` choose among all that are kept. The sample takes at most `--minutes` on one
core, the preparation of data included. `--cores` runs train at a time. On equal hardware, with
equal versions and code, bits must be equal; else accuracies must agree.
"""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

from dpfl.base import cli, options
from dpfl.base.errors import UserError
from dpfl.provenance import verify
from dpfl.terminal import lock
from dpfl.terminal.replicate import check_cores


def main() -> None:
    """Choose a sample of the kept folders, retrain it, print a line for every run."""
    places = {"reference": Path("results/reference"), "home": Path("results/verify")}
    what = {"papers": [""], "scale": "", "data_dir": Path("data"), "minutes": verify.MINUTES}
    args = options.read(__doc__, **what, **places, cores="all")
    check_cores(args.cores)
    if args.data_dir == what["data_dir"]:
        args.data_dir.mkdir(exist_ok=True)  # to download to; any other has to exist
    folders = verify.kept_folders(args.reference, args.papers, args.scale)
    chosen, seconds = verify.of_folders(folders, args.minutes, args.home)
    if not chosen:
        raise UserError(f"nothing of this in {args.reference} can be retrained in so many minutes")
    runs, found = sum(map(len, chosen.values())), Counter()
    print(f"{runs} runs are retrained: about {seconds / 60:.1f} core-minutes", flush=True)

    def tell(row: dict[str, Any]) -> None:
        found[row["verdict"]] += 1
        print(verify.told(row), flush=True)

    try:
        with lock.take(args.home / lock.PATH, "verify") as held:
            for folder, rows in chosen.items():
                verify.Again(folder, rows, args.home, args.data_dir).train(args.cores, held, tell)
    except KeyboardInterrupt:
        sys.exit("stopped; the data that is prepared stays")
    print("; ".join(f"{number} {verdict}" for verdict, number in found.items()))
    if missing := [path for path in folders if path not in chosen]:
        names = ", ".join("/".join(path.parts[-2:]) for path in missing)
        print(f"not compared, without training or longer than the time asked: {names}")
    sys.exit(any(found[verdict] for verdict in (verify.DIFFERS, verify.FAILED)))


if __name__ == "__main__":
    cli.main(main)
