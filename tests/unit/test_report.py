"""The page and the notebooks, made from a small results folder that holds every kind of study."""

import json
import math
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import docutils.core
import IPython.display
import jinja2
import nbformat
import numpy as np
import pandas as pd
import pytest
import synthetic
from synthetic import CLAIM, cell, study

from dpfl import comparisons, display, page, plugins, ranges, reader, rendering, results, tables

NOTEBOOKS = ("cadabelief", "rates")
METHODS = ("cadabelief", "sgd", "adam", "adabelief", "sgd-ema", "cadabelief-scalar")


def studies() -> list[dict]:
    private = [cell(m, e, 5) for m in METHODS for e in (2.0, 8.0)]
    main = study(
        private + [cell(m, math.inf, 1) for m in METHODS],
        claims=[CLAIM],
        controls=["sgd-ema", "cadabelief-scalar"],
        figures=["accuracy"],
        tuned_by="rates",
    )
    grid = [cell(m, 4.0, 1, rate=g) for m in METHODS for g in (0.001, 0.01, 0.1)]
    kept = [cell(m, 2.0, 1, state=s) for m in ("cadabelief", "sgd") for s in ("reset", "server")]
    return [
        study(kept, name="state", kind="variants", figures=["variants"]),
        study(grid, name="rates", kind="rates", figures=["rates"]),
        main,
    ]


def outcome(own: dict, seed: int) -> dict:
    noise = np.random.default_rng([seed, METHODS.index(own["method"])]).normal(0, 0.002)
    value = 0.9 + 0.01 * (own["method"] == "cadabelief") + noise
    rate = own["variant"].get("rate")
    held_out = value - 0.05 * abs(math.log10(rate / 0.01)) if rate else None
    return {"accuracy": value, "final_validation_accuracy": held_out}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder with runs, studies, tables and figures."""
    path = tmp_path_factory.mktemp("root") / "results"
    for made in studies():
        synthetic.write(path / "runs", made["cells"], outcome)
        (path / "studies").mkdir(exist_ok=True)
        (path / "studies" / f"{made['name']}.json").write_text(json.dumps(made))
        runs = results.frame(made, path / "runs")
        compared = comparisons.comparisons(made, runs)
        stem = path / "tables" / made["name"]
        rendering.write(stem, tables.cells(made, runs, compared), rendering.CELLS)
        rendering.write(Path(f"{stem}_comparisons"), compared, rendering.COMPARISONS)
        spans = ranges.ranges(made, runs) if made["kind"] == "rates" else ranges.NONE
        rendering.write(Path(f"{stem}_ranges"), spans, rendering.RANGES)
        for figure in made["figures"]:
            (path / "figures" / made["name"]).mkdir(parents=True)
            drawn = plugins.load("plots", figure).draw(made, path / "runs")
            for ending in ("png", "pdf"):
                drawn.savefig(path / "figures" / made["name"] / f"{figure}.{ending}", dpi=40)
    (path / "reports").mkdir()
    (path / "reports" / "main.html").write_text("<p>a notebook</p>")
    return path


class Page(HTMLParser):
    """Collects links, pictures and text."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.sources: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        self.links += [found["href"]] if "href" in found else []
        self.sources += [found["src"]] if "src" in found else []

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def html(folder: Path, root: Path) -> str:
    (folder / "config.yaml").write_text("margin: 1.0 # <points>")
    inputs = ["--studies", *sorted((folder / "studies").iterdir())]
    inputs += ["--figures", *sorted((folder / "figures").glob("*/*.png"))]
    inputs += ["--notebooks", f"story={folder / 'reports' / 'main.html'}"]
    inputs += ["--tables", folder / "tables", "--runs", folder / "runs"]
    inputs += ["--config", folder / "config.yaml"]
    output = folder / "reports" / "index.html"
    driver = [sys.executable, root / "workflow/scripts/report.py"]
    subprocess.run([*driver, *inputs, "--output", output], check=True)
    return output.read_text(encoding="utf-8")


def test_the_page_holds_everything_it_shows(html: str, folder: Path) -> None:
    found = Page(html)
    assert len(found.sources) == 3
    assert all(source.startswith("data:image/png;base64,") for source in found.sources)
    assert not {"script", "link", "iframe"} & set(found.tags)
    assert "http" not in html.replace("</html>", "")


def test_every_link_is_relative_and_leads_somewhere(html: str, folder: Path) -> None:
    links = [link for link in Page(html).links if not link.startswith("#")]
    assert {"main.html", "../tables/main.csv", "../figures/main/accuracy.pdf"} <= set(links)
    assert all((folder / "reports" / link).exists() for link in links)
    assert "../tables/state_comparisons.csv" not in links  # it has no row


def test_the_scorecard_has_a_line_per_comparison(html: str, folder: Path) -> None:
    text = " ".join(Page(html).text.split())
    compared = reader.Folder(folder).comparisons("main")
    for _, row in compared[compared["kind"] != "belief"].iterrows():
        assert f"{row['better']} against {row['worse']}" in text
        assert rendering.difference(row) in text
    assert text.index("Scorecard") < text.index("Learning-rate robustness")
    assert "Belief earns" in text or "Whether belief" in text
    assert "Claimed ε = 2: certified at most 1.998" in text


