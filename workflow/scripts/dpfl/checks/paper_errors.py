"""Finds mistakes in a paper's own files before anything trains: claims, first figures, page.

Claims are those that could not be judged, whatever the runs.
"""

from collections.abc import Iterable, Iterator

from jinja2 import Environment, TemplateSyntaxError, nodes

from dpfl.base.suggestions import unknown
from dpfl.checks import lines_of
from dpfl.contracts import bounds
from dpfl.judging import claims
from dpfl.papers import folder, published
from dpfl.planning import compose
from dpfl.planning.beside import unmatched
from dpfl.planning.methods import SECTIONS
from dpfl.plugins import declarations
from dpfl.tables import results
from dpfl.words import forms

METHOD, EPSILON, ROUNDS = "method", "epsilon", "rounds"
OF_CELLS = (METHOD, EPSILON, "dataset", "rate", "seed", "unit")
"""What a cell of every study has, beside what the study varies."""
TABLES = ("has", "rows", "cell", "mean", "brief", "comparison", "claim")
GIVEN = {"kept": TABLES, "run": TABLES, "printed": ("by",), "guard": ()}
"""What a page is given, beside what Jinja has, and what each of it offers."""


def claim_errors(config: dict) -> Iterator[str]:
    """Find claims that their kind does not take, or that name what the paper does not define."""
    where = folder.shown(folder.path_of(config["paper"], folder.ABOUT))
    about, there = folder.load(config["paper"]).about, published.tables(config["paper"])
    yield from unknown(about.get("printed", {}), there, f"{where}: printed has", ", no table there")
    for choice in about.get("choices", []):
        yield from _unknown_key(config, choice["key"], f"{where}: choices: ")
    made = about["claims"]
    ids = [claim["id"] for claim in made]
    yield from unknown(about.get("main", {}).get("claims", []), ids, f"{where}: main: no claim")
    for kind in {claim.get("kind") for claim in made} & set(claims.kinds()):
        yield from declarations.errors("judging/kinds", kind)
    for claim in made:
        broken = [f"{where}: {line}" for line in lines_of(claims.check, claim)]
        if not broken and ids.count(claim["id"]) > 1:
            yield f"{where}: claim {claim['id']}: another claim has this id"
        found = (f"{where}: claim {claim['id']}: {line}" for line in _unknown_names(config, claim))
        yield from broken or found


def _unknown_key(config: dict, key: str, where: str) -> Iterator[str]:
    """Find a key of an open choice that nothing defines; an empty one is of no key."""
    section, _, below = key.partition(".")
    if section:
        yield from unknown([section], config, f"{where}no key")
    entries = config.get(section) if below else None
    if isinstance(entries, dict) and not any(f"{below}.".startswith(f"{e}.") for e in entries):
        yield from unknown([below], entries, f"{where}no", f" in {section}")


def _unknown_names(config: dict, claim: dict) -> Iterator[str]:
    """Find what a claim names and the paper does not define."""
    each = claims.by_study(claim)
    for key, kind in (("study", "studies"), ("gap_to", "studies"), ("analysis", "analyses")):
        named = [one[key] for one in each if key in one]
        yield from unknown(named, [*config[kind], *_of_others(named, kind)], "no", f" in {kind}")
    named = [] if "of" in claim else claims.methods(claim)
    yield from unknown(named, config["methods"], "no", " in methods")
    if "table" in claim:
        yield from lines_of(_unknown_rows, config["paper"], claim)
    for one in each:
        yield from _unknown_settings(config, one)


def _of_others(named: Iterable[str], section: str) -> Iterator[str]:
    """Yield the studies of other papers that claims name as `paper/study`."""
    for paper in {name.partition("/")[0] for name in named if "/" in name} & {*folder.names()}:
        yield from (f"{paper}/{own}" for own in folder.load(paper).content.get(section, {}))


def _unknown_rows(paper: str, claim: dict) -> Iterator[str]:
    """Find a row of a claim that a table of published.csv lacks; UserError for no table."""
    rows = {number.row for number in published.table(paper, claim["table"])}
    named = [claim["row"]] if "row" in claim else claim.get("rows", [])
    yield from unknown(named, sorted(rows), "no row", f" in {claim['table']}")


def _unknown_settings(config: dict, claim: dict) -> Iterator[str]:
    """Find settings that a claim names and its study does not vary, if this scale runs it."""
    numbers = published.read(config["paper"]) if "table" in claim else ()
    columns = [name for number in numbers for name, _ in number.coordinates]
    printed = ["metric", "row", *columns] if numbers else []
    cells, of = claim.get("cells", {}), claim.get("of")
    if "analysis" in claim:
        yield from _unknown("cells", cells, printed)
    if claim.get("study") not in config["select"]:
        return
    varied = config["studies"][claim["study"]].get("vary", {})
    known = [METHOD, *printed] if "row" in claim else [*OF_CELLS, *varied]
    yield from _unknown("cells", cells, known)
    if of is not None:
        yield from _unknown("of", [of], [METHOD, *varied])
        if kind := {**SECTIONS, METHOD: "methods"}.get(of):
            yield from unknown(claims.methods(claim), config[kind], "no", f" in {kind}")
    if "over" in claim:
        yield from _trend_errors(claim["over"], varied)


