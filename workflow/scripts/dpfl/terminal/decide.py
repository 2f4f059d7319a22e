"""`make replicate SEEDS=decide`: look by look, until no claim is open for want of seeds.

Each look is a replicate of its own, whose seeds stand in a configuration file. So nothing that
Snakemake reads is a verdict. Seeds are added to studies of open claims alone (dpfl.seeds.looks).
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import yaml
from snakemake.utils import update_config

from dpfl.base import files
from dpfl.base.errors import UserError
from dpfl.checks import config as configuration
from dpfl.judging import claims
from dpfl.papers import folder
from dpfl.planning import estimate
from dpfl.planning.plan import runs_with_trials
from dpfl.runs.kept_runs import csv_rows
from dpfl.seeds import looks
from dpfl.terminal.choice import Choice
from dpfl.terminal.replicate import PARTIAL, replicate
from dpfl.terminal.status import RESULTS
from dpfl.words.vocabulary import INCONCLUSIVE, TOO_FEW, verdict_of

SEEDS, CLAIMS = RESULTS / "looks/seeds.yaml", RESULTS / "tables/claims.csv"
OPEN = (INCONCLUSIVE, TOO_FEW)
Studies = dict[str, dict[str, Any]]


def decide(choice: Choice, cores: str, more: Sequence[str] = (), **given: Any) -> int:
    """Replicate at every look that open claims ask for; return the exit status of the last call.

    `given` are the other arguments of `replicate`, and its errors are raised. UserError for
    arguments of Snakemake by which it makes less than everything: then nothing is judged.
    """
    if partial := list(filter(PARTIAL.fullmatch, more)):
        raise UserError(f"--seeds decide: makes everything, got {' '.join(partial)}")
    seeds: Studies = {}
    status = replicate(choice, cores, more, **given)
    while status == 0 and (added := following(choice.config(), waiting(csv_rows(CLAIMS)))):
        before = choice.plan()
        update_config(seeds, added)
        files.write_text(SEEDS, yaml.safe_dump({"studies": seeds}, default_flow_style=None))
        choice = Choice(choice.settings, [*filter(str(SEEDS).__ne__, choice.files), str(SEEDS)])
        _tell(_costs(before, choice, added))
        status = replicate(choice, cores, more, **given)
    if status == 0:
        _tell(_ends(seeds))
    return status


def waiting(rows: Iterable[dict[str, str]]) -> dict[str, set[str]]:
    """Return the studies of claims that are open for want of seeds, with the methods they name."""
    found: dict[str, set[str]] = {}
    for row in (row for row in rows if row["part"] == "overall" and verdict_of(row) in OPEN):
        about = folder.load(row["paper"]).about["claims"]
        claim = next(one for one in about if one["id"] == row["claim"])
        for name in filter(None, (row["study"], claim.get("gap_to"))):
            own = found.setdefault(folder.full_name(row["paper"], name), set())
            own.update(map(str, claims.methods(claim)))
    return found


def following(config: dict[str, Any], open_studies: dict[str, set[str]]) -> Studies:
    """Return the lists of seeds of the next look, by study; of a study that has all of them, none.

    What tunes a study has seeds of its own, which stay.
    """
    composed = configuration.composed(config)
    found = {}
    for name, methods in open_studies.items():
        paper, _, study = name.partition("/")
        if own := composed.get(paper, {}).get("studies", {}).get(study):
            found[name] = longer(own, methods)
    return {name: lists for name, lists in found.items() if lists}


def longer(study: dict[str, Any], methods: set[str]) -> dict[str, Any]:
    """Return those lists of a study that are shorter than the next look, made as long."""
    free = {*study["epsilons"]} == {"inf"}
    key = "nonprivate_seeds" if free and "nonprivate_seeds" in study else "seeds"
    costly = {m: own for m, own in study.get("method_seeds", {}).items() if m in methods}
    look = looks.following(min(map(len, (study[key], *costly.values()))))
    if look is None:
        return {}
    slow = {m: _up_to(look, own) for m, own in costly.items() if len(own) < look}
    lists = {key: _up_to(look, study[key])} if len(study[key]) < look else {}
    return lists | ({"method_seeds": slow} if slow else {})


def _up_to(look: int, seeds: list[int]) -> list[int]:
    """Return seeds with later ones, so that the first stay the first."""
    return [*sorted(seeds), *range(max(seeds) + 1, max(seeds) + 1 + look - len(seeds))]


def _costs(before: Any, choice: Choice, added: Studies) -> Iterator[str]:
    plan = choice.plan()
    for name, lists in added.items():
        runs = [run for run in runs_with_trials(plan, [name]) if run not in before.runs]
        cost = f"{len(runs)} runs more, about {estimate.hours(plan, runs):.3g} core-hours"
        yield f"open: {name}: {cost}, with {json.dumps(lists)}"


def _ends(seeds: Studies) -> Iterator[str]:
    """Yield the lists as a scale in studies.yaml holds them."""
    left = ", ".join(waiting(csv_rows(CLAIMS))) or "nothing"
    yield f"open for want of seeds: {left}"
    yield from (f"for studies.yaml: {name}: {json.dumps(lists)}" for name, lists in seeds.items())


def _tell(lines: Iterable[str]) -> None:
    for line in lines:
        print(line, flush=True)
