"""README.md and docs/: links that lead somewhere, examples and numbers that hold."""

import json
import re
from pathlib import Path

import markdown_tables
import pytest
import typed_numbers
import yaml

from dpfl.checks import config as configuration
from dpfl.docs import blocks as generated
from dpfl.judging import claims
from dpfl.runs import kept_runs
from dpfl.seeds import fairness
from dpfl.seeds.verdicts import MIN_SEEDS, MIN_SPREAD, Interval, of_ordering
from dpfl.training import probe
from dpfl.tuning.parts import chance
from dpfl.words import vocabulary as words

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCED = re.compile(r"^```(\w*) ?([\w.]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name, language):
    return [block for kind, _, block in FENCED.findall(text_of(name)) if kind == language]


def names(cell):
    return re.findall(r"`([^`]+)`", cell)


def slug(heading):
    """An anchor as it is made of a heading: lower case, dashes for spaces, no punctuation."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def links(page):
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    text = re.sub(r"`[^`]*`", "", text)
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]


def anchors(page):
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    return [slug(heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files_and_headings(page):
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.is_relative_to(ROOT), link
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


TESTED = {"docs/statistics.md", "docs/how-to-read.md"}
"""Pages whose numbers tests below and test_tuning.py compute again."""
NAMED = re.compile(r"Apache-2\.0|(?:doi|arXiv)\s+\S+|Python (?:3\.\d+(?:, )?)+")
OWN = [ROOT / "README.md", *sorted({*(ROOT / "docs").glob("*.md")} - {ROOT / "docs/results.md"})]
MISLEADING = re.compile(r"\b(?:worst off|beside|kept|of ours|alongside|stands?|overall)\b", re.I)


@pytest.mark.parametrize(
    "page", [p for p in OWN if p.relative_to(ROOT).as_posix() not in TESTED], ids=lambda p: p.name
)
def test_no_result_is_typed(page):
    text = generated.without(page.read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if not line.startswith("    ")]
    prose = NAMED.sub("", typed_numbers.APART.sub("", "\n".join(lines)))
    assert [found.group() for found in typed_numbers.RESULT.finditer(prose)] == []


def targets(page):
    """The pages that a page links to."""
    return {(page.parent / link.partition("#")[0]).resolve() for link in links(page)}


def test_pages_are_short_and_have_no_word_that_misleads():
    texts = {page.name: generated.without(page.read_text(encoding="utf-8")) for page in OWN}
    for text in texts.values():
        prose = re.sub(r"`[^`]*`|^    .*$", "", FENCED.sub("", text), flags=re.MULTILINE)
        assert MISLEADING.findall(prose) == []
    own = texts["README.md"]
    assert len(own.splitlines()) <= 100 and len(own.split()) <= 900
    assert sum(len(text.split()) for text in texts.values()) - len(own.split()) <= 15_000


def test_every_page_of_docs_is_two_clicks_away_and_in_the_navigation_of_the_site():
    first = targets(ROOT / "README.md")
    second = {page for one in first if one.suffix == ".md" for page in targets(one)}
    assert set(PAGES) <= first | second | {ROOT / "README.md"}
    lines = text_of("mkdocs.yml").splitlines()
    named = {ROOT / "docs" / line.split()[-1] for line in lines if line.endswith(".md")}
    assert named == set(PAGES) - {ROOT / "README.md"}


@pytest.mark.parametrize("scale", ["demo", "mnist", "cifar10"])
@pytest.mark.parametrize("name", ["README.md", "docs/tutorial.md"])
def test_the_baselines_of_the_guides_fit_every_scale_that_judges(name, scale):
    """A method that is added starts from as many rates as those that it is compared with."""
    default = yaml.safe_load(text_of("config.yaml")) | {"papers": ["meng2023"], "scale": scale}
    changes = yaml.safe_load(blocks(name, "yaml")[0])
    if "optimizers" in changes:  # of a file that the guide has the reader write
        changes["optimizers"]["signsgd"] |= {"uses": "sgd"}
    added = configuration.composed(default | changes)["meng2023"]["studies"]
    (new,) = changes["methods"]
    assert all(new in added[study]["methods"] for study in ("cadabelief", "rates"))


def test_every_folder_of_the_library_is_described():
    rows = markdown_tables.read(text_of("docs/design.md"), "folder |")[1]
    packages = (ROOT / "workflow/scripts/dpfl").glob("*/__init__.py")
    assert {name for row in rows for name in names(row[0])} == {p.parent.name for p in packages}


def test_every_key_of_a_claim_is_explained():
    page = text_of("docs/adding-a-paper.md")
    explained = {name for row in markdown_tables.read(page, "key |")[1] for name in names(row[0])}
    kinds = {
        names(row[0])[0]: names(" ".join(row[1:]))
        for row in markdown_tables.read(page, "kind |")[1]
    }
    assert {*kinds} == {*claims.kinds()}
    assert {key for keys in kinds.values() for key in keys} - {"study", "analysis"} <= explained


def test_the_example_of_a_configuration_is_one():
    default = yaml.safe_load(text_of("config.yaml"))
    (changes,) = blocks("docs/configuration.md", "yaml")
    papers = configuration.composed(default | yaml.safe_load(changes))
    meng, zhou = papers["meng2023"], papers["zhou2022"]
    assert "adam-tight" in meng["studies"]["cadabelief"]["methods"]
    assert 4 not in meng["studies"]["cadabelief"]["seeds"]
    assert [found["federations"]["default"]["rounds"] for found in (meng, zhou)] == [40, 40]
    assert zhou["federations"]["central"]["batch_size"] == 500
    assert meng["federations"]["central"]["batch_size"] != 500


def test_every_key_of_a_study_that_does_not_speak_for_itself_is_explained():
    schema = yaml.safe_load(text_of("workflow/schemas/composed.schema.yaml"))
    study = schema["properties"]["studies"]["additionalProperties"]["properties"]
    plain = {key for key, own in study.items() if "description" not in own}
    assert plain == {"title", "dataset", "methods", "seeds"}


def test_every_field_and_verdict_of_the_records_is_explained():
    page = text_of("docs/claims-format.md")
    schema = json.loads(text_of("workflow/schemas/claims.schema.json"))
    definitions = schema["$defs"]
    heads = [row.split("|")[1] for row in re.findall(r"^\| `.*", page, re.MULTILINE)]
    told = {name for head in heads for name in names(head)}
    assert told == {*schema["properties"], *definitions["record"]["properties"]}
    columns = yaml.safe_load(text_of("workflow/schemas/tables.yaml"))["kinds"]["claims"]
    assert set(definitions["part"]["properties"]) <= set(columns)
    explained = set(names(page))
    assert set(definitions["verdict"]["enum"]) <= explained
    assert set(definitions["privacy"]["enum"]) - {None} <= explained
    used = {own for own in vars(words).values() if isinstance(own, words.Verdict)}
    assert {own.needs for own in used} - {""} <= explained


def test_delta_and_what_the_probe_does_are_as_written(root):
    *first, last = map(str, probe.STEPS)
    text = " ".join((root / "docs" / "privacy.md").read_text(encoding="utf-8").split())
    assert f"the mechanism takes steps {', '.join(first)} and {last} on batches" in text
    assert re.search(r"`(delta: .+?)`", text)[1] in text_of("config.yaml").splitlines()
    assert float(re.search(r"falls short by more than `(.+?)` of it", text)[1]) == probe.SHORT


DOCS = Path(__file__).parents[2] / "docs"
PAGE, GUIDE = (
    (DOCS / name).read_text(encoding="utf-8") for name in ("statistics.md", "how-to-read.md")
)


def rows(head, page=PAGE):
    """Return head and rows of the table of the page whose head begins so."""
    return markdown_tables.read(page, f"{head} |")


def numbers(text):
    return [float(number) for number in re.findall(r"[-+]?\d+\.?\d*", text)]


@pytest.mark.parametrize("row", rows("verdict", GUIDE)[1], ids=lambda row: row[0])
def test_the_examples_of_verdicts(row):
    low, high = numbers(row[2])
    found = of_ordering(Interval((low + high) / 2, low, high, 5, 0.1), 1.0)
    assert re.findall("`(.+?)`", row[0]) == [word for word in found if word]


def test_no_judged_run_is_older_than_the_day_on_which_rules_were_changed(root):
    changed = re.search(r"on (\d{4}-\d\d-\d\d),\s+before every judged run", PAGE)[1]
    told = map(kept_runs.about, kept_runs.folders(root / "results" / "reference"))
    ended = [own["trained"]["first"] for own in told if own["runs"]["trained"]]
    assert ended and min(ended) > changed


def test_the_example_is_read_as_it_is_judged():
    pair = "CAdabelief against AdaBelief"
    own = re.compile(f"^{pair}, |: {pair}$")
    judged = {own.sub("", row[0]): row[3] for row in rows("compared", GUIDE)[1]}
    told = dict(re.findall(r"^- \*\*(.+?)\*\*:[^`]+`(.+?)`", GUIDE, re.MULTILINE))
    assert told == judged and "open: needs more seeds" in judged.values()


def test_the_smallest_numbers_of_seeds():
    told = " ".join(PAGE.split())
    assert f"none below n = {MIN_SPREAD}:" in told and f"no verdict below n = {MIN_SEEDS}:" in told
    assert f"{chance.TIMES:g} times the accuracy of guessing" in PAGE
    assert {*re.findall(r"`(alike|shared|one side|none)`:", PAGE)} == {*fairness.SAID}
