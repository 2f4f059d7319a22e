"""`make list`: what PAPER, SCALE and STUDY can name, with methods and data sets."""

from collections.abc import Iterable, Iterator
from textwrap import wrap

from tabulate import tabulate

from dpfl.checks import config as configuration
from dpfl.papers import citation, folder
from dpfl.planning import compose
from dpfl.terminal.choice import Choice

WIDTH = 100


def lines(choice: Choice) -> Iterator[str]:
    """Yield the papers, or one paper's studies and methods; UserError for one that is none."""
    if "scale" in choice.settings:
        configuration.composed(choice.config())  # one that no paper has is refused
    keys = compose.chosen(choice.config())
    papers = [folder.load(key) for key in keys]
    if len(papers) == 1:
        yield from _paper(papers[0], choice.config())
        return
    rows = [
        (p.key, p.about.get("short") or citation.short(p.about), " ".join(p.scales)) for p in papers
    ]
    yield from tabulate(rows, ["PAPER", "what it is", "SCALE"]).splitlines()
    yield from _named("data sets", folder.shared("models"))
    yield f"\nstudies and methods of one: make list PAPER={keys[0]}"


def _paper(paper: folder.Paper, defaults: dict) -> Iterator[str]:
    """Yield every study that a scale selects, with its data sets, and the methods they use."""
    rows: dict[str, list[str]] = {}
    methods: set[str] = set()
    for scale, block in paper.content["scales"].items():
        for name in (folder.full_name(paper.key, study) for study in block["select"]):
            key, _, study = name.partition("/")
            config = compose.at_scale(defaults, folder.load(key), scale)
            own = (config["studies"] | config["analyses"])[study]
            _, data, scales, _ = rows.get(name, [""] * 4)
            data = " ".join(dict.fromkeys([*data.split(), own.get("dataset", "")]))
            rows[name] = [name, data, f"{scales} {scale}".strip(), own["title"]]
            methods.update(own.get("methods", ()))
    yield from tabulate(rows.values(), ["STUDY", "data set", "SCALE", "title"]).splitlines()
    yield from _named("methods", sorted(methods))


def _named(what: str, names: Iterable[str]) -> Iterator[str]:
    yield f"\n{what}:"
    yield from wrap(", ".join(names), WIDTH, break_on_hyphens=False)
