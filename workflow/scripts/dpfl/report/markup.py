"""HTML of what pages show, from the macros of workflow/report: every text in it is escaped."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

TEMPLATES = Path(__file__).parents[3] / "report"
PARTS = "parts.html.jinja"
BOX = '<div class="scroll" tabindex="0" role="group" aria-label="table">'


@cache
def environment() -> jinja2.Environment:
    """Return the environment of all templates; a value that is missing is an error."""
    strict = {"autoescape": True, "undefined": jinja2.StrictUndefined}
    blocks = {"trim_blocks": True, "lstrip_blocks": True}
    made = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), **strict, **blocks)
    made.filters["code"], made.policies["json.dumps_kwargs"] = code, {"sort_keys": False}
    return made


def code(text: str) -> Markup:
    """Return a text, escaped, with what stands in backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def part(macro: str, *values: Any, **more: Any) -> Markup:
    """Return what a macro makes of some values, such as `part("table", heads, lines)`."""
    return getattr(environment().get_template(PARTS).module, macro)(*values, **more)


def joined(*parts: str) -> Markup:
    """Put parts together; a text that is no markup is escaped."""
    return Markup("\n").join(parts)


def table(heads: list[str], lines: list[list[str]], long: tuple[str, ...] = ()) -> Markup:
    """Return a table, nothing without a line; the texts of `long` columns may wrap.

    A column without a text in any line is left out.
    """
    return part("table", heads, lines, long)


def boxed(html: str) -> Markup:
    """Return HTML whose tables and programs scroll in their own boxes; heads are of columns."""
    tables = html.replace("<table>", f"{BOX}<table>").replace("</table>", "</table></div>")
    return Markup(tables.replace("<th>", '<th scope="col">').replace("<pre>", '<pre tabindex="0">'))


def markdown(text: str) -> Markup:
    """Return Markdown as HTML; HTML in it is shown as text, and a link leads to no script."""
    import mistune  # the rules import this room and need none of it

    return boxed(mistune.create_markdown(escape=True, plugins=["table", "strikethrough"])(text))


def listing(lines: list[str]) -> Markup:
    """Return sentences as a list, nothing without a sentence."""
    return part("listing", lines) if lines else Markup("")
