"""The first figure on a paper's page: of those that its paper.yaml names, the first there is."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from markupsafe import Markup

from dpfl.report import markup
from dpfl.report.paper import Paper
from dpfl.report.pictures import picture
from dpfl.report.reader import Folder


def of(paper: Paper, kept: Iterable[Path], run: Folder, page: Path) -> Markup:
    """Return the figure, of kept results if it is there, else of this run; links are from `page`.

    `kept` are folders with provenance: captions of older figures have changed.
    """
    places = ((said, home / f"{name}.png") for said, home, name in _places(paper, kept, run))
    for said, path in places:
        if path.exists():
            shown = picture(path, page, f"{said}: {path.parent.name}/{path.stem}")
            return markup.part("picture", shown | {"caption": f"{said}. {shown['caption']}"})
    return Markup("")


def _places(paper: Paper, kept: Iterable[Path], run: Folder) -> Iterator[tuple[str, Path, str]]:
    """Yield whose figures, their folder and a name, the best place first."""
    kept = list(kept)
    for name in paper.heroes:
        for home in kept:
            yield f"Kept results, {home.name}", home / "figures", name
    for name in paper.heroes:
        yield "This run", run.path / "figures" / paper.key, name