def test_the_page_says_where_it_comes_from(html: str) -> None:
    text = " ".join(Page(html).text.split())
    runs = {run for made in studies() for c in made["cells"] for run in c["runs"]}
    assert f"{len(runs)} training runs in 3 studies" in text
    assert "2.12.1" in text and "margin: 1.0 # <points>" in text


def test_scores_lie_on_one_scale() -> None:
    rows = [
        {"difference": 2.0, "ci_low": 1.0, "ci_high": 3.0, "verdict": "replicated"},
        {"difference": 0.0, "ci_low": -3.0, "ci_high": 3.0, "verdict": "inconclusive"},
        {"difference": 0.5, "ci_low": None, "ci_high": None, "verdict": "too few seeds"},
    ]
    fixed = {"worse": "sgd", "better": "b", "variant": "", "epsilons": "2", "kind": "claim"}
    table = pd.DataFrame([fixed | r | {"n": 5, "p_holm": 0.01} for r in rows])
    wide, zero, one = page.scores(table, 1.0)
    assert wide["at"] - 50 == pytest.approx(2 * (wide["low"] - 50), abs=0.02)
    assert (zero["at"], zero["low"] + zero["high"]) == (50, pytest.approx(100))
    assert 0 < zero["low"] < 50 < wide["half_margin"] < wide["high"] < 100
    assert (one["low"], one["high"]) == (None, None)
    assert [s["tone"] for s in (wide, zero, one)] == ["good", "open", "open"]


def test_studies_are_told_in_reading_order() -> None:
    assert [s["name"] for s in page.ordered(studies())] == ["main", "rates", "state"]


def test_captions_come_from_the_figures_own_files() -> None:
    assert page.caption("accuracy").startswith("Test accuracy against epsilon")
    assert page.caption("no-such-figure") == ""


def test_a_missing_table_is_one_line(folder: Path, root: Path, tmp_path: Path) -> None:
    driver = [sys.executable, root / "workflow/scripts/report.py"]
    wanted = ["--studies", folder / "studies" / "main.json", "--tables", tmp_path / "tables"]
    output = tmp_path / "index.html"
    done = subprocess.run(
        [*driver, *wanted, "--output", output], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.count("\n"), output.exists()) == (1, 1, False)
    assert done.stderr.startswith("error: ") and "main.csv" in done.stderr


def load(root: Path, name: str) -> nbformat.NotebookNode:
    return nbformat.read(root / "notebooks" / f"{name}.ipynb", as_version=4)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_are_clean_templates(root: Path, name: str) -> None:
    notebook = load(root, name)
    nbformat.validate(notebook)
    code = [c for c in notebook.cells if c.cell_type == "code"]
    assert all(not c.outputs and c.execution_count is None for c in code)
    assert code[0].metadata["tags"] == ["parameters"]
    assert {"results", "studies"} <= set(assigned(code[0].source))
    assert notebook.metadata["kernelspec"]["name"] == "python3"
    assert not any("torch" in c.source for c in code)


def assigned(source: str) -> list[str]:
    return [line.split(" = ")[0] for line in source.splitlines() if " = " in line]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_tell_the_story(
    root: Path, folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run the cells as papermill would, without its kernel, and look at what they show."""
    shown = []
    monkeypatch.setattr(display, "display", shown.append)
    monkeypatch.chdir(root)
    space: dict = {}
    for number, own in enumerate(c for c in load(root, name).cells if c.cell_type == "code"):
        exec(compile(own.source, f"{name} {number}", "exec"), space)
        if number == 0:
            names = [made["name"] for made in studies()]
            space |= {"results": str(folder), "studies": json.dumps(names)}
    text = "\n".join(s.data for s in shown if isinstance(s, IPython.display.Markdown))
    pictures = [s for s in shown if isinstance(s, IPython.display.Image)]
    assert len(pictures) == {"cadabelief": 2, "rates": 1}[name]
    expected = {
        "cadabelief": ["Is cadabelief more accurate", "Belief", "arXiv 2311.14056", "secret seed"],
        "rates": ["No good range spans more", "the same effort: 3 rates", "each at its best rate"],
    }
    assert [words for words in expected[name] if words not in text] == []
    assert " nan" not in text


@pytest.mark.parametrize("name", ["figure", "index", "notebook", "partition", "table", "workflow"])
def test_captions_are_valid(name: str, root: Path) -> None:
    wildcards = {"study": "main", "figure": "rates", "notebook": "story", "partition": "iid"}
    config = {"select": ["main"], "studies": {"main": {"dataset": "mnist"}}}
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
    source = (root / "workflow" / "report" / f"{name}.rst").read_text(encoding="utf-8")
    job = {"wildcards": wildcards, "config": config}
    text = environment.from_string(source).render(snakemake=job)
    strict = {"halt_level": 2, "report_level": 2}
    body = docutils.core.publish_parts(text, writer="html", settings_overrides=strict)["body"]
    assert body.startswith("<p>") and "blockquote" not in body
    if name == "figure":
        assert "main" in body and "a cross" in body
