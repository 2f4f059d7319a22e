"""The pages of the papers: they render, type no number by hand, and say what the tables say."""

import csv
import itertools
import math
import re
import shutil
from pathlib import Path

import pytest
import typed_numbers

from dpfl import data, plugins
from dpfl.base import files
from dpfl.base.errors import UserError
from dpfl.docs.found import PRICES
from dpfl.papers import folder
from dpfl.plugins import analyses
from dpfl.report import prose
from dpfl.tables import rendering
from dpfl.words import numerals

KEYS = folder.names()
AS_KEPT = {"budget", "composition", "epsilon-surface"}
"""Analyses whose kept tables are taken; tests of their own compute them."""


@pytest.fixture(scope="session")
def reference(root: Path) -> Path:
    return root / "results" / "reference"


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory, reference: Path) -> Path:
    """The tables of all analyses, as a run without trainings writes them."""
    made = tmp_path_factory.mktemp("results")
    for key in KEYS:
        for name, own in folder.load(key).content.get("analyses", {}).items():
            if name in AS_KEPT:
                for path in (reference / key / PRICES / "tables").glob(f"{name}*"):
                    copied = made / "tables" / key / path.name
                    copied.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, copied)
                continue
            given = [(each, prepared(each, made)) for each in analyses.inputs_of(own)]
            write(made / "tables" / key / name, key, own["uses"], own["settings"], *given)
    return made


def prepared(dataset: str, home: Path) -> Path:
    """Write a data set that needs no download as its job does."""
    source, path = plugins.load("data", dataset), home / f"{dataset}.safetensors"
    data.write(path, data.read(dataset, home), source.SCALE, source.MEAN, source.STD)
    return path


def write(stem: Path, key: str, uses: str, settings: dict, *given: tuple[str, Path]) -> None:
    """Write an analysis' tables beside each other, as its job does."""
    analysis = analyses.load(key, uses)
    read = [part for pair in given for part in pair]
    found, columns = analysis.tables(settings, *read), analysis.columns()
    for suffix in analysis.TABLES:
        path = stem.with_name(f"{stem.name}_{suffix}" if suffix else stem.name)
        rendering.write(path, found[suffix], columns[suffix])


def page(key: str, results: Path, reference: Path) -> str:
    return prose.of_paper(folder.HOME / key, results / "tables" / key, reference)


