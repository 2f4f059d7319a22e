"""Execute the notebook of papers for one paper, and write its page; a mistake in it is one line."""

import argparse
from pathlib import Path

import papermill
from markupsafe import Markup
from nbconvert import HTMLExporter
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from dpfl.base import cli, files
from dpfl.base.errors import UserError
from dpfl.report import layout, markup, paper
from dpfl.report.reader import Folder

BODY = Config(
    TemplateExporter={
        "template_name": "notebook",
        "extra_template_basedirs": [str(markup.TEMPLATES)],
    }
)
"""Pages show what cells show in the frame of all pages, and load nothing from elsewhere."""


def main() -> None:
    """Write the executed notebook, also where a cell fails, to be looked into; then its page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--template", type=Path, default=Path("notebooks/paper.ipynb"))
    parser.add_argument("--paper", required=True, help="its key")
    parser.add_argument("--results", default="results")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--html", type=Path, required=True, help="folder of the page")
    parser.add_argument("--home", default="workflow/papers", help="the papers' folders")
    args = parser.parse_args()

    args.output.parent.mkdir(parents=True, exist_ok=True)
    try:
        papermill.execute_notebook(
            args.template,
            args.output,
            parameters={"paper": args.paper, "results": args.results, "papers": args.home},
            kernel_name="python3",
            cwd=".",
            progress_bar=False,
        )
    except PapermillExecutionError as error:
        if error.ename != UserError.__name__:
            raise
        raise UserError(error.evalue) from None
    page = args.html / f"{args.output.stem}.html"
    exporter = HTMLExporter(BODY)
    exporter.register_filter("boxed", markup.boxed)
    body = Markup(exporter.from_filename(str(args.output))[0])
    title = paper.read(Path(args.home) / args.paper).short
    links = layout.links(Folder(Path(args.results)))
    files.write_text(page, layout.render("paper", args.paper, links, title=title, body=body))


if __name__ == "__main__":
    cli.main(main)
