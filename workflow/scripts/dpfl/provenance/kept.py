"""Everything that kept runs say: studies, tables, verdicts and figures, by the code of today.

A folder {paper}/{scale} of kept runs is planned as its command was, with today's configuration. Its
runs are laid out in a folder for the time. What the workflow makes of finished runs is made of
them. So a change of a rule judges again all that is kept.
"""

import hashlib
import shutil
import tempfile
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from dpfl import plugins
from dpfl.base import files
from dpfl.checks import config as configuration
from dpfl.figures import of_analysis
from dpfl.judging import of_paper
from dpfl.papers import folder as papers
from dpfl.planning import compose, outline, plan, unfinished
from dpfl.provenance.derivations import MADE_FROM, OUTLINE, PARTS, folders
from dpfl.runs import code, kept_runs
from dpfl.tables import of_study, results
from dpfl.tuning.parts import choice_of_values, tuned


def all_of(reference: Path, home: Path, figures: bool = True, cores: int = 2) -> None:
    """Derive every kept folder whose runs, or whose code, are other than before, into `home`.

    As many at a time as `cores` says, a process each, the largest first. Derived folders of
    which nothing is kept are removed. Figures take most of the time: tables and verdicts are made
    without them.
    """
    sizes = {p: sum(f.stat().st_size for f in p.glob("*.gz")) for p in kept_runs.folders(reference)}
    wanted = {home / p.parent.name / p.name: p for p in sorted(sizes, key=sizes.get, reverse=True)}
    for gone in set(folders(home)) - set(wanted):
        files.remove(gone)
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
        made = pool.map(derive, wanted.values(), wanted, repeat(figures))
        for path, _ in zip(wanted, made, strict=True):
            print(f"derived: {path.parent.name} {path.name}", flush=True)


def derive(folder: Path, target: Path, figures: bool = True) -> None:
    """Write what a kept folder says into `target`, whole, unless it lies there.

    UserError for a folder that is not as it was kept, or that today's configuration cannot plan.
    """
    told = kept_runs.about(folder)
    made_from = _made_from(folder, told["paper"]) | {"figures": figures}
    before = files.read_json(target / MADE_FROM) if (target / MADE_FROM).exists() else {}
    if before in (made_from, made_from | {"figures": True}):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as made:
        home = Path(made)
        _derive(folder, told, home, figures)
        own = home / "own"
        for part in PARTS:
            if (home / part / told["paper"]).is_dir():
                shutil.move(home / part / told["paper"], own / part)
        shutil.move(home / OUTLINE, own / OUTLINE)
        shutil.copyfile(folder / kept_runs.ABOUT, own / kept_runs.ABOUT)
        files.write_json(own / MADE_FROM, made_from)
        files.remove(target)
        own.rename(target)


def _derive(folder: Path, kept: dict[str, Any], home: Path, figures: bool) -> None:
    paper = kept["paper"]
    for own in (folder, *_lent(folder, paper)):
        kept_runs.lay_out(own, home)
    settings = papers.read(configuration.DEFAULTS) | kept["config"]
    composed = configuration.composed({**settings, "papers": [paper], "scale": kept["scale"]})
    planned = plan.make(composed)
    there = write_choices(planned, home)
    made = unfinished.without(planned, planned.runs.keys() - there, home)
    for name, study in made.studies.items():
        files.write_json(home / "studies" / f"{name}.json", study)
        of_study.write(study, home)
    for name, entry in made.analyses.items():
        if "dataset" not in entry:  # its tables are kept
            of_analysis.write(name, entry["uses"], entry["settings"], home)
    told = outline.make(paper, composed, planned, made)
    files.write_json(home / OUTLINE, told)
    of_paper.write(told, home)
    for name, study in made.studies.items() if figures else ():
        _draw(name, study, home)


def write_choices(planned: plan.Plan, home: Path) -> set[str]:
    """Write what trials chose that lie all below `home`; return the runs that lie there."""
    there = {path.parent.name for path in home.glob("runs/*/summary.json")}
    for name, asked in planned.tunings.items():
        if there.issuperset(tuned.trials_of(asked)):
            choice_of_values.write(name, asked, home)
    return there


def _lent(folder: Path, paper: str) -> list[Path]:
    """Return the kept folders of other papers at the same scale whose studies a paper selects."""
    found = [folder.parents[1] / key / folder.name for key in compose.lenders(paper, folder.name)]
    return [path for path in found if (path / kept_runs.ABOUT).exists()]


def _draw(name: str, study: dict[str, Any], home: Path) -> None:
    """Draw the figures of a study, but for those whose numbers are not kept; name those drawn."""
    drawn = []
    for figure in study.get("figures", []):
        stem = home / "figures" / name / figure
        if not stem.with_suffix(".png").exists():
            try:
                made = plugins.load("figures/kinds", figure).draw(study, home / "runs")
            except results.NotKeptError:
                continue
            made.save(stem, [".png"])  # a PDF takes four times as long
        drawn.append(figure)
    files.write_json(home / "studies" / f"{name}.json", study | {"figures": drawn})


def _made_from(folder: Path, paper: str) -> dict[str, Any]:
    """Return the digests of what is derived from: kept files, code, and the paper's own files."""
    lent = _lent(folder, paper)
    names = (papers.ABOUT, papers.STUDIES, papers.PUBLISHED)
    own = [papers.path_of(key, n) for key in (paper, *(p.parent.name for p in lent)) for n in names]
    shared = map(plugins.WORKFLOW.joinpath, ("components.yaml", "schemas/tables.yaml"))
    contents = "".join(files.digest(path) for path in (*own, configuration.DEFAULTS, *shared))
    return {
        "kept": " ".join(files.digest(path / kept_runs.ABOUT) for path in (folder, *lent)),
        "code": _code(paper),
        "configuration": hashlib.sha256(contents.encode()).hexdigest(),
    }


def _code(paper: str) -> str:
    packages = ("judging/kinds", "figures/kinds", "analyses", f"papers/{paper}/analyses", "tuning")
    used = [plugins.path_of(p, name) for p in packages for name in plugins.names(p)]
    return code.digest(Path(__file__), *used)
