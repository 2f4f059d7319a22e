"""Execute the notebook of papers for one paper, and write its page; a mistake in it is one line.

`--paper` is its key, `--output` the executed notebook, `--home` the folder of the papers' folders.
The page lies in the folder reports of the results.
"""

from pathlib import Path

import papermill
from markupsafe import Markup
from nbconvert import HTMLExporter
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from dpfl.base import cli, options
from dpfl.base.errors import UserError
from dpfl.report import layout, markup, paper_page

FRAME = {"template_name": "notebook", "extra_template_basedirs": [str(markup.TEMPLATES)]}
BODY = Config(TemplateExporter=FRAME)
"""Pages show what cells show in the frame of all pages, and load nothing from elsewhere."""


def main() -> None:
    """Write the executed notebook, also where a cell fails, to be looked into; then its page."""
    given = {"template": Path("notebooks/paper.ipynb"), "home": Path("workflow/papers")}
    args = options.read(__doc__, paper=str, output=Path, **given, results="results")
    args.output.parent.mkdir(parents=True, exist_ok=True)
    read = {"paper": args.paper, "results": args.results, "papers": str(args.home)}
    how = {"kernel_name": "python3", "cwd": ".", "progress_bar": False}
    try:
        done = papermill.execute_notebook(args.template, args.output, parameters=read, **how)
    except PapermillExecutionError as error:
        if error.ename != UserError.__name__:
            raise
        raise UserError(error.evalue) from None
    for number, cell in enumerate(done.cells, 1):  # Papermill takes sys.exit(0) for an end
        if cell.cell_type == "code" and cell.metadata.papermill.status != "completed":
            of_all = f"{args.output}: cell {number} of {len(done.cells)}"
            raise UserError(f"{of_all} did not end; expected no exit in a notebook")
    body = Markup(HTMLExporter(BODY).from_filename(str(args.output))[0])
    layout.write_paper(paper_page.read(args.paper, args.results, args.home), body)


if __name__ == "__main__":
    cli.main(main)
