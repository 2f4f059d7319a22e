"""What is run of each paper: components <- the paper's own <- its scale <- the user's changes.

Every paper becomes one configuration of its own, in which names are local. The keys of a user's
file are the settings of all papers, and sections. An entry `paper/name` is of that paper alone;
studies must be named so. Any other entry changes every paper that has it. If none has, it is new to
all.
"""

from collections.abc import Collection
from functools import reduce
from typing import Any

from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest, unknown
from dpfl.contracts.federation import DEFAULT
from dpfl.papers import folder
from dpfl.papers.merging import extended, merged
from dpfl.planning import methods

OF_PAPERS = ("studies", "analyses")
"""The sections whose names a user's file writes as `paper/name`."""
SECTIONS = ("models", *methods.SECTIONS.values(), "methods", *OF_PAPERS)
SETTINGS = (
    *("data_dir", "device", "noise", "delta", "accountant", "margin"),
    *("evaluation_examples", "audit", "kept"),
)
"""What is the same for all papers."""


def compose(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the configuration of every chosen paper, by its key.

    Raises UserError for an unknown paper, study or scale. A paper that lacks the scale runs
    nothing, if another one has it. A paper that selects studies of another, as `paper/study`, has
    that other beside it, and these studies in `reads`.
    """
    papers, scale = [folder.load(key) for key in chosen(config)], config["scale"]
    _expect_scale(scale, papers)
    own = {paper.key: _defined(paper, scale) for paper in papers}
    _expect_names(config, own)
    everywhere = {(s, name) for each in own.values() for s in SECTIONS for name in each[s]}
    made = {paper.key: at_scale(config, paper, scale, everywhere) for paper in papers}
    for name in [name for paper in own for name in made[paper]["reads"]]:
        _lend(config, name, made)
    if config["select"] is not None:
        _select(made, config["select"])
    selected = {f"{key}/{study}" for key, each in made.items() for study in each["select"]}
    for each in made.values():
        each["reads"] = [name for name in each["reads"] if name in selected]
    return made


def lenders(key: str, scale: str) -> list[str]:
    """Return the other papers of which a paper selects studies at a scale."""
    selected = folder.load(key).content.get("scales", {}).get(scale, {}).get("select", [])
    return list(dict.fromkeys(name.split("/")[0] for name in selected if "/" in name))


def _lend(config: dict[str, Any], name: str, made: dict[str, dict]) -> None:
    """Select a study of another paper, which then has a configuration too."""
    key, _, study = name.partition("/")
    if key not in made:
        lender = at_scale(config, folder.load(key), config["scale"])
        made[key] = lender | {"select": [], "reads": []}
    made[key]["select"] = list(dict.fromkeys([*made[key]["select"], study]))


def chosen(config: dict[str, Any]) -> list[str]:
    """Return the keys of the papers to replicate, all of them where a user names none."""
    return folder.names() if config["papers"] is None else config["papers"]


def at_scale(
    config: dict[str, Any], paper: folder.Paper, scale: str, everywhere: Collection = ()
) -> dict[str, Any]:
    """Return the configuration of one paper at one scale.

    `everywhere` are pairs of a section and a name that some chosen paper has. A user's change to
    what only others have is none of this paper's.
    """
    sections = _defined(paper, scale)
    changes = {
        section: {
            name.removeprefix(f"{paper.key}/"): change
            for name, change in (config.get(section) or {}).items()
            if name.startswith(f"{paper.key}/")
            or ("/" not in name and (name in own or (section, name) not in everywhere))
        }
        for section, own in sections.items()
    }
    sections = merged(sections, changes)
    selected = paper.content["scales"].get(scale, {}).get("select", [])
    found = {name: extended(name, sections[name]) for name in SECTIONS}
    found["federations"] = {name: _ruled(own) for name, own in found["federations"].items()}
    return {
        "paper": paper.key,
        "scale": scale,
        **{key: config[key] for key in SETTINGS},
        "select": [name for name in selected if "/" not in name],
        "reads": [name for name in selected if "/" in name],
        **found,
    }


def _ruled(federation: Any) -> Any:
    """Return a federation with the rule, and the sampling, that it has if it names none."""
    plain = {"uses": DEFAULT, "settings": {}, **methods.PLAIN}
    return plain | federation if isinstance(federation, dict) else federation


def scales_beside(key: str, defaults: dict) -> list[dict]:
    """Return the configurations of a paper, and of others that quote it, at all of their scales."""
    quoting = [folder.load(name) for name in folder.names() if key in (name, *_quoted(name))]
    return [at_scale(defaults, each, scale) for each in quoting for scale in each.scales]


def _quoted(key: str) -> set[str]:
    """Return the other papers whose printed numbers stand beside studies of a paper."""
    studies = folder.load(key).content.get("studies") or {}
    listed = [entry.get("published", []) for entry in studies.values() if isinstance(entry, dict)]
    return {reference["paper"] for own in listed for reference in own if "paper" in reference}


def _defined(paper: folder.Paper, scale: str) -> dict[str, dict]:
    """Return the sections of a paper: what all share, its own, its scale's, one over the other."""
    block = paper.content["scales"].get(scale, {})
    layers = (folder.read(folder.COMPONENTS), paper.content, block)
    return reduce(merged, ({name: layer.get(name) or {} for name in SECTIONS} for layer in layers))


def _expect_scale(scale: str, papers: list[folder.Paper]) -> None:
    known = dict.fromkeys(name for paper in papers for name in paper.scales)
    for line in unknown([scale], known, "config: no scale", " of any paper that is chosen"):
        raise UserError(line)


def _expect_names(config: dict[str, Any], own: dict[str, dict[str, dict]]) -> None:
    """Raise a UserError for a change to what is of a paper, or a study, that does not exist."""
    for section in SECTIONS:
        for name, change in (config.get(section) or {}).items():
            paper, slash, local = name.partition("/")
            changes = section in OF_PAPERS and paper in own and not _is_new(change)
            there = own[paper][section] if changes else [local]
            for line in unknown([local], there, f"config: {section}: no", f" in {paper}"):
                raise UserError(line)
            if paper not in folder.names() if slash else section in OF_PAPERS:
                known = [f"{key}/{entry}" for key in own for entry in own[key][section]]
                raise UserError(
                    f"config: {section} has {name!r}, expected paper/name; {nearest(name, known)}"
                )


def _is_new(change: Any) -> bool:
    """Tell whether an entry is a study or an analysis of its own and no change to another."""
    told = change.keys() if isinstance(change, dict) else set()
    return not told or bool(told & {"title", "extends"})


def _select(made: dict[str, dict], names: list[str]) -> None:
    """Choose the studies that a user names, as `paper/study` or by a name that one paper has."""
    known = [(key, n) for key, own in made.items() for n in (*own["studies"], *own["analyses"])]
    for own in made.values():
        own["select"] = []
    for name in names:
        matching = [(key, study) for key, study in known if name in (study, f"{key}/{study}")]
        if not matching:
            listed = [*map("/".join, known), *(study for _, study in known)]
            raise UserError(f"config: select: no study {name!r}; {nearest(name, listed)}")
        if len(matching) > 1:
            told = f"{name!r} is one of {', '.join(map('/'.join, matching))}"
            raise UserError(f"config: select: {told}; name the paper")
        [(key, study)] = matching
        made[key]["select"].append(study)
