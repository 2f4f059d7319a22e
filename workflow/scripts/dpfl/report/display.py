"""What the notebook of a paper shows: HTML as the report makes it, and prose in Markdown."""

from IPython.display import HTML, Markdown, display

from dpfl.report import markup


def show(*parts: str) -> None:
    """Show parts of a page; nothing if all of them are empty."""
    text = markup.joined(*filter(None, parts))
    if text:
        display(HTML(text))


def prose(text: str) -> None:
    """Show Markdown."""
    if text:
        display(Markdown(text))
