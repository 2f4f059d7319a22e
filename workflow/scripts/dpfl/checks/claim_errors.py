"""Finds claims of a paper that could not be judged, whatever the runs: before any of them."""

from collections.abc import Iterable, Iterator

from dpfl.base.errors import UserError
from dpfl.base.suggestions import unknown
from dpfl.judging import claims
from dpfl.papers import folder, measures, published
from dpfl.planning.methods import SECTIONS
from dpfl.plugins import bounds, declarations

METHOD, EPSILON, ROUNDS = "method", "epsilon", "rounds"
OF_CELLS = (METHOD, EPSILON, "dataset", "rate", "seed", "unit")
"""What a cell of every study has, beside what the study varies."""
UNORDERED = frozenset({"rate", "noise", "delta"})
"""What no trend is over though a study may vary it: `tables.results.OWN`, but for epsilon. That
module is not imported here, for it takes pandas along."""


def claim_errors(config: dict) -> Iterator[str]:
    """Find claims that their kind does not take, or that name what the paper does not define."""
    where = folder.shown(folder.path_of(config["paper"], folder.ABOUT))
    yield from measures.mistakes(config["paper"])
    seen: set[str] = set()
    made = folder.load(config["paper"]).about["claims"]
    for kind in {claim.get("kind") for claim in made} & set(claims.kinds()):
        yield from declarations.errors("judging/kinds", kind)
    for claim in made:
        place = f"{where}: claim {claim['id']}"
        try:
            claims.check(claim)
        except UserError as error:
            yield f"{where}: {error}"
            continue
        if claim["id"] in seen:
            yield f"{place}: another claim has this id"
        seen.add(claim["id"])
        each = claims.by_study(claim)
        for key, kind in (("study", "studies"), ("analysis", "analyses")):
            named = [one[key] for one in each if key in one]
            known = [*config[kind], *_of_others(named, kind)]
            yield from unknown(named, known, f"{place}: no", f" in {kind}")
        named = [] if "of" in claim else claims.methods(claim)
        yield from unknown(named, config["methods"], f"{place}: no", " in methods")
        settings = (line for one in each for line in _unknown_settings(config, one))
        for line in (*_unknown_rows(config["paper"], claim), *settings):
            yield f"{place}: {line}"


def _of_others(named: Iterable[str], section: str) -> Iterator[str]:
    """Yield the studies of other papers that claims name as `paper/study`."""
    for paper in {name.partition("/")[0] for name in named if "/" in name} & {*folder.names()}:
        yield from (f"{paper}/{own}" for own in folder.load(paper).content.get(section, {}))


def _unknown_rows(paper: str, claim: dict) -> Iterator[str]:
    """Find a table or a row of a claim that published.csv lacks."""
    if "table" not in claim:
        return
    try:
        rows = {number.row for number in published.table(paper, claim["table"])}
    except UserError as error:
        yield str(error)
        return
    named = [claim["row"]] if "row" in claim else claim.get("rows", [])
    yield from unknown(named, sorted(rows), "no row", f" in {claim['table']}")


def _unknown_settings(config: dict, claim: dict) -> Iterator[str]:
    """Find settings that a claim names and its study does not vary, if this scale runs it."""
    printed = _coordinates(config["paper"]) if "table" in claim else []
    if "analysis" in claim:
        yield from _unknown("cells", claim.get("cells", {}), printed)
    if claim.get("study") not in config["select"]:
        return
    varied = config["studies"][claim["study"]].get("vary", {})
    known = [METHOD, *printed] if "row" in claim else [*OF_CELLS, *varied]
    yield from _unknown("cells", claim.get("cells", {}), known)
    if "of" in claim:
        yield from _unknown("of", [claim["of"]], [METHOD, *varied])
        kind = {**SECTIONS, METHOD: "methods"}.get(claim["of"])
        named = claims.methods(claim) if kind else []
        yield from unknown(named, config[kind or "methods"], "no", f" in {kind}")
    if "over" in claim:
        yield from _trend_errors(claim, varied)


def _trend_errors(claim: dict, varied: dict[str, list]) -> Iterator[str]:
    over = claim["over"]
    settings = [key for key in varied if key not in UNORDERED]
    yield from _unknown("over", [over], [*settings, EPSILON, ROUNDS])
    values = varied.get(over, [])
    if values and not bounds.parse("list of number").holds(values):
        told = ", ".join(map(str, values))
        yield f"over {over!r}: its values are {told}, expected numbers"


def _unknown(key: str, named: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    return unknown(named, dict.fromkeys(known), f"{key} names", ", which is no setting there")


def _coordinates(paper: str) -> list[str]:
    """Return the columns of a paper's printed numbers, by which they are chosen."""
    rows = published.read(paper)
    return ["metric", "row", *(name for row in rows for name, _ in row.coordinates)]
