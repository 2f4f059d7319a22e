"""The page and the notebooks, made from a small results folder that holds every kind of study."""

import json
import math
import shutil
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

from dpfl import plugins
from dpfl.report import captions, display, page, reader
from dpfl.tables import comparisons, ranges, rendering, results, study_table

NOTEBOOKS = ("cadabelief", "rates", "budgets")
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
        *spending_studies(),
    ]


def spending_studies() -> list[dict]:
    """One study of strategies, one of whole clients, one surface."""
    shares = [cell("sgd", 8.0, 5, budget=b) for b in ("uniform", "decay", "adaptive")]
    whole = [
        cell("sgd", e, 2, clients=n) | {"unit": "client"}
        for n in (20, 400)
        for e in (8.0, math.inf)
    ]
    pairs = [(c, z) for c in (0.5, 1.0) for z in (1.0, 2.0)]
    map_ = [cell("sgd", 8.0, 1, clip_norm=c, noise_multiplier=z) for c, z in pairs]
    baseline = {"budget": "uniform"}
    made = {"shares": (shares, "schedule"), "whole": (whole, "clients"), "map": (map_, "surface")}
    return [
        study(cells, name=name, kind="variants", figures=[figure])
        | {"baseline": baseline if name == "shares" else {}}
        for name, (cells, figure) in made.items()
    ]


def outcome(own: dict, seed: int) -> dict:
    if own["variant"].keys() & {"budget", "clients", "clip_norm"}:
        return spent(own, seed)
    noise = np.random.default_rng([seed, METHODS.index(own["method"])]).normal(0, 0.002)
    value = 0.9 + 0.01 * (own["method"] == "cadabelief") + noise
    rate = own["variant"].get("rate")
    held_out = value - 0.05 * abs(math.log10(rate / 0.01)) if rate else None
    return {"accuracy": value, "final_validation_accuracy": held_out}


def spent(own: dict, seed: int) -> dict:
    """Decay gains a point; more clients are less harm; the adaptive strategy has a filter."""
    variant, noise = own["variant"], np.random.default_rng(seed).normal(0, 0.001)
    ahead = 0.01 * (variant.get("budget") == "decay") + 0.0005 * variant.get("clients", 0)
    filtered = {"accountant": "rdp-filter"} if variant.get("budget") == "adaptive" else {}
    free = own["epsilon"] == "inf"
    return {"accuracy": 0.95 if free else 0.7 + ahead + noise + 0.0001 * seed * ahead} | filtered


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
        rendering.write(stem, study_table.cells(made, runs, compared), rendering.CELLS)
        rendering.write(Path(f"{stem}_comparisons"), compared, rendering.COMPARISONS)
        spans = ranges.ranges(made, runs) if made["kind"] == "rates" else ranges.NONE
        rendering.write(Path(f"{stem}_ranges"), spans, rendering.RANGES)
        for figure in made["figures"]:
            (path / "figures" / made["name"]).mkdir(parents=True)
            drawn = plugins.load("plots", figure).draw(made, path / "runs")
            for ending in ("png", "pdf"):
                drawn.savefig(path / "figures" / made["name"] / f"{figure}.{ending}", dpi=40)
    prices = pd.DataFrame({"k": [1, 10], "epsilon": [0.1, 1.0], "name": ["a|b", "c"]})
    for stem in ("composition", "composition_rule"):
        shown = {"k": rendering.plain("k"), "ε": rendering.rounded("epsilon")}
        rendering.write(path / "tables" / stem, prices, shown | {"name": rendering.plain("name")})
    (path / "figures" / "composition").mkdir()
    for ending in ("png", "pdf"):
        source = path / "figures" / "main" / f"accuracy.{ending}"
        shutil.copy(source, path / "figures" / "composition" / f"composition.{ending}")
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
    inputs += ["--analyses", "composition=How ε = 1 adds up"]
    inputs += ["--notebooks", f"story={folder / 'reports' / 'main.html'}"]
    inputs += ["--tables", folder / "tables", "--runs", folder / "runs"]
    inputs += ["--config", folder / "config.yaml"]
    output = folder / "reports" / "index.html"
    driver = [sys.executable, root / "workflow/scripts/report.py"]
    subprocess.run([*driver, *inputs, "--output", output], check=True)
    return output.read_text(encoding="utf-8")


