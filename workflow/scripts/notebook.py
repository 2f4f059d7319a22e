"""Execute the notebook of papers for one paper; a mistake in its page is told in one line."""

import argparse
from pathlib import Path

import papermill
from papermill.exceptions import PapermillExecutionError

from dpfl import cli
from dpfl.errors import UserError


def main() -> None:
    """Write the executed notebook, also where a cell fails, so that it can be looked into."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--template", type=Path, default=Path("notebooks/paper.ipynb"))
    parser.add_argument("--paper", required=True, help="its key")
    parser.add_argument("--results", default="results")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--home", default="workflow/papers", help="the papers' folders")
    args = parser.parse_args()

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


if __name__ == "__main__":
    cli.main(main)
