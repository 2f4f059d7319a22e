"""Build the report from kept runs alone, without training: results/kept/index.html.

What they say is derived first (derive.py). Then a page for every folder {paper}/{scale} of
results/reference is made, and a first page for every scale. `--derived` is where that is derived,
`--home` the folder of the papers' folders.
"""

import os
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from dpfl.base import cli, files, options
from dpfl.papers import folder
from dpfl.provenance import derivations, kept
from dpfl.report import layout, paper, paper_page, site
from dpfl.report.reader import Folder
from dpfl.runs import kept_runs


def main() -> None:
    """Check what is kept, then write all pages anew."""
    kept_in = {"reference": Path("results/reference"), "derived": derivations.HOME}
    args = options.read(__doc__, **kept_in, output=Path("results/kept"), home=folder.HOME)
    kept.all_of(args.reference, args.derived)
    scales: dict[str, list[Path]] = {}
    for path in derivations.folders(args.derived):
        scales.setdefault(path.name, []).append(path)
    keys = dict.fromkeys(path.parent.name for own in scales.values() for path in own)
    read = paper.read_all(keys, args.home)
    files.remove(args.output)
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        made = {}
        for scale, own in scales.items():
            home = Folder(args.output / scale)
            lay_out(own, home.path, args.reference)
            (home.path / derivations.HOME.name).symlink_to(args.derived.resolve())
            papers = {path.parent.name: read[path.parent.name] for path in own}
            for key in papers:
                made[pool.submit(write, key, home.path, args.home)] = f"{scale} {key}"
            index = home.reports / "index.html"
            made[pool.submit(site.write, papers, home, index)] = f"{scale} index"
        of_all = pool.submit(site.write_all_kept, read, args.derived, args.output)
        for page in as_completed(made):
            page.result()
            print(f"page: {made[page]}", flush=True)
        of_all.result()
    print(f"report: {args.output / 'index.html'}")


def lay_out(told: Iterable[Path], home: Path, reference: Path) -> None:
    """Lay out what is derived of some papers at a scale, with the runs of their studies."""
    studies = [files.read_json(study) for path in told for study in path.glob("studies/*.json")]
    runs = {run for study in studies for cell in study["cells"] for run in cell["runs"]}
    configs = {}
    for path in told:
        derivations.lay_out(path, home)
        kept_runs.lay_out_runs(reference / path.parent.name / path.name, home, runs)
        configs[path.parent.name] = derivations.about(path)["config"]
    files.write_json(home / "config.json", configs)


def write(key: str, results: Path, home: Path) -> None:
    """Write the page of a paper, as its notebook shows it."""
    page = paper_page.read(key, results, home)
    layout.write_paper(page, paper_page.whole(page))


if __name__ == "__main__":
    cli.main(main)