def _trend_errors(over: str, varied: dict[str, list]) -> Iterator[str]:
    """Find what no trend is over, though a study may vary it, and values that have no order."""
    settings = [key for key in varied if key not in results.OWN]
    yield from _unknown("over", [over], [*settings, EPSILON, ROUNDS])
    values = varied.get(over, [])
    if values and not bounds.parse("list of number").holds(values):
        told = ", ".join(map(str, values))
        yield f"over {over!r}: its values are {told}, expected numbers"


def _unknown(key: str, named: Iterable[str], known: Iterable[str]) -> Iterator[str]:
    return unknown(named, dict.fromkeys(known), f"{key} names", ", which is no setting there")


def errors_of_scales(key: str, defaults: dict) -> Iterator[str]:
    """Find what no scale of a paper has: studies of claims, first figures, printed numbers."""
    scales, about = compose.scales_beside(key, defaults), folder.load(key).about
    yield from unmatched(key, scales)
    own = {config["scale"]: config for config in scales if config["paper"] == key}
    where = folder.shown(folder.path_of(key, folder.ABOUT))
    for figure, named in about.get("hero", {}).items():
        yield from unknown(named, own, f"{where}: hero.{figure}: no scale")
        for scale in (name for name in named if name in own):
            drawn, at = _drawn(own[scale]), f" at scale {scale}"
            yield from unknown([figure], drawn, f"{where}: hero: no figure", at)
    reached = sorted({name for config in own.values() for name in config["select"]})
    for claim in about["claims"]:
        named = [one.get("study", "/") for one in claims.by_study(claim)]
        told = f"{where}: claim {claim['id']}: study"
        local = [name for name in named if "/" not in name]
        yield from unknown(local, reached, told, ", which no scale selects")


def _drawn(config: dict) -> Iterator[str]:
    """Yield the figures of the studies and analyses that a scale selects."""
    chosen, studies, analyses = (config[key] for key in ("select", "studies", "analyses"))
    yield from (f"{n}/{own}" for n in chosen for own in studies.get(n, {}).get("figures", []))
    yield from (f"{n}/{analyses[n]['uses']}" for n in chosen if n in analyses)


def page_errors(config: dict) -> Iterator[str]:
    """Find a mistake of syntax in page.md, and names and forms of numbers that there are not."""
    page = folder.path_of(config["paper"], folder.PAGE)
    language, where = Environment(extensions=["jinja2.ext.do"]), folder.shown(page)
    language.filters.update(forms.FILTERS)
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    try:
        language.compile(text)
    except TemplateSyntaxError as error:
        yield f"{where}, line {error.lineno}: {error.message}"
        return
    read = language.parse(text)
    named = list(read.find_all(nodes.Name))
    known = {*language.globals, *(name.name for name in named if name.ctx != "load")}
    for name in (name for name in named if name.name not in known):
        yield from unknown([name.name], GIVEN, f"{where}, line {name.lineno}: no")
    yield from _unknown_calls(config["paper"], read, where)


def _unknown_calls(key: str, page: nodes.Template, where: str) -> Iterator[str]:
    """Find what a page asks of what it is given, and that does not offer it: names, as written."""
    for own in page.find_all(nodes.Getattr):
        given = own.node.node if isinstance(own.node, nodes.Call) else own.node
        if isinstance(given, nodes.Name) and given.name in GIVEN:
            told = f"{where}, line {own.lineno}: {given.name} offers no"
            yield from unknown([own.attr], GIVEN[given.name], told)
    printed = {f"{one.table} / {one.row}" for one in published.read(key)}
    for call in page.find_all(nodes.Call):
        name, told = getattr(call.node, "name", ""), f"{where}, line {call.lineno}:"
        asked = [str(one.value) for one in call.args if isinstance(one, nodes.Const)]
        if name == "printed" and len(asked) == 2:
            yield from unknown([" / ".join(asked)], printed, f"{told} no printed")
        elif name == "kept" and asked and len(asked) == len(call.args):
            of = (*asked, key)[1]
            yield from unknown([of], folder.names(folder.HOME), f"{told} kept: no paper")
            scales = folder.load(of).scales if of in folder.names(folder.HOME) else asked
            yield from unknown(asked[:1], scales, f"{told} kept: no scale", f" of {of}")