def test_the_page_holds_everything_it_shows(html: str, folder: Path) -> None:
    found = Page(html)
    assert len(found.sources) == 3 + 3 + 1
    assert all(source.startswith("data:image/png;base64,") for source in found.sources)
    assert not {"script", "link", "iframe"} & set(found.tags)
    assert "http" not in html.replace("</html>", "")


def test_every_link_is_relative_and_leads_somewhere(html: str, folder: Path) -> None:
    links = [link for link in Page(html).links if not link.startswith("#")]
    assert {"main.html", "../tables/main.csv", "../figures/main/accuracy.pdf"} <= set(links)
    assert {"../tables/composition_rule.tex", "../tables/shares_comparisons.csv"} <= set(links)
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
    assert f"{len(runs)} training runs in 6 studies, and 1 that trains nothing" in text
    assert "2.12.1" in text and "margin: 1.0 # <points>" in text


def section(html: str, name: str) -> Page:
    """One section of the page."""
    return Page(html.split(f'id="{name}"')[1].split("</section>")[0])


def test_a_baseline_has_its_scorecard_and_its_answer_on_top(html: str, folder: Path) -> None:
    compared = reader.Folder(folder).comparisons("shares")
    assert set(compared["verdict"]) == {"gains", "no difference"}
    own = " ".join(section(html, "shares").text.split())
    assert "sgd, budget=decay against sgd, budget=uniform baseline, ε = 8" in own
    assert "certified as spent at most: 7.992 by sgd (budget=uniform)" in own
    assert "rdp-filter: the noise of a round was chosen while training" in own
    question = "Is another budget more accurate than uniform at equal privacy budget?"
    assert f"{question} decay: gains; adaptive: no difference." in Page(html).text
    source = html.split('id="shares"')[1].split("</section>")[0]
    assert 'verdict good">gains' in source and 'verdict even">no difference' in source
    assert source.count('<i class="half"') == 4


def test_the_two_units_share_no_column_of_the_page(html: str) -> None:
    shown = page.overview(studies())
    assert shown["heads"] == ["study", "data set", "seeds", "ε", "ε (client)"]
    by_title = {line[0]: line[2:] for line in shown["lines"]}
    assert by_title["The study main"] == ["5", "2, 8, ∞", ""]
    assert by_title["The study whole"] == ["2", "", "8, ∞"]
    assert page.overview(studies()[:3])["heads"][3:] == ["ε"]
    top = html.split("<nav>")[0]
    assert all(f"<th>{head}</th>" in top for head in shown["heads"])
    own = section(html, "whole").text
    assert "ε = 8 (client)" in own and "Unit client: ε covers a whole client" in own
    assert "(client)" not in section(html, "main").text


def test_a_study_that_trains_nothing_has_a_section(html: str) -> None:
    found = section(html, "composition")
    assert "How ε = 1 adds up" in found.text and len(found.sources) == 1
    assert "a|b" in found.text and "0.1" in found.text
    assert html.index(">Accounting<") < html.index("How ε = 1 adds up")


def test_a_page_without_such_studies_has_no_heading_for_them(folder: Path, root: Path) -> None:
    output = folder / "reports" / "plain.html"
    driver = [sys.executable, root / "workflow/scripts/report.py"]
    wanted = ["--studies", folder / "studies" / "main.json", "--tables", folder / "tables"]
    wanted += ["--runs", folder / "runs", "--analyses", "--output", output]
    subprocess.run([*driver, *wanted], check=True)
    text = Page(output.read_text(encoding="utf-8")).text
    assert "Accounting" not in text and "(client)" not in text
    assert "in 1 study. Every" in " ".join(text.split())


def test_tables_are_read_back_as_they_were(folder: Path) -> None:
    results_ = reader.Folder(folder)
    assert results_.analyses("composition") == ["composition", "composition_rule"]
    heads, lines = results_.grid("composition")
    assert (heads, lines) == (["k", "ε", "name"], [["1", "0.1", "a|b"], ["10", "1", "c"]])


def test_the_long_table_of_a_study_that_trains_nothing_is_folded(root: Path) -> None:
    grid = {"heads": ["k"], "lines": [[str(k)] for k in range(30)]}
    own = {"name": "a", "title": "A", "grid": grid, "figures": [], "tables": []}
    context = {"sections": [], "overview": {"heads": [], "lines": []}, "notebooks": []}
    context |= {"analyses": [own], "config": ""}
    context |= {"provenance": {"runs": 0, "versions": {}, "hardware": {}}}
    source = (root / "workflow/report/index.html.jinja").read_text(encoding="utf-8")
    html = jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(source).render(context)
    assert "<summary>Table of 30 rows</summary>" in html


