"""Pages: values by their settings, guards, mistakes with file and line; those of the papers."""

import re
from pathlib import Path

import pytest
import typed_numbers
from jinja2 import nodes
from refusals import line_of

from dpfl.base.errors import UserError
from dpfl.papers import folder
from dpfl.provenance import derivations
from dpfl.report import prose

CELLS = """method,label,variant,rank,epsilon,n,trained,accuracy_mean,ci_low,ci_high,certified
central,central,rank=10,10,2.0,3,3,98.25,98.0,98.5,False
central,central,rank=50,50,2.0,3,2,98.5,,,False
central,central,,,inf,1,1,99.0,,,True
"""
COMPARED = """better,worse,part,epsilons,n,difference,ci_low,ci_high,p,p_holm,verdict,needs
a,b,overall,2 8,5,0.294,0.0246,0.5634,0.02,0.0388,holds,
"""
JUDGED = """claim,part,about,n,difference,difference_low,difference_high,p,p_holm,verdict,needs
a-wins,overall,a against b,5,0.194,-0.1,0.5,0.1,0.1,open,more seeds
a-wins,"against b, epsilon 2","a against b, epsilon 2",5,0.294,0.0246,0.5634,0.02,0.0388,holds,
"""
PRINTED = """table,row,metric,value,epsilon,rank
table 3,fsdp,accuracy_pct,96.12,2,10
table 3,fsdp,accuracy_pct,96.37,2,50
table 5,dpsgd,accuracy_pct,94.52,2,
"""


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A paper's folder; kept results, a run's results and the paper share one small table."""
    monkeypatch.setattr(derivations, "about", lambda folder: {})
    folder = tmp_path / "papers" / "some2020"
    folder.mkdir(parents=True)
    (folder / "published.csv").write_text(PRINTED)
    for tables in ("reference/some2020/mnist/tables", "results/tables/some2020"):
        (tmp_path / tables).mkdir(parents=True)
        (tmp_path / tables / "main.csv").write_text(CELLS)
        (tmp_path / tables / "main_comparisons.csv").write_text(COMPARED)
    (tmp_path / "reference/some2020/mnist/claims").mkdir()
    (tmp_path / "reference/some2020/mnist/claims/claims.csv").write_text(JUDGED)
    return folder


def rendered(paper: Path, text: str) -> str:
    (paper / "page.md").write_text(text)
    root = paper.parents[1]
    return prose.of_paper(paper, root / "results/tables/some2020", root / "reference")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ('kept("mnist").brief("main", rank=10, epsilon=2)', "98.2 ± 0.2"),
        ('kept("mnist").claim("a-wins").verdict', "open"),
        (
            'kept("mnist").claim("a-wins", part="against b, epsilon 2") | apart("rounds saved")',
            "+0.29 [+0.02, +0.56] rounds saved",
        ),
        ("3.77169 | rounded_up, 7.9752 | rounded_down", "('3.772', '7.97')"),
        ('kept("mnist").brief("main", rank=50)', "98.5 (2 of 3 trained)"),
        ('kept("mnist").brief("main", n=1)', "99.0"),
        ('run.mean("main", rank="10") | fixed(2)', "98.25"),
        ('run.cell("main", rank=10).certified', "False"),
        ('run.comparison("main", better="a") | apart', "+0.29 [+0.02, +0.56] points"),
        ('printed("table 3", "fsdp", epsilon=2, rank=50) | fixed(2)', "96.37"),
        ('run.rows("main") | map(attribute="n") | listed', "3.0, 3.0 and 1.0"),
        ('run.rows("main", epsilon=2) | map(attribute="rank") | span(0)', "10 to 50"),
        ("1e-5 | short", "1e-5"),
        ('guard(run.mean("main", rank=10) > 98, "high")', ""),
        ('run.has("main"), run.has("mian")', "(True, False)"),
    ],
)
def test_values_are_quoted_by_their_settings(paper: Path, expression: str, text: str) -> None:
    assert rendered(paper, f"{{{{ {expression} }}}}") == text


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ('guard(run.mean("main", rank=10) > 99, "high")', "no longer true: high"),
        ('run.mean("main", rank=20)', "no rows of main with rank=20, expected one"),
        ('run.mean("main", epsilon=2)', "2 rows of main with epsilon=2, expected one"),
        ('run.mean("main", ranks=2)', "no column 'ranks' in main; "),
        ('run.mean("mian", rank=2)', "no table 'mian' in "),
        ('kept("full")', "no kept results of some2020 at scale 'full'; "),
        ('printed("table 3", "fsdp", epsilon=2)', "2 rows of published.csv with table=table 3"),
        ('run.cell("main", rank=10).prize', "has no attribute 'prize'"),
        ("number", "'number' is undefined"),
        ("1 | square", "No filter named 'square'"),
        ("1 / 0", "division by zero"),
    ],
)
def test_a_mistake_is_one_line_with_file_and_line(
    paper: Path, expression: str, message: str
) -> None:
    line = line_of(rendered, paper, f"# A page\n\nprose\n{{{{ {expression} }}}}\n\nmore\n")
    assert line.startswith(f"{paper / 'page.md'}:4: ") and message in line


@pytest.mark.parametrize(
    "expression",
    [
        'cycler.__init__.__globals__.os.popen("touch made").read()',
        "guard.__globals__",
        '"".__class__.__mro__',
        '"{0.__class__}".format(run)',
        '(run | attr("__class__")).__name__',
        'run.table("main").to_csv("made")',
        'printed.path.write_text("made")',
        "range(10 ** 9) | list | length",
    ],
)
def test_a_page_reaches_neither_python_nor_files(paper: Path, expression: str) -> None:
    with pytest.raises(UserError, match=r"page\.md:1: .*(unsafe|undefined|Range too big)"):
        rendered(paper, f"{{{{ {expression} }}}}")


def test_a_paper_without_a_page_has_an_empty_one(paper: Path) -> None:
    root = paper.parents[1]
    (paper / "page.md").unlink(missing_ok=True)
    assert prose.of_paper(paper, root / "results", root / "reference") == ""


TYPED = """it has 96.3 of them
it has 96 %
two +3 ahead
p < .05
{{ "96.3" }}
{{ 96.3 | fixed(1) }}
{% if true %}96.3{% endif %}"""
SETTINGS = """table 3, section 4, in 2022 at ε 8 and k = 200
a clip norm of `0.1`
[arXiv 2311.14056](https://a.b/2311.14056), doi 10.11999/JEIT210276
{{ run.mean("main", rate=0.1) | fixed(2) }}
{% if x > 0.5 %}more{% endif %}"""


def test_results_typed_by_hand_are_found_and_settings_are_none(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    for text, count in [*((t, 1) for t in TYPED.splitlines()), (SETTINGS, 0)]:
        page.write_text(f"# Title\n\n{text}\n")
        found = typed_numbers.in_page(page)
        assert len(found) == count, text
        assert all(line.startswith(f"{page}:") for line in found)


KEYS = folder.names()
LONGEST, GUARDS = 150, 15
"""Lines and guards of a page, at most."""


@pytest.mark.parametrize("key", KEYS)
def test_every_page_renders(key: str, derived: Path) -> None:
    """Beside the prices that are kept; tests of their own compute those."""
    kept = prose.kept_tables(derived / key)
    text, heads = prose.of_paper(folder.HOME / key, kept, derived), 0
    for line in text.splitlines():  # a table has as many cells in each line
        heads = (heads or line.count("|")) if line.startswith("|") else 0
        assert not heads or line.count("|") == heads, line
    assert text.count("### ") >= 2
    assert "leaves out the analysis" not in text
    assert not re.search(
        r"\b(nan|None|inf)\b|\{[{%]|\[\d|source 0|[Ss]eeds? \d|: \.|\(\)", strip(text)
    )


@pytest.mark.parametrize("key", KEYS)
def test_every_page_renders_without_a_run(key: str, tmp_path: Path, derived: Path) -> None:
    text = prose.of_paper(folder.HOME / key, tmp_path, derived)
    assert text.startswith(prose.SHORT)


@pytest.mark.parametrize("key", KEYS)
def test_a_page_is_short_and_no_program_and_types_no_number(key: str) -> None:
    text = (folder.HOME / key / "page.md").read_text(encoding="utf-8")
    assert text.count("\n") <= LONGEST and text.count("guard(") <= GUARDS
    assert typed_numbers.in_page(folder.HOME / key / "page.md") == []
    tree = prose.environment(folder.HOME / key).parse(text)
    assert not list(tree.find_all(nodes.Macro))
    calls = list(tree.find_all(nodes.Call))
    called = {call.node.attr for call in calls if hasattr(call.node, "attr")}
    filters = {own.name for own in tree.find_all(nodes.Filter)}
    assert not (called | filters) & {name for name in dir(str) if not name.startswith("_")}
    # Guards compare numbers.
    guards = [call.args[0] for call in calls if getattr(call.node, "name", "") == "guard"]
    read = {own.attr for guard in guards for own in guard.find_all(nodes.Getattr)}
    assert guards and not read & {"verdict", "privacy"}


def strip(text: str) -> str:
    """Return the prose of a page without its pictures, code and intervals."""
    return re.sub(r"!\[.*?\]\(.*?\)|`[^`]*`|\[[+-]\S+, \S+\]", "x", text)
