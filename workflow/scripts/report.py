"""Write the report: one page with the scorecard on top, its figures inside, relative links."""

import argparse
from pathlib import Path

import jinja2

from dpfl import cli, files
from dpfl.report import page
from dpfl.report.reader import Folder

TEMPLATE = Path(__file__).parents[1] / "report" / "index.html.jinja"


def main() -> None:
    """Write the page whole or not at all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=Path, default=Path("results/tables"))
    parser.add_argument("--studies", type=Path, nargs="*", default=[], help="JSON files")
    parser.add_argument("--analyses", nargs="*", default=[], help="NAME=TITLE, trains nothing")
    parser.add_argument("--notebooks", nargs="*", default=[], help="[name=]HTML")
    parser.add_argument("--figures", type=Path, nargs="*", default=[], help="{study}/{figure}.png")
    parser.add_argument("--runs", type=Path, default=Path("results/runs"))
    parser.add_argument("--config", type=Path, help="the configuration in force, shown as it is")
    parser.add_argument("--output", type=Path, default=Path("results/reports/index.html"))
    arguments = parser.parse_args()

    home = arguments.output.parent
    studies = page.ordered(files.read_json(path) for path in arguments.studies)
    folder = Folder(arguments.tables.parent)
    sections = [page.section(s, folder, _figures_of(s, arguments.figures), home) for s in studies]
    context = {
        "overview": page.overview(studies),
        "sections": sections,
        "analyses": [_analysis(text, folder, home) for text in arguments.analyses],
        "notebooks": [_notebook(text, home) for text in arguments.notebooks],
        "provenance": page.provenance(studies, arguments.runs),
        "config": arguments.config.read_text(encoding="utf-8") if arguments.config else "",
    }
    files.write_text(arguments.output, _render(context))


def _figures_of(study: dict, figures: list[Path]) -> list[Path]:
    """Return the pictures in the folder of a study, in the study's order."""
    order = study.get("figures", [])
    own = [path for path in figures if path.parent.name == study["name"]]
    return sorted(own, key=lambda p: order.index(p.stem) if p.stem in order else len(order))


def _analysis(text: str, folder: Folder, home: Path) -> dict:
    name, _, title = text.partition("=")
    figures = sorted((folder.path / "figures" / name).glob("*.png"))
    return page.analysis(name, title or name, folder, figures, home)


def _notebook(text: str, home: Path) -> dict[str, str]:
    name, _, path = text.rpartition("=")
    return {"name": name or Path(path).stem, "href": page.link(Path(path), home)}


def _render(context: dict) -> str:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(TEMPLATE.read_text(encoding="utf-8")).render(context)


if __name__ == "__main__":
    cli.main(main)