def test_scores_lie_on_one_scale() -> None:
    rows = [
        {"difference": 2.0, "ci_low": 1.0, "ci_high": 3.0, "verdict": "replicated"},
        {"difference": 0.0, "ci_low": -3.0, "ci_high": 3.0, "verdict": "inconclusive"},
        {"difference": 0.5, "ci_low": None, "ci_high": None, "verdict": "too few seeds"},
    ]
    fixed = {"worse": "sgd", "better": "b", "variant": "", "epsilons": "2", "kind": "claim"}
    fixed["not_certified"] = ""
    table = pd.DataFrame([fixed | r | {"n": 5, "p_holm": 0.01} for r in rows])
    wide, zero, one = page.scores(table, 1.0)
    assert wide["at"] - 50 == pytest.approx(2 * (wide["low"] - 50), abs=0.02)
    assert (zero["at"], zero["low"] + zero["high"]) == (50, pytest.approx(100))
    [half] = wide["marks"]
    assert 0 < zero["low"] < 50 < half < wide["high"] < 100
    two_sided = page.scores(table.assign(kind="baseline"), 1.0)[0]["marks"]
    assert two_sided == [pytest.approx(100 - half), half]
    assert (one["low"], one["high"]) == (None, None)
    assert [s["tone"] for s in (wide, zero, one)] == ["good", "open", "open"]


def test_studies_are_told_in_reading_order() -> None:
    names = ["main", "rates", "state", "shares", "whole", "map"]
    assert [s["name"] for s in page.ordered(studies())] == names


def test_captions_come_from_the_figures_own_files() -> None:
    assert captions.of("accuracy").startswith("Test accuracy against epsilon")
    assert captions.of("no-such-figure") == ""


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


def told_by(notebook: str) -> list[dict]:
    """The studies that a notebook is given."""
    spending = spending_studies()
    return spending if notebook == "budgets" else [s for s in studies() if s not in spending]


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
            names = [made["name"] for made in studies() if made in told_by(name)]
            names += ["composition"] * (name == "budgets")
            space |= {"results": str(folder), "studies": json.dumps(names)}
    text = "\n".join(s.data for s in shown if isinstance(s, IPython.display.Markdown))
    pictures = [s for s in shown if isinstance(s, IPython.display.Image)]
    assert len(pictures) == {"cadabelief": 2, "rates": 1, "budgets": 3}[name]
    expected = {
        "cadabelief": ["Is cadabelief more accurate", "Belief", "arXiv 2311.14056", "secret seed"],
        "rates": ["No good range spans more", "the same effort: 3 rates", "each at its best rate"],
        "budgets": [
            *("decay: gains; adaptive: no difference", "(budget=adaptive) (rdp-filter)"),
            *("more clients, less harm", "ε = 8 (client)", "Unit client", "best of 4 cells"),
        ],
    }
    assert [words for words in expected[name] if words not in text] == []
    assert " nan" not in text


@pytest.mark.parametrize(
    "name", ["analysis", "figure", "index", "notebook", "partition", "table", "workflow"]
)
def test_captions_are_valid(name: str, root: Path) -> None:
    body = rendered(root, name)
    assert body.startswith("<p>") and "blockquote" not in body


@pytest.mark.parametrize("figure", plugins.names("plots"))
def test_every_figure_has_its_caption_in_snakemakes_report(figure: str, root: Path) -> None:
    assert f"Study main. {captions.of(figure)}" in rendered(root, "figure", figure)


def rendered(root: Path, name: str, figure: str = "rates") -> str:
    """Return a caption as Snakemake's report shows it; any slip of its markup is an error."""
    job = {
        "wildcards": {"study": "main", "figure": figure, "notebook": "story", "partition": "iid"},
        "params": {"caption": captions.of(figure)},
        "config": {"select": ["main"], "studies": {"main": {"dataset": "mnist"}}},
    }
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
    source = (root / "workflow" / "report" / f"{name}.rst").read_text(encoding="utf-8")
    text = environment.from_string(source).render(snakemake=job)
    strict = {"halt_level": 2, "report_level": 2}
    return docutils.core.publish_parts(text, writer="html", settings_overrides=strict)["body"]
