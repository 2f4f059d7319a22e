"""A paper's `page.md`: prose in which every number is a value of a table, with guards.

The page is a Jinja template. `{{ kept("mnist").mean("fsdp-k", rank=50, epsilon=2) | fixed }}`
quotes a kept result, `run` this run's tables, `printed` what the paper printed, and
`{% do guard(condition, "what must hold") %}` stops the build when a number turns.
"""

import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
from jinja2.sandbox import SandboxedEnvironment

from dpfl.base.errors import UserError
from dpfl.base.suggestions import unknown
from dpfl.papers.folder import PAGE
from dpfl.report.values import Printed, Values
from dpfl.words import forms

SHORT = "**In short.** "
"""What the paragraph of a page begins with that answers in one or two sentences."""
MISTAKES = (jinja2.TemplateError, ArithmeticError, LookupError, OSError, TypeError, ValueError)
"""What the expressions of a page may raise; a UserError is a ValueError."""


def of_paper(paper: Path, run: Path, reference: Path) -> str:
    """Return the text of a paper's page as Markdown, an empty one if it has no page.

    `paper` is its folder, `run` holds a run's tables of it, `reference` {paper}/{scale}/tables of
    kept results; `kept` quotes another paper's by its key. UserError in one line, with file and
    line of the page, for a mistake in it and for a guard that fails.
    """
    own = paper.name
    if not (paper / PAGE).exists():
        return ""
    values: dict[str, Any] = {"run": Values(run), "printed": Printed(paper / "published.csv")}
    values["kept"] = lambda scale, of=own: Values(_scale(reference / of, scale) / "tables")
    return render(paper / PAGE, values)


def in_short(text: str) -> str:
    """Return the answer that a page gives first, in one line; nothing where it gives none."""
    own = [part for part in text.split("\n\n") if part.startswith(SHORT)]
    return " ".join(own[0].removeprefix(SHORT).split()) if own else ""


def kept_tables(paper: Path) -> Path:
    """Return the tables of the first kept scale of a paper: a page's run, where no other is."""
    return next(iter(sorted(paper.glob("*/tables"))), paper)


def in_full(text: str) -> str:
    """Return a page without that answer, to stand below it."""
    return "\n\n".join(part for part in text.split("\n\n") if not part.startswith(SHORT))


def render(page: Path, values: Mapping[str, Any]) -> str:
    """Fill a page with values; UserError names the file and the line."""
    try:
        return environment(page.parent).get_template(page.name).render(values)
    except jinja2.TemplateSyntaxError as error:
        raise UserError(f"{page}:{error.lineno}: {_first(error)}") from error
    except MISTAKES as error:
        raise UserError(f"{page}:{_line(error, page)}: {_first(error)}") from error


class Sandbox(SandboxedEnvironment):
    """Where a page of a stranger is filled: it reaches values, and nothing that runs or writes."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Tell whether a page may use an attribute; of our objects, only what they offer."""
        offered = getattr(type(obj), "OFFERED", (attr,))
        return attr in offered and super().is_safe_attribute(obj, attr, value)


def environment(folder: Path) -> jinja2.Environment:
    """Return what a page's language is made of: Jinja, the forms of numbers, and guards."""
    read = {"loader": jinja2.FileSystemLoader(folder), "extensions": ["jinja2.ext.do"]}
    blocks = {"trim_blocks": True, "lstrip_blocks": True}
    made = Sandbox(undefined=jinja2.StrictUndefined, **read, **blocks)
    made.filters.update(forms.FILTERS)
    made.globals["guard"] = guard
    return made


def guard(condition: bool, statement: str) -> str:
    """Return nothing while a statement holds; UserError when it is no longer true."""
    if not condition:
        raise UserError(f"no longer true: {statement}")
    return ""


def _scale(paper: Path, scale: str) -> Path:
    """Return the folder of a scale's kept results; UserError for files that are not as kept."""
    held = sorted(path.name for path in paper.glob("*") if path.is_dir())
    for line in unknown([scale], held, f"no kept results of {paper.name} at scale"):
        raise UserError(line)
    return paper / scale


def _line(error: Exception, page: Path) -> int:
    """Return the last line of the page that was at work; Jinja puts its lines in the traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename) == page]
    return lines[-1] if lines else 1


def _first(error: Exception) -> str:
    """Return the first line of what an error says, by its kind where that is a bare word."""
    text = str(error).splitlines()[0] if str(error) else ""
    return f"no {text}" if isinstance(error, KeyError) else text or type(error).__name__
