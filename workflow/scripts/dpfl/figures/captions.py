"""What a figure shows, as its own file says it: one text for the page and for Snakemake's report.

Light, so that the rules can ask for it: a caption is read from the source, nothing is imported.
"""

import ast

from dpfl import plugins
from dpfl.base.errors import UserError


def caption(figure: str, package: str = "figures/kinds") -> str:
    """Return the docstring of a figure's file in one line, nothing for an unknown figure."""
    try:
        return " ".join((ast.get_docstring(plugins.tree(package, figure)) or "").split())
    except UserError:
        return ""
