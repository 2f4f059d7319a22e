"""Execute the notebook of papers for one paper, and write its page; a mistake in it is one line."""

import argparse
from pathlib import Path

import papermill
from nbconvert import HTMLExporter
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from dpfl import cli, files
from dpfl.errors import UserError

SHOWN = {"exclude_input": True, "exclude_input_prompt": True, "exclude_output_prompt": True}
OFFLINE = Config(TemplateExporter=SHOWN, HTMLExporter={"mathjax_url": "", "require_js_url": ""})
"""Pages show what cells show, and load nothing from elsewhere."""


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
    files.write_text(page, HTMLExporter(OFFLINE).from_filename(str(args.output))[0])


if __name__ == "__main__":
    cli.main(main)
