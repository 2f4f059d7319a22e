"""The site of docs/: what pages need is laid out beside them, and no link in it is dead."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpfl.docs import site

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tree(tmp_path):
    """A small project with docs that link out of their folder."""
    files = {
        "docs/index.md": "[a](../code/a.py) [r](../README.md#x) ![p](../p.png) [o](sub/o.md)\n\n"
        "```yaml a.yaml\n[b](../code/a.py)\n```\n",
        "docs/sub/p.md": "[mnist](../../results/reference/a2020/mnist) "
        "[A](../../workflow/papers/a2020/page.md)\n",
        "docs/sub/o.md": "[a](../../code/a.py) [folder](../../code) [n](../../code/n.md)\n",
        "code/n.md": "[u](unused.py)\n",
        "code/a.py": "pass\n",
        "code/unused.py": "pass\n",
        "README.md": "# x\n",
        "p.png": "picture",
    }
    for name, text in files.items():
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "root"


def test_what_pages_link_to_outside_is_copied_and_found(tree, tmp_path):
    site.lay_out(tree, tmp_path / "site")
    texts = {path.name: path.read_text("utf-8") for path in (tmp_path / "site").rglob("*.md")}
    links = "[a](files/code/a.py) [r](index.md) ![p](files/p.png) [o](sub/o.md)"
    assert links in texts["index.md"]
    assert "(../files/code/a.py)" in texts["o.md"] and "(../files/code/n.txt)" in texts["o.md"]
    # Blocks are left as they are but for the name of their file.
    assert '```yaml title="a.yaml"\n[b](../code/a.py)\n```' in texts["index.md"]
    page = '<a href="../pages/mnist/reports/a2020.html">mnist</a>'
    assert texts["p.md"] == f'{page} <a href="../pages/index.html">A</a>\n'
    held = {p.relative_to(tmp_path / "site").as_posix() for p in (tmp_path / "site").rglob("*.*")}
    copies = {"files/code/a.py", "files/code/n.txt", "files/p.png"}
    assert held == {"index.md", "sub/o.md", "sub/p.md"} | copies


def built(place):
    """Build the site of what is laid out below a folder, as `make docs` does."""
    (place / "mkdocs.yml").write_text((ROOT / "mkdocs.yml").read_text("utf-8"), encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    return subprocess.run(
        command, cwd=place, capture_output=True, text=True, env=os.environ | {"NO_COLOR": "1"}
    )


def test_the_site_is_built_and_a_dead_link_stops_it(tmp_path):
    pytest.importorskip("zensical")
    source = tmp_path / "results/docs/source"
    site.lay_out(ROOT, source)
    done = built(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = {p.relative_to(source).with_suffix("") for p in source.rglob("*.md")}
    made = tmp_path / "results/docs/site"
    assert pages <= {p.relative_to(made).with_suffix("") for p in made.rglob("*.html")}
    with (source / "index.md").open("a", encoding="utf-8") as file:
        file.write("\n[dead](nowhere.md)\n")
    assert built(tmp_path).returncode != 0