def kept(reference: Path, table: str, scale: str = "*/*", **where: str) -> dict[str, str]:
    """Return one row of a kept table, read without the package."""
    [path] = reference.glob(f"{scale}/*/{table}.csv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file) if all(r[k] == v for k, v in where.items())]
    [row] = rows
    return row


def half(row: dict[str, str]) -> str:
    """Return mean and half-width of a row, read without the package."""
    mean = float(row["accuracy_mean"])
    return f"{mean:.1f} ± {float(row['ci_high']) - mean:.1f}"


def lines_of(text: str, start: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(start)]


@pytest.mark.parametrize("key", KEYS)
def test_every_page_renders(key: str, results: Path, reference: Path) -> None:
    text = page(key, results, reference)
    assert text.count("### ") >= 2
    assert "leaves out the analysis" not in text
    assert not re.search(
        r"\b(nan|None|inf)\b|\{[{%]|\[\d|source 0|[Ss]eeds? \d|: \.|\(\)", strip(text)
    )


@pytest.mark.parametrize("key", KEYS)
def test_every_page_renders_without_a_run(key: str, tmp_path: Path, reference: Path) -> None:
    told = page(key, tmp_path, reference).count("This run leaves out the analysis")
    assert told == len(folder.load(key).content.get("analyses", {}))


@pytest.mark.parametrize("key", KEYS)
def test_no_number_is_typed_by_hand(key: str) -> None:
    assert typed_numbers.in_page(folder.HOME / key / "page.md") == []


@pytest.mark.parametrize("key", KEYS)
def test_every_table_has_as_many_cells_in_each_line(
    key: str, results: Path, reference: Path
) -> None:
    heads = 0
    for line in page(key, results, reference).splitlines():
        if line.startswith("|"):
            heads = heads or line.count("|")
            assert line.count("|") == heads, line
        else:
            heads = 0


@pytest.mark.parametrize("key", KEYS)
def test_every_figure_is_there(key: str, tmp_path: Path, reference: Path) -> None:
    found = re.findall(r"!\[.+\]\((.+)\)", page(key, tmp_path, reference))
    assert all(Path(path).is_file() for path in found)
    held = {path.parts[-2:] for path in reference.glob(f"{key}/*/figures/*/*.png")}
    assert {Path(path).parts[-2:] for path in found} == held  # of one scale at least
    assert len(found) == len({*found})


def test_a_guard_that_fails_names_the_page_and_the_statement(
    tmp_path: Path, reference: Path
) -> None:
    kept = shutil.copytree(reference / "meng2023/mnist", tmp_path / "meng2023/mnist")
    path = kept / "claims/claims.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(row | {"verdict": "inconclusive"} for row in rows)
    told = files.read_json(kept / "provenance.json")
    told["files"]["claims/claims.csv"]["sha256"] = files.digest(path)
    files.write_json(kept / "provenance.json", told)
    with pytest.raises(UserError) as error:
        page("meng2023", tmp_path, tmp_path)
    assert str(error.value).startswith(f"{folder.HOME / 'meng2023' / 'page.md'}:")
    assert str(error.value).endswith("no longer true: the claim does not hold")


def test_cadabelief_has_its_kept_accuracies_and_differences(
    tmp_path: Path, reference: Path
) -> None:
    text = page("meng2023", tmp_path, reference)
    judged = {}
    for scale in ("mnist", "mnist-limit", "fashion-mnist", "cifar10"):
        with (reference / f"meng2023/{scale}/claims/claims.csv").open(encoding="utf-8") as file:
            judged |= {(scale, row["claim"], row["part"]): row for row in csv.DictReader(file)}
    ordering, of_limit = "beats-sgd-adam-adabelief", "beats-them-with-tuned-limit"
    shown = {"mnist": (("mnist", ordering), ("mnist-limit", of_limit))}
    shown |= {scale: ((scale, ordering),) for scale in ("fashion-mnist", "cifar10")}
    names = (("sgd", "SGD"), ("adam", "Adam"), ("adabelief", "AdaBelief"))
    for (scale, claims), (method, title) in itertools.product(shown.items(), names):
        low, high = (
            kept(reference, "cadabelief", f"meng2023/{scale}", method=method, epsilon=e)
            for e in ("2.0", "8.0")
        )
        lines = lines_of(text, f"| {title} | {half(low)} | {half(high)} |")
        for claim, line in zip(claims, lines, strict=True):
            for epsilon in (2, 8):
                row = judged[*claim, f"against {method}, epsilon {epsilon}"]
                ends = (float(row[f"difference{end}"]) for end in ("", "_low", "_high"))
                assert "{:+.2f} [{:+.2f}, {:+.2f}]".format(*ends) in line
                assert f"| {row['verdict']} |" in line
    own = kept(reference, "cadabelief", "meng2023/mnist", method="cadabelief", epsilon="2.0")
    step = 1 / (0.001 * (float(own["r"]) / 0.1 - 1))
    assert f"falls below r at step {step:.0f} and" in text


def test_reconstructions_are_told_from_their_table(results: Path, reference: Path) -> None:
    text = page("meng2023", results, reference)
    with (results / "tables" / "meng2023" / "inversion.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["update"] == "plain"]
    assert len(rows) == 3
    for row in rows:
        mean, high = float(row["psnr_mean"]), float(row["psnr_ci_high"])
        start = f"| {row['attack']}, `{row['model']}` | {float(row['batch_size']):.0f} |"
        [line] = lines_of(text, start)
        assert line.startswith(f"{start} {mean:.1f} ± {high - mean:.1f} |")


def test_strategies_have_their_kept_differences(tmp_path: Path, reference: Path) -> None:
    text = page("composition-text", tmp_path, reference)
    for name in ("decay", "growth", "adaptive"):
        row = kept(reference, "budgets_comparisons", better=f"sgd, budget={name}")
        [line] = lines_of(text, f"| `{name}` |")
        assert f"| {float(row['difference']):+.2f} [" in line
        assert f"| {row['verdict']} |" in line
    fewest = kept(
        reference, "client-level", method="dp-fedavg", variant="clients=1000", epsilon="2.0"
    )
    assert len(lines_of(text, f"| 1000 | {half(fewest)} |")) == 1


def test_maps_of_a_budget_have_their_kept_accuracies(tmp_path: Path, reference: Path) -> None:
    text = page("composition-text", tmp_path, reference)
    maps = {
        ("clip-noise", "clip_norm", "noise_multiplier"): (("0.1", "3.0"), ("0.7", "1.0", "1.4")),
        ("rounds-batch", "rounds", "batch_size"): (("5", "40"), ("32", "64", "128")),
    }
    for (study, down, across), (firsts, seconds) in maps.items():
        for first in firsts:
            where = [{down: first, across: second} for second in seconds]
            row = [kept(reference, study, "composition-text/mnist-surfaces", **w) for w in where]
            cells = [
                f"{float(one['accuracy_mean']):.1f} at {one['rate'].removeprefix('lr=')}"
                + " (edge)" * bool(one["edge"])
                for one in row
            ]
            assert len(lines_of(text, f"| {first} | {' | '.join(cells)} |")) == 1


def test_formulas_stand_beside_what_they_are(results: Path, reference: Path) -> None:
    text = page("composition-text", results, reference)
    epsilon, slack, k = 0.1, 1e-6, 1000
    advanced = epsilon * math.sqrt(2 * k * math.log(1 / slack)) + k * epsilon * math.expm1(epsilon)
    assert len(lines_of(text, f"| {k} | {k * epsilon:.3g} | {advanced:.3g} |")) == 1
    assert "below basic from k = 35 on" in re.sub(r"\s+", " ", text)
    shares = [1 / math.sqrt(t) for t in (10, 100, 1000)]
    sums = [
        share * math.sqrt(2 * t * math.log(1 / slack)) + t * share * math.expm1(share)
        for t, share in zip((10, 100, 1000), shares, strict=True)
    ]
    assert f"{min(sums):.1f} to {max(sums):.1f} times the budget" in text


def test_fsdp_has_its_kept_and_its_printed_accuracies(tmp_path: Path, reference: Path) -> None:
    text = page("zhou2022", tmp_path, reference)
    free, proven = (
        kept(
            reference, "fsdp-k", "zhou2022/mnist", method=method, variant="rank=200", epsilon="2.0"
        )
        for method in ("fsdp-central", "fsdp-certified")
    )
    assert len(lines_of(text, f"| 200 | 96.41 | {half(free)} | {half(proven)} | 97.72 |")) == 1
    for scale in ("zhou2022/mnist", "zhou2022/cifar10"):
        shown = half(kept(reference, "fsdp-compare", scale, method="p3sgd", epsilon="4.0"))
        assert len([line for line in lines_of(text, "| P3SGD |") if f"| {shown} |" in line]) == 1
    part = {"claim": "closes-gap-to-nonprivate", "part": "against p3sgd, epsilon 4"}
    ahead = kept(reference, "claims", "zhou2022/mnist", **part)
    assert f"+{float(ahead['difference']):.2f} points [" in text
    line, elsewhere = lines_of(text, "| M, R, C, not certified |")
    assert "fsdp: 96.37, 97.68, 98.33" in line and "fsdp-s: 95.63, 96.98, 97.85" in line
    assert "fsdp: 72.15, 74.83, 76.88" in elsewhere and "fsdp-s: 68.74, 72.49, 75.54" in elsewhere


def test_what_is_certified_on_cifar10_has_its_kept_differences(
    tmp_path: Path, reference: Path
) -> None:
    text, scale = page("zhou2022", tmp_path, reference), "zhou2022/cifar10-gain"
    names = {"dpsgd-quantile": "DP-SGD with quantile clipping, rank 0"}
    names |= {"dpsgd": "DP-SGD, clip norm 1", "dpsgd-clip-0.3": "DP-SGD, clip norm `0.3`"}
    for method, name in names.items():
        at = [kept(reference, "fsdp-gain", scale, method=method, epsilon=e) for e in ("2.0", "8.0")]
        [line] = [
            row for row in lines_of(text, f"| {name} | {half(at[0])} |") if half(at[1]) in row
        ]
        for epsilon in (2, 8):
            where = {"better": method, "part": f"epsilon {epsilon}"}
            row = kept(reference, "fsdp-gain_comparisons", scale, **where)
            ends = (float(row[key]) for key in ("difference", "ci_low", "ci_high"))
            assert "{:+.2f} [{:+.2f}, {:+.2f}]".format(*ends) in line
            assert f"{row['verdict']} |" in line


def test_the_parts_on_cifar10_have_their_kept_accuracies_and_bounds(
    tmp_path: Path, reference: Path
) -> None:
    text, scale = page("zhou2022", tmp_path, reference), "zhou2022/cifar10-ablation"
    rows = {"R": "ablation-r", "C": "ablation-c", "M": "ablation-m", "M, R, C": "ablation-mrc"}
    for name, method in rows.items():
        at = [
            kept(reference, "fsdp-ablation", scale, method=method, epsilon=e)
            for e in ("2.0", "4.0", "8.0")
        ]
        accuracies = " | ".join(map(half, at))
        assert len(lines_of(text, f"| {name}, not certified | {accuracies} |")) == 1
        bounds = [
            f"{numerals.rounded_down(float(one['eps_audited']))}, {one['privacy']}" for one in at
        ]
        assert lines_of(text, f"| {name} | {' | '.join(bounds)} |")


def test_m_has_its_kept_accuracies_at_both_ranks(tmp_path: Path, reference: Path) -> None:
    text = page("zhou2022", tmp_path, reference)
    for rank in ("1", "50"):
        at = [kept(reference, "fsdp-unclipped", rank=rank, epsilon=e) for e in ("2.0", "8.0")]
        cells = [
            f"{half(one)} | {numerals.rounded_down(float(one['eps_audited']))}, {one['privacy']}"
            for one in at
        ]
        assert len(lines_of(text, f"| {rank}, not certified | {' | '.join(cells)} |")) == 1


def test_table_4_is_told_from_the_prices(results: Path, reference: Path) -> None:
    text = re.sub(r"\s+", " ", page("zhou2022", results, reference))
    with (results / "tables/zhou2022/privacy-loss.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["reading"] == "as one release"]
    count = sum(row["verdict"] == "matches" for row in rows)
    assert f"As one release: {count} of {len(rows)} printed cells" in text
    sigma = math.sqrt(2 * math.log(1.25e5)) / 4.42
    assert f"Header 4.42: σ = {sigma:.4g} at δ = 1e-5" in text
    larger = [float(row["published"]) for row in rows if row["dataset"] == "cifar10"]
    smaller = [float(row["published"]) for row in rows if row["dataset"] == "mnist"]
    beaten = sum(a > b for a, b in zip(larger, smaller, strict=True))
    assert f"in {len(larger)} of {len(larger)} cells, the printed one in {beaten}." in text
    assert f"= {math.log(1e5) / 62:.3f}." in text


def test_baselines_stand_beside_their_print(tmp_path: Path, reference: Path) -> None:
    row = kept(reference, "strong", variant="model=mnist-cnn-tanh", epsilon="2.0")
    gap = float(row["accuracy_mean"]) - 97.87
    text = page("fu2024", tmp_path, reference)
    [line] = lines_of(text, f"| CNN, tanh | 2 | 97.87 | {half(row)} ")
    assert f" | {gap:+.2f} [" in line
    linear = kept(reference, "strong-scatter", epsilon="4.0")
    text = page("tramer2021", tmp_path, reference)
    [line] = [line for line in lines_of(text, "| linear | ") if "| 98.7 |" in line]
    assert line.endswith(f"| {half(linear)} (n={linear['n']}) |")


def strip(text: str) -> str:
    """Return the prose of a page without its pictures, code and intervals."""
    return re.sub(r"!\[.*?\]\(.*?\)|`[^`]*`|\[[+-]\S+, \S+\]", "x", text)
