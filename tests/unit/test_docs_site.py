"""The site of docs/: what pages need is laid out beside them, and no link in it is dead."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpfl.base import files
from dpfl.docs import site

ROOT = Path(__file__).parents[2]


def test_what_pages_link_to_outside_is_copied_and_found(tmp_path):
    pages = {
        "docs/index.md": "[a](../code/a.py) [r](../README.md#x) [n](../code/n.md) [o](sub/o.md)\n\n"
        "```yaml a.yaml\n[b](../code/a.py)\n```\n",
        "docs/sub/o.md": "[c](../../code) [m](../../results/reference/a2020/mnist) "
        "[A](../../workflow/papers/a2020/page.md)\n",
        "code/n.md": "[u](unused.py)\n",
    }
    others = dict.fromkeys(("code/a.py", "code/unused.py", "README.md"), "pass\n")
    for name, text in (pages | others).items():
        files.write_text(tmp_path / "root" / name, text)
    site.lay_out(tmp_path / "root", tmp_path / "site")
    index = (tmp_path / "site/index.md").read_text("utf-8")
    assert "[a](files/code/a.py) [r](index.md) [n](files/code/n.txt) [o](sub/o.md)" in index
    # Blocks are left as they are but for the name of their file.
    assert '```yaml title="a.yaml"\n[b](../code/a.py)\n```' in index
    page = '<a href="../pages/mnist/reports/a2020.html">m</a> <a href="../pages/index.html">A</a>'
    assert (tmp_path / "site/sub/o.md").read_text("utf-8") == f"[c](../files/code) {page}\n"
    held = {p.relative_to(tmp_path / "site").as_posix() for p in (tmp_path / "site").rglob("*.*")}
    assert held == {"index.md", "sub/o.md", "files/code/a.py", "files/code/n.txt"}


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
