"""Execute the notebook of papers for one paper, and write its page; a mistake in it is one line.

`--paper` is its key, `--output` the executed notebook, `--html` the folder of the page, `--home`
that of the papers' folders.
"""

from pathlib import Path

import papermill
from markupsafe import Markup
from nbconvert import HTMLExporter
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from dpfl.base import cli, files, options
from dpfl.base.errors import UserError
from dpfl.report import layout, markup, paper
from dpfl.report.reader import Folder

FRAME = {"template_name": "notebook", "extra_template_basedirs": [str(markup.TEMPLATES)]}
BODY = Config(TemplateExporter=FRAME)
"""Pages show what cells show in the frame of all pages, and load nothing from elsewhere."""


def main() -> None:
    """Write the executed notebook, also where a cell fails, to be looked into; then its page."""
    wanted = {"paper": str, "output": Path, "html": Path}
    given = {"template": Path("notebooks/paper.ipynb"), "home": Path("workflow/papers")}
    args = options.read(__doc__, **wanted, **given, results="results")
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
    title = paper.read(args.home / args.paper).short
    links = layout.links(Folder(Path(args.results)).is_kept)
    page = layout.render("paper", args.paper, links, title=title, body=body)
    files.write_text(args.html / f"{args.output.stem}.html", page)


if __name__ == "__main__":
    cli.main(main)
