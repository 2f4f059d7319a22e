"""Tables of cells and comparisons: every number from the runs, and every file as it is read."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from closed_forms import COST
from scipy import stats
from synthetic import cell, study
from tabled import BUDGETS, INF, accuracy, budget_study, compare, row, spending, study_of

from dpfl.base import yaml_file
from dpfl.base.errors import UserError
from dpfl.report import values
from dpfl.tables import comparisons, rendering, results
from dpfl.words import cell_words, columns
from dpfl.words import vocabulary as words
from dpfl.words.vocabulary import NOT_RUN, verdict_of


@pytest.fixture(scope="module")
def methods(tmp_path_factory: pytest.TempPathFactory):
    """The study of all methods: all as `compare` returns it; tests must not change it."""
    return compare(tmp_path_factory.mktemp("methods"))


def test_a_cell_is_the_mean_of_its_seeds(methods) -> None:
    made, _, _, table = methods
    assert len(table) == len(made["cells"]) == 18
    own = row(table, method="adam", epsilon=8.0)
    sample = [100 * accuracy(cell("adam", 8.0, 5), seed) for seed in range(5)]
    limits = stats.ttest_1samp(sample, 0).confidence_interval(0.95)
    assert own["accuracy_mean"] == pytest.approx(np.mean(sample))
    assert (own["ci_low"], own["ci_high"]) == pytest.approx((limits.low, limits.high))
    assert own["sd"] == pytest.approx(np.std(sample, ddof=1))
    assert (own["n"], own["eps_claimed"], own["privacy"]) == (5, 8.0, "proven")
    assert own["eps_certified"] == pytest.approx(7.992)
    assert own["audit_status"] == "not audited"
    assert pd.isna(own[["eps_audited", "audit_ceiling", "audit_level"]]).all()


def test_comparisons_pair_by_seed_at_every_finite_epsilon_and_pooled(methods) -> None:
    _, _, compared, _ = methods

    def means(method: str, *epsilons: float) -> np.ndarray:
        of = [[accuracy(cell(method, e, 5), s) for e in epsilons] for s in range(5)]
        return 100 * np.mean(of, axis=1)

    places = {"epsilon 2": (2.0,), "epsilon 8": (8.0,), "pooled": (2.0, 8.0)}
    for part, epsilons in places.items():
        own = row(compared, better="adam", part=part)
        ours, theirs = means("adam", *epsilons), means("sgd", *epsilons)
        assert own["p"] == pytest.approx(stats.ttest_rel(ours, theirs).pvalue)
        assert own["difference"] == pytest.approx(np.mean(ours - theirs))
        assert own["n"] == 5 and (own["epsilon"] == epsilons[0]) == (len(epsilons) == 1)
        # Unpaired, the seeds' common shift of a point each would drown a difference of one.
        assert stats.ttest_ind(ours, theirs).pvalue > 0.01 > own["p_holm"]
    parts = compared[(compared["better"] == "adam") & compared["part"].str.startswith("eps")]
    own, least = row(compared, better="adam", part="overall"), parts.loc[parts["p"].idxmax()]
    assert own["p"] == least["p"]
    assert own["difference"] == least["difference"]
    assert (own["n"], verdict_of(own)) == (5, words.HOLDS) and pd.isna(own["epsilon"])


LEADS = {
    "holds": (0.01, 0.02),
    "holds, small": (0.004, 0.02),
    "does not hold": (0.02, -0.01),
    "opposite": (-0.01, -0.02),
    "no difference": (0.0, 0.0),
}


@pytest.mark.parametrize(("verdict", "leads"), LEADS.items(), ids=list(LEADS))
def test_a_change_is_judged_at_every_epsilon(tmp_path: Path, verdict: str, leads: tuple) -> None:
    """A gain at one budget does not pay for a loss at another one."""
    at = dict(zip((2.0, 8.0), leads, strict=True))
    cells = [cell(m, e, 5) for m in ("sgd", "adam") for e in at]

    def outcome(own: dict, seed: int) -> dict:
        changed = own["method"] == "adam"
        noise = 0.0005 * (((1, 4, 2, 0, 3) if changed else (3, 0, 4, 1, 2))[seed] - 2)
        return {"accuracy": 0.9 + 0.002 * seed + at[own["epsilon"]] * changed + noise}

    _, _, compared, _ = study_of(tmp_path, cells, outcome, baseline={"method": "sgd"})
    assert row(compared, part="overall")["verdict"] == verdict


def test_budgets_together_have_the_numbers_of_the_one_that_decides(tmp_path: Path) -> None:
    """Open is ε 2; ε 8, whose p is smaller, decides that it does not hold."""
    at = {2.0: (0.004, 0.004), 8.0: (-0.01, 0.0005)}
    cells = [cell(m, e, 5) for m in ("sgd", "adam") for e in at]

    def outcome(own: dict, seed: int) -> dict:
        lead, spread = at[own["epsilon"]]
        gap = lead + spread * (-2, 4, -2, -1, 1)[seed]
        return {"accuracy": 0.9 + gap * (own["method"] == "adam")}

    _, _, compared, _ = study_of(tmp_path, cells, outcome, baseline={"method": "sgd"})
    parts = [row(compared, part=part) for part in ("epsilon 2", "epsilon 8", "overall")]
    expected = [words.INCONCLUSIVE, words.OPPOSITE, words.DOES_NOT_HOLD]
    assert [*map(verdict_of, parts)] == expected
    assert parts[0]["p"] > parts[1]["p"]
    assert parts[2]["difference"] == parts[1]["difference"] == pytest.approx(-1)


@pytest.mark.parametrize("dataset", ["digits", "digits-scatter"])
def test_digits_only_demonstrate(tmp_path: Path, dataset: str) -> None:
    _, _, compared, _ = compare(tmp_path, dataset=dataset)
    assert {*compared["needs"]} == {words.DEMONSTRATION.needs}


def test_only_seeds_with_every_epsilon_are_paired(tmp_path: Path) -> None:
    cells = [cell("cadabelief", 2.0, 5), cell("cadabelief", 8.0, 3)]
    cells += [cell("sgd", 2.0, 5), cell("sgd", 8.0, 5), cell("sgd", 4.0, 5)]
    lead = lambda c, s: {"accuracy": 0.9 + 0.001 * s + 0.02 * (c["method"] != "sgd")}  # noqa: E731
    _, _, compared, _ = study_of(tmp_path, cells, lead, baseline={"method": "sgd"})
    own = {p: row(compared, better="cadabelief", part=p)["n"] for p in ("epsilon 2", "pooled")}
    assert own == {"epsilon 2": 5, "pooled": 3}
    assert row(compared, better="cadabelief", part="overall")["n"] == 3


def test_a_diverged_run_did_not_train(tmp_path: Path) -> None:
    """Nor did one that is back at an accuracy by chance."""
    cells = [cell("sgd", 2.0, 3)]
    outcomes = [{"accuracy": 0.9}, *({"accuracy": a, "diverged": True} for a in (None, 0.9))]
    own = study_of(tmp_path, cells, lambda c, s: outcomes[s])[-1].iloc[0]
    assert own["accuracy_mean"] == pytest.approx(90)
    assert (own["n"], own["diverged"], own["trained"]) == (3, 2, 1)


@pytest.mark.parametrize(("best", "trained"), [(0.9, 1), (0.16, 1), (0.14, 0)])
def test_a_network_that_always_answers_one_class_is_at_chance(tmp_path, best, trained) -> None:
    cells = [cell("sgd", 2.0, 3)]  # the most frequent digit is 11.35 % of MNIST's test set
    accuracies = [best, 0.1135, 1e-9]
    own = study_of(tmp_path, cells, lambda c, s: {"accuracy": accuracies[s]})[-1].iloc[0]
    assert (own["n"], own["diverged"], own["trained"]) == (3, 0, trained)


def test_written_tables_say_the_same_three_times(methods, tmp_path: Path) -> None:
    _, _, compared, table = methods
    rendering.write(tmp_path / "main", table, rendering.columns_of(table, "cells"))
    rendering.write(tmp_path / "compared", compared, rendering.columns_of(compared, "comparisons"))
    back = values.read(tmp_path / "main.csv")
    assert back["accuracy_mean"].tolist() == table["accuracy_mean"].tolist()
    assert back["epsilon"].tolist() == table["epsilon"].tolist()
    assert set(values.read(tmp_path / "compared.csv")["setting"]) == {"method"}
    own = row(table, method="adam", epsilon=8.0)
    half = own["accuracy_mean"] - own["ci_low"]
    text = f"{own['accuracy_mean']:.1f} ± {half:.1f} (n=5)"
    assert text in (tmp_path / "main.md").read_text()
    assert text.replace("±", r"$\pm$") in (tmp_path / "main.tex").read_text()


def test_markdown_parses_and_latex_is_escaped() -> None:
    heads, lines = ["a|b", "c"], [["50 % & more", "x_1 ± 2"], ["", "ε > 1"]]
    text = rendering.markdown(heads, lines)
    assert len({re.sub(r"\\\|", "", line).count("|") for line in text.splitlines()}) == 1
    body = rendering.latex(heads, lines)
    assert r"50 \% \& more & x\_1 $\pm$ 2 \\" in body
    assert all(rule in body for rule in ("toprule", "midrule", "bottomrule"))


def test_a_table_without_rows_keeps_its_header(tmp_path: Path) -> None:
    rendering.write(tmp_path / "none", results.table("ranges", []), columns.RANGES)
    assert (tmp_path / "none.csv").read_text() == ",".join(results.declared("ranges")) + "\n"
    assert (tmp_path / "none.md").read_text().count("\n") == 2
    assert len(values.read(tmp_path / "none.csv")) == 0


def test_the_driver_writes_everything_with_equal_bytes_or_one_line(tmp_path: Path, drive) -> None:
    path, found = tmp_path / "study.json", []
    for home in (tmp_path / "a", tmp_path / "b"):
        made, *_ = compare(home / "runs", seeds=2)
        path.write_text(json.dumps(made | {"figures": ["accuracy"]}))
        done = drive("tabulate_study", "--study", path, "--results", home)
        assert done.returncode == 0, done.stderr
        files = [*home.glob("tables/*"), *home.glob("figures/main/*")]
        found.append({file.relative_to(home).as_posix(): file.read_bytes() for file in files})
    assert found[0] == found[1]
    stems = ("main", "main_comparisons", "main_ranges", "main_trials", "main_tuned")
    tables = {f"tables/{s}.{end}" for s in stems for end in ("csv", "csv.sha256", "md", "tex")}
    assert {*found[0]} == tables | {
        f"figures/main/accuracy.{end}" for end in ("csv", "pdf", "png", "txt")
    }
    (home / "runs" / "sgd-2-0" / "summary.json").unlink()
    failed = drive("tabulate_study", "--study", path, "--results", home)
    assert failed.returncode == 1
    assert re.fullmatch(r"error: .*sgd-2-0.*\n", failed.stderr)


def test_a_cell_without_a_certificate_says_so_wherever_it_is_named(tmp_path: Path) -> None:
    cells = [cell("fsdp", e, 2) for e in (2.0, INF)] + [cell("sgd", 2.0, 2)]
    unproven = {"eps_certified": None, "eps_certified_reasons": ["nothing is clipped"]}

    def outcome(own: dict, seed: int) -> dict:
        return unproven if seed and own["runs"][0].startswith("fsdp-2") else {}

    baseline = {"method": "sgd"}
    made, _, compared, table = study_of(tmp_path, cells, outcome, baseline=baseline)
    own = table.iloc[0]  # one run without a proof leaves its cell without one
    assert np.isnan(own["eps_certified"])
    assert (own["privacy"], own["reasons"]) == ("no proof", "nothing is clipped")
    assert compared["better_certified"].tolist() == [False]
    assert compared["worse_certified"].tolist() == [True]
    assert cell_words.not_certified(compared.iloc[0]) == ["fsdp"]
    assert table["label"].tolist() == ["fsdp", "fsdp", "sgd"]
    assert table["certified"].tolist() == [False, True, True]
    assert columns.CELLS["method"](table.iloc[0]) == "fsdp (not certified)"
    assert columns.CELLS["method"](table.iloc[1]) == "fsdp"
    rounds = results.trajectories(made, tmp_path, "metrics")
    first = rounds.groupby("cell")["certified"].first()
    assert first.tolist() == table["certified"].tolist()


def test_cells_of_the_same_runs_are_identical_by_definition(tmp_path: Path) -> None:
    cells = [cell(m, e, 2) for m in ("none", "s", "m") for e in (2.0, 8.0)]
    for own, other in zip(cells[2:4], cells[:2], strict=True):
        own["runs"] = other["runs"]
    table = study_of(tmp_path, cells)[-1]
    same = "identical to none by definition: the same runs"
    assert table["remark"].tolist() == ["", "", same, same, "", ""]


def test_every_varied_setting_has_a_column(tmp_path: Path) -> None:
    made, runs, compared, table = budget_study(tmp_path, seeds=1)
    assert results.settings(made) == ["budget", "clip_norm"]
    for found in (runs, table):
        assert set(found["budget"]) == set(BUDGETS) and set(found["clip_norm"]) == {0.5, 1.0}
    assert set(compared["clip_norm"]) == {0.5, 1.0} and compared["budget"].isna().all()
    assert results.variant_text({"a": 1, "b": 2}, without="a") == "b=2"
    rendering.write(tmp_path / "main", table, rendering.columns_of(table, "cells"))
    assert set(values.read(tmp_path / "main.csv")["budget"]) == set(BUDGETS)


def test_numeric_keys_are_those_that_vary_in_numbers() -> None:
    variants = [
        {"clip_norm": c, "budget": b, "rank": 5} for c, b in ((0.1, "uniform"), (1, "decay"))
    ]
    made = study([cell("sgd", 2.0, 1, **variant) for variant in variants])
    assert results.numeric_keys(made) == ["clip_norm"]


TYPES = ("boolean", "number", "string")


def test_every_column_has_a_type_and_a_meaning_and_those_of_optimizers_are_told() -> None:
    kinds = yaml_file.read(results.SCHEMA, "tables.yaml")["kinds"]
    told = [entry for columns in kinds.values() for entry in columns.values()]
    assert all(kind in TYPES and meaning for kind, meaning in told)
    assert {*results.of_optimizers()} == {*kinds["optimizers"]}


def test_columns_of_an_optimizer_stand_only_in_tables_of_its_studies(tmp_path: Path) -> None:
    cells = [cell(name, 2.0, 2) for name in ("cadabelief", "sgd")]
    table, plain = study_of(tmp_path, cells)[-1], study_of(tmp_path, cells[1:])[-1]
    assert (table["clipped_below"][0], table["regime"][0]) == (0.4, "lower")
    assert table[["clipped_below", "regime"]].loc[1].isna().all()
    heads, lines = rendering.readable(table, rendering.columns_of(table, "cells"))
    assert heads[-4:] == ["r", "regime", "clipped below", "clipped above"]
    assert lines[0][-4:] == ["0.05", "lower", "0.4", "0"] and lines[1][-4:] == ["", "", "", ""]
    assert not {"r", "regime"} & {*plain}


@pytest.fixture(scope="module")
def budgets(tmp_path_factory: pytest.TempPathFactory):
    """The study of budgets: all as `budget_study` returns it; tests must not change it."""
    return budget_study(tmp_path_factory.mktemp("budgets"))


def test_a_baseline_is_compared_with_every_other_value(budgets) -> None:
    _, _, compared, _ = budgets
    assert len(comparisons.whole(compared)) == 2 * 3 * 2
    assert len(compared) == 4 * 2 * 3 * 2
    assert set(compared["worse"]) == {"sgd, budget=uniform", "adam, budget=uniform"}
    assert set(compared["clip_norm"]) == {0.5, 1.0} and compared["budget"].isna().all()

    def means(budget: str) -> np.ndarray:
        own = [cell("adam", e, 5, budget=budget, clip_norm=1.0) for e in (2.0, 8.0)]
        return 100 * np.mean([[spending(c, s) for c in own] for s in range(5)], axis=1)

    own = row(compared, better="adam, budget=decay", clip_norm=1.0, part="pooled")
    expected = stats.ttest_rel(means("decay"), means("uniform"))
    assert own["p"] == pytest.approx(expected.pvalue)
    assert own["difference"] == pytest.approx(np.mean(means("decay") - means("uniform")))
    assert own["n"] == 5 and np.isnan(own["epsilon"])


def test_holm_is_over_all_comparisons_with_the_baseline(budgets) -> None:
    _, _, compared, _ = budgets
    own = comparisons.whole(compared).sort_values("p")
    raw = COST * own["p"].to_numpy() * np.arange(len(own), 0, -1)
    assert own["p_holm"].to_numpy() == pytest.approx(np.maximum.accumulate(raw.clip(max=1)))


def test_a_pair_without_a_common_budget_is_not_run_and_takes_nothing(budgets) -> None:
    made, runs, *_ = budgets
    lacks = (runs["method"] == "adam") & (runs["budget"] == "uniform")
    found = comparisons.comparisons(made, runs[~lacks])
    gone = found[found["better"].str.startswith("adam")]
    assert set(gone["needs"]) == {NOT_RUN.needs} and set(gone["n"]) == {0}
    assert len(gone) == 2 * 3
    own = comparisons.whole(found).query("n > 0").sort_values("p")
    raw = COST * own["p"].to_numpy() * np.arange(len(own), 0, -1)
    assert own["p_holm"].to_numpy() == pytest.approx(np.maximum.accumulate(raw.clip(max=1)))


def test_a_study_without_a_baseline_compares_nothing(budgets) -> None:
    made, runs, *_ = budgets
    missing = {key: value for key, value in made.items() if key != "baseline"}
    for asked in (made | {"baseline": {}}, missing):
        assert len(comparisons.comparisons(asked, runs)) == 0


def test_a_baseline_that_is_not_run_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"budget=uniforn, expected one of uniform, decay, growth"):
        budget_study(tmp_path, seeds=1, baseline={"budget": "uniforn"})


def test_a_baseline_may_be_a_number(budgets) -> None:
    made, runs, *_ = budgets
    compared = comparisons.comparisons(made | {"baseline": {"clip_norm": 1}}, runs)
    assert set(compared["worse"]) == {"sgd, clip_norm=1.0", "adam, clip_norm=1.0"}
    assert len(comparisons.whole(compared)) == 2 * 4 and (compared["n"] == 5).all()
