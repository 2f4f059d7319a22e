"""Write the papers' citations: the first references of CITATION.cff, and a BibTeX file."""

import argparse
from pathlib import Path

from dpfl.base import cli, files
from dpfl.base.errors import UserError
from dpfl.papers import citation, folder

BEGIN = "  # The papers: written by workflow/scripts/cite.py from workflow/papers.\n"
END = "  # What the software builds on: kept by hand.\n"


def main() -> None:
    """Write both files whole or not at all."""
    parser = cli.Parser(description=__doc__)
    parser.add_argument("--cff", type=Path, default=Path("CITATION.cff"), help="is renewed")
    parser.add_argument("--bib", type=Path, default=Path("docs/papers.bib"))
    write(parser.parse_args())


def write(arguments: argparse.Namespace) -> None:
    """Renew the part of CITATION.cff between the two lines that mark it, and the BibTeX file."""
    papers = {key: folder.load(key).about for key in folder.names()}
    files.write_text(arguments.cff, renewed(arguments.cff, citation.cff(papers)))
    files.write_text(arguments.bib, citation.bibtex(papers))


def renewed(path: Path, references: str) -> str:
    """Return the text of a CITATION.cff with new references of papers; UserError without marks."""
    text = path.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise UserError(f"{path}: expected the lines {BEGIN.strip()!r} and {END.strip()!r}")
    return "".join([before, begin, references, end, after])


if __name__ == "__main__":
    cli.main(main)
