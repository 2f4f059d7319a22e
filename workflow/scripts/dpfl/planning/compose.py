"""What is run of each paper: components <- the paper's own <- its scale <- the user's changes.

Every paper becomes one configuration of its own, in which names are local. The keys of a user's
file are the settings of all papers, and sections: an entry `paper/name` is of that paper alone, as
studies must be; one without changes every paper that has it, or, if none has, is new to all.
"""

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest, unknown
from dpfl.papers import folder
from dpfl.papers.merging import extended, merged

SECTIONS = (
    *("models", "partitions", "federations", "mechanisms", "clippings", "budgets", "optimizers"),
    "statistics",
    *("methods", "studies", "analyses"),
)
OF_PAPERS = ("studies", "analyses")
"""The sections whose names a user's file writes as `paper/name`."""
SETTINGS = (
    *("data_dir", "device", "noise", "delta", "accountant", "margin"),
    *("evaluation_examples", "audit", "scale", "kept"),
)
"""What is the same for all papers."""


def compose(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the configuration of every chosen paper, by its key.

    Raises UserError for an unknown paper, study or scale. A paper that lacks the scale runs
    nothing, if another one has it. A paper that selects studies of another, as `paper/study`, has
    that other beside it, and these studies in `reads`.
    """
    papers = [folder.load(key) for key in chosen(config)]
    _expect_scale(config["scale"], papers)
    made = {paper.key: at_scale(config, paper, config["scale"], papers) for paper in papers}
    _expect_names(config, made, papers)
    reads = {paper.key: _lent(config, paper.key, made) for paper in papers}
    if config["select"] is not None:
        _select(made, config["select"])
    for key, own in made.items():
        own["reads"] = [name for name in reads.get(key, []) if _is_selected(made, name)]
    return made


def lenders(key: str, scale: str) -> list[str]:
    """Return the other papers of which a paper selects studies at a scale."""
    selected = folder.load(key).content.get("scales", {}).get(scale, {}).get("select", [])
    return list(dict.fromkeys(name.split("/")[0] for name in selected if "/" in name))


def _lent(config: dict[str, Any], key: str, made: dict[str, dict]) -> list[str]:
    """Move the studies of other papers that a paper selects to these; return their names."""
    names = made[key]["select"]
    made[key]["select"] = [name for name in names if "/" not in name]
    for other in lenders(key, config["scale"]):
        if other not in made:
            composed = at_scale(config, folder.load(other), config["scale"])
            made[other] = composed | {"select": []}
        lent = [name.removeprefix(f"{other}/") for name in names if name.startswith(f"{other}/")]
        made[other]["select"] = list(dict.fromkeys([*made[other]["select"], *lent]))
    return [name for name in names if "/" in name]


def _is_selected(made: dict[str, dict], name: str) -> bool:
    paper, _, study = name.partition("/")
    return study in made[paper]["select"]


def chosen(config: dict[str, Any]) -> list[str]:
    """Return the keys of the papers to replicate, all of them where a user names none."""
    return folder.names() if config["papers"] is None else config["papers"]


def at_scale(
    config: dict[str, Any], paper: folder.Paper, scale: str, beside: Sequence[folder.Paper] = ()
) -> dict[str, Any]:
    """Return the configuration of one paper at one scale, the chosen papers `beside` it."""
    layers = _layers(paper, scale)
    elsewhere = {
        (section, name)
        for other in beside
        for layer in _layers(other, scale)
        for section in SECTIONS
        for name in layer[section]
    }
    sections = reduce(merged, layers)
    sections = merged(sections, _changes(config, paper.key, sections, elsewhere))
    return {
        "paper": paper.key,
        **{key: config[key] for key in SETTINGS},
        "select": paper.content["scales"].get(scale, {}).get("select", []),
        **{name: extended(name, sections[name]) for name in SECTIONS},
    }


def _layers(paper: folder.Paper, scale: str) -> list[dict[str, dict]]:
    """Return what is said of a paper, each layer to be put over those before."""
    block = paper.content["scales"].get(scale, {})
    return [_sections(layer) for layer in (folder.read(folder.COMPONENTS), paper.content, block)]


def _sections(layer: dict[str, Any]) -> dict[str, Any]:
    return {name: layer.get(name) or {} for name in SECTIONS}


def _changes(
    config: dict[str, Any], paper: str, own: dict[str, dict], elsewhere: set[tuple[str, str]]
) -> dict[str, dict]:
    """Return a user's changes that concern one paper, by its local names.

    A change to what only others have is none of this paper's.
    """
    found: dict[str, dict] = {}
    for section in SECTIONS:
        entries = config.get(section) or {}
        found[section] = {
            name.removeprefix(f"{paper}/"): change
            for name, change in entries.items()
            if name.startswith(f"{paper}/")
            or ("/" not in name and (name in own[section] or (section, name) not in elsewhere))
        }
    return found


def _expect_scale(scale: str, papers: list[folder.Paper]) -> None:
    if not any(scale in paper.scales for paper in papers):
        former = folder.read(folder.FORMER)
        if scale in former:
            raise UserError(f"config: scale = {scale} is now part of {former[scale]}")
        known = list(dict.fromkeys(name for paper in papers for name in paper.scales))
        whose = ", ".join(paper.key for paper in papers)
        lack = "lacks" if len(papers) == 1 else "lack"
        raise UserError(f"config: scale = {scale}, which {whose} {lack}; {nearest(scale, known)}")


def _expect_names(
    config: dict[str, Any], made: dict[str, dict], papers: Sequence[folder.Paper]
) -> None:
    """Raise a UserError for a change to what is of a paper, or a study, that does not exist."""
    own = {paper.key: reduce(merged, _layers(paper, config["scale"])) for paper in papers}
    for section in SECTIONS:
        for name, change in (config.get(section) or {}).items():
            paper, slash, local = name.partition("/")
            changes = section in OF_PAPERS and paper in own and not _is_new(change)
            there = own[paper][section] if changes else [local]
            for line in unknown([local], there, f"config: {section}: no", f" in {paper}"):
                raise UserError(line)
            known_paper = paper in made or paper in folder.names()
            if not (known_paper if slash else section not in OF_PAPERS):
                known = [f"{key}/{own}" for key in made for own in made[key][section]]
                raise UserError(
                    f"config: {section} has {name!r}, expected paper/name; {nearest(name, known)}"
                )


def _is_new(change: Any) -> bool:
    """Tell whether an entry is a study or an analysis of its own and no change to another."""
    told = change.keys() if isinstance(change, dict) else set()
    return not told or bool(told & {"title", "extends"})


def _select(made: dict[str, dict], names: list[str]) -> None:
    """Choose the studies that a user names, as `paper/study` or by a name that one paper has."""
    chosen: dict[str, list[str]] = {key: [] for key in made}
    for name in names:
        for key, study in _found(made, name):
            chosen[key].append(study)
    for key, studies in chosen.items():
        made[key]["select"] = studies


def _found(made: dict[str, dict], name: str) -> Iterator[tuple[str, str]]:
    known = {f"{key}/{study}": (key, study) for key in made for study in _names(made[key])}
    matching = [full for full in known if name in (full, known[full][1])]
    if not matching:
        listed = [*known, *(study for _, study in known.values())]
        raise UserError(f"config: select: no study {name!r}; {nearest(name, listed)}")
    if len(matching) > 1:
        raise UserError(f"config: select: {name!r} is one of {', '.join(matching)}; name the paper")
    yield known[matching[0]]


def _names(config: dict[str, Any]) -> list[str]:
    return [*config["studies"], *config["analyses"]]
