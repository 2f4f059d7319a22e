"""Tables from made-up runs: numbers recomputed from what was written, and every kind of verdict."""

import io
import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import synthetic
from scipy import stats
from synthetic import cell, study

from dpfl.errors import UserError
from dpfl.report import reader
from dpfl.tables import (
    cell_words,
    columns_shown,
    comparisons,
    ranges,
    rendering,
    results,
    study_table,
)

INF = math.inf
METHODS = ("cadabelief", "sgd", "adam", "adabelief", "sgd-ema", "cadabelief-scalar")
AHEAD = dict(zip(METHODS, (0.03, 0.0, 0.01, 0.0, 0.03, 0.01), strict=True))


def accuracy(own: dict, seed: int) -> float:
    """A seed shifts all methods alike; each has an advantage and a little noise of its own."""
    noise = np.random.default_rng([seed, METHODS.index(own["method"])]).normal(0, 0.001)
    bonus = 0.02 if own["epsilon"] == 8.0 else 0.0
    return 0.9 + AHEAD[own["method"]] + 0.01 * seed + bonus + noise


def compare(tmp_path: Path, seeds: int = 5, dataset: str = "mnist", **extra):
    """Write a study of all methods and return it with its runs, comparisons and cells."""
    private = [cell(m, e, seeds) for m in METHODS for e in (2.0, 8.0)]
    cells = private + [cell(m, INF, 1) for m in METHODS]
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": accuracy(c, s)})
    made = study(cells, dataset=dataset, **({"baseline": {"method": "sgd"}} | extra))
    runs = results.frame(made, tmp_path)
    compared = comparisons.comparisons(made, runs)
    return made, runs, compared, study_table.cells(made, runs, compared)


def row(table: pd.DataFrame, **where) -> pd.Series:
    found = table[(table[list(where)] == pd.Series(where)).all(axis=1)]
    assert len(found) == 1
    return found.iloc[0]


def test_a_cell_is_the_mean_of_its_seeds(tmp_path: Path) -> None:
    made, _, _, table = compare(tmp_path)
    assert len(table) == len(made["cells"]) == 18
    own = row(table, method="adam", epsilon=8.0)
    sample = [100 * accuracy(cell("adam", 8.0, 5), seed) for seed in range(5)]
    limits = stats.ttest_1samp(sample, 0).confidence_interval(0.95)
    assert own["accuracy_mean"] == pytest.approx(np.mean(sample))
    assert (own["ci_low"], own["ci_high"]) == pytest.approx((limits.low, limits.high))
    assert own["sd"] == pytest.approx(np.std(sample, ddof=1))
    assert (own["n"], own["eps_claimed"], own["privacy"]) == (5, 8.0, "consistent")
    assert own["eps_certified"] == pytest.approx(7.992)
    assert own["audit_status"] == "not audited"
    assert pd.isna(own[["eps_audited", "audit_ceiling", "audit_level"]]).all()


def test_one_seed_has_no_interval_and_infinity_no_claim(tmp_path: Path) -> None:
    _, _, _, table = compare(tmp_path)
    own = row(table, method="sgd", epsilon=INF)
    assert own["n"] == 1 and pd.isna(own[["ci_low", "ci_high", "sd"]]).all()
    assert (own["privacy"], own["published"], own["verdict"]) == ("no claim", "", "")


def test_comparisons_pair_by_seed_at_every_finite_epsilon_and_pooled(tmp_path: Path) -> None:
    _, _, compared, _ = compare(tmp_path)

    def means(method: str, *epsilons: float) -> np.ndarray:
        of = [[accuracy(cell(method, e, 5), s) for e in epsilons] for s in range(5)]
        return 100 * np.mean(of, axis=1)

    places = {"epsilon 2": (2.0,), "epsilon 8": (8.0,), "pooled": (2.0, 8.0)}
    for part, epsilons in places.items():
        own = row(compared, better="adam", part=part)
        ours, theirs = means("adam", *epsilons), means("sgd", *epsilons)
        assert own["p"] == pytest.approx(stats.ttest_rel(ours, theirs).pvalue)
        assert own["difference"] == pytest.approx(np.mean(ours - theirs))
        assert (own["epsilons"], own["n"]) == (" ".join(f"{e:g}" for e in epsilons), 5)
        # Unpaired, the seeds' common shift of a point each would drown a difference of one.
        assert stats.ttest_ind(ours, theirs).pvalue > 0.01 > own["p_holm"]
    parts = compared[(compared["better"] == "adam") & compared["part"].str.startswith("eps")]
    own, least = row(compared, better="adam", part="overall"), parts.loc[parts["p"].idxmax()]
    assert own["p"] == least["p"]
    assert own["difference"] == least["difference"]
    assert (own["epsilons"], own["n"], own["verdict"]) == ("2 8", 5, "gains")


LEADS = {
    "gains": (0.01, 0.02),
    "mixed": (0.02, -0.01),
    "loses": (-0.01, -0.02),
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

    synthetic.write(tmp_path, cells, outcome)
    made = study(cells, baseline={"method": "sgd"})
    runs = results.frame(made, tmp_path)
    compared = comparisons.comparisons(made, runs)
    assert row(compared, part="overall")["verdict"] == verdict
    shown = row(study_table.cells(made, runs, compared), method="adam", epsilon=2.0)["verdict"]
    assert shown == f"against sgd: {verdict}"


@pytest.mark.parametrize("seeds", [1, 2])
def test_few_seeds_give_no_verdict(tmp_path: Path, seeds: int) -> None:
    _, _, compared, table = compare(tmp_path, seeds=seeds)
    assert set(compared["verdict"]) == {"too few seeds"}
    assert compared["p"].isna().all() == (seeds < 3)
    assert row(table, method="adam", epsilon=2.0)["verdict"] == "against sgd: too few seeds"


def test_digits_only_demonstrate(tmp_path: Path) -> None:
    _, _, compared, table = compare(tmp_path, dataset="digits")
    assert set(compared["verdict"]) == set(table["verdict"]) == {"demonstration"}
    assert set(table["published"]) == {""}


def test_published_numbers_get_a_cell_verdict_each(tmp_path: Path) -> None:
    printed = [
        {"table": "table5", "row": "fsdp", "reading": "", "value": 96.0},
        {"table": "table5", "row": "fsdp-m", "reading": "only", "value": 93.0},
        {"table": "rerun", "row": "fsdp", "reading": "", "value": 92.0, "by": "Poe (2021)"},
    ]
    cells = [cell("sgd", 2.0, 5) | {"published": printed}]
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": 0.96 + 0.0001 * s})
    made = study(cells)
    runs = results.frame(made, tmp_path)
    own = study_table.cells(made, runs, comparisons.comparisons(made, runs)).iloc[0]
    assert own["published"] == (
        "96, +0.02; 93 (fsdp-m, only), +3.02; 92 (of a rerun by Poe (2021)), +4.02"
    )
    assert own["verdict"] == ("matches; differs (fsdp-m, only); differs (of a rerun by Poe (2021))")


def test_only_seeds_with_every_epsilon_are_paired(tmp_path: Path) -> None:
    cells = [cell("cadabelief", 2.0, 5), cell("cadabelief", 8.0, 3)]
    cells += [cell("sgd", 2.0, 5), cell("sgd", 8.0, 5), cell("sgd", 4.0, 5)]
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": 0.9 + 0.001 * s})
    made = study(cells, baseline={"method": "sgd"})
    compared = comparisons.comparisons(made, results.frame(made, tmp_path))
    own = {p: row(compared, better="cadabelief", part=p)["n"] for p in ("epsilon 2", "pooled")}
    assert own == {"epsilon 2": 5, "pooled": 3}
    assert row(compared, better="cadabelief", part="overall")["n"] == 3


def test_a_diverged_run_did_not_train(tmp_path: Path) -> None:
    cells = [cell("sgd", 2.0, 2)]
    outcomes = [{"accuracy": 0.9}, {"accuracy": None, "diverged": True}]
    synthetic.write(tmp_path, cells, lambda c, s: outcomes[s])
    made = study(cells)
    runs = results.frame(made, tmp_path)
    own = study_table.cells(made, runs, comparisons.comparisons(made, runs)).iloc[0]
    assert own["accuracy_mean"] == pytest.approx(90)
    assert (own["n"], own["diverged"], own["trained"]) == (2, 1, 1)


def test_a_network_that_always_answers_one_class_is_at_chance(tmp_path: Path) -> None:
    cells = [cell("sgd", 2.0, 3)]  # the most frequent digit is 11.35 % of MNIST's test set
    accuracies = [0.9, 0.1135, 1e-9]
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": accuracies[s]})
    made = study(cells)
    runs = results.frame(made, tmp_path)
    own = study_table.cells(made, runs, comparisons.comparisons(made, runs)).iloc[0]
    assert (own["n"], own["diverged"], own["trained"]) == (3, 0, 1)


def test_a_cell_without_a_proof_is_unproven_with_its_reasons(tmp_path: Path) -> None:
    cells = [cell("sgd", 2.0, 2)]
    reasons = {"eps_certified": None, "eps_certified_reasons": ["clips after the noise"]}
    synthetic.write(tmp_path, cells, lambda c, s: reasons if s else {})
    made = study(cells)
    runs = results.frame(made, tmp_path)
    own = study_table.cells(made, runs, comparisons.comparisons(made, runs)).iloc[0]
    assert np.isnan(own["eps_certified"])
    assert (own["privacy"], own["reasons"]) == ("unproven", "clips after the noise")


GRID = [0.0001, 0.001, 0.01, 0.1, 1.0, 10.0]


def rate_study(tmp_path: Path, validation: dict[str, list], diverged: tuple = ()):
    """Write one run per method and rate with these validation accuracies in percent."""
    cells = [cell(m, 4.0, 1, rate=g) for m in validation for g in GRID]

    def outcome(own: dict, seed: int) -> dict:
        at = GRID.index(own["variant"]["rate"])
        value = validation[own["method"]][at]
        bad = (own["method"], at) in diverged
        final = None if value is None else value / 100
        return {"final_validation_accuracy": final, "diverged": bad}

    synthetic.write(tmp_path, cells, outcome)
    made = study(cells, name="rates", kind="rates")
    return made, results.frame(made, tmp_path)


def test_rates_are_classified(tmp_path: Path) -> None:
    validation = {"sgd": [11, 40, 94.5, 96, 30, 10], "adam": [95, 96, 96, 95, 80, 90]}
    made, runs = rate_study(tmp_path, validation, diverged=(("adam", 5),))
    table = ranges.classified(made, runs)
    states = {m: table.loc[table["method"] == m, "state"].tolist() for m in validation}
    assert states["sgd"] == ["crawls", "crawls", "good", "good", "unstable", "diverges"]
    assert states["adam"] == ["good", "good", "good", "good", "fair", "diverges"]
    sgd, adam = (row(ranges.ranges(made, runs), method=m) for m in validation)
    assert (sgd["best_rate"], sgd["good_low"], sgd["good_high"]) == (0.1, 0.01, 0.1)
    assert sgd["width_decades"] == pytest.approx(1.0)
    assert (sgd["rates"], sgd["trials"], sgd["edge"]) == (6, 6, "")
    assert (sgd["diverging"], sgd["unstable"], sgd["crawling"]) == (1, 1, 2)
    assert (adam["best_rate"], adam["edge"]) == (0.001, "lower")
    assert adam["width_decades"] == pytest.approx(3.0)


def test_the_good_range_has_no_gap(tmp_path: Path) -> None:
    made, runs = rate_study(tmp_path, {"sgd": [95, 80, 96, 95, 80, 95]})
    own = ranges.ranges(made, runs).iloc[0]
    assert (own["good_low"], own["good_high"], own["edge"]) == (0.01, 0.1, "")


def test_an_optimizer_that_never_trains_has_no_good_range(tmp_path: Path) -> None:
    made, runs = rate_study(tmp_path, {"sgd": [10, 11, 10, None, 10, 9]})
    own = ranges.ranges(made, runs).iloc[0]
    assert pd.isna(own[["good_low", "good_high", "width_decades"]]).all()
    assert own["diverging"] + own["crawling"] == 6


def test_an_optimizer_far_below_the_others_has_no_good_range(tmp_path: Path) -> None:
    made, runs = rate_study(tmp_path, {"sgd": [16, 17, 17, 16, 16, 16], "adam": [90] * 6})
    sgd, adam = (row(ranges.ranges(made, runs), method=m) for m in ("sgd", "adam"))
    assert (sgd["crawling"], sgd["unstable"], sgd["diverging"]) == (6, 0, 0)
    assert np.isnan(sgd["width_decades"]) and adam["width_decades"] == pytest.approx(5.0)
    assert adam["edge"] == "lower and upper"


def test_rates_need_a_validation_split(tmp_path: Path) -> None:
    made, runs = rate_study(tmp_path, {"sgd": [None] * 6})
    with pytest.raises(UserError, match="held out"):
        ranges.ranges(made, runs)


def test_rates_of_one_optimizer_over_two_keys_are_two_lines(tmp_path: Path) -> None:
    cells = [cell(m, 4.0, 1, rate=g) for m in ("adabound", "adabound-final") for g in GRID]
    keys = {"adabound": "lr", "adabound-final": "final_lr"}
    synthetic.write(
        tmp_path,
        cells,
        lambda c, s: {
            "final_validation_accuracy": 0.9,
            "algorithm": "adabound",
            "rate_key": keys[c["method"]],
        },
    )
    made = study(cells, kind="rates")
    table = ranges.ranges(made, results.frame(made, tmp_path))
    assert dict(zip(table["method"], table["rate_key"], strict=True)) == keys
    assert set(table["algorithm"]) == {"adabound"}


def test_written_tables_say_the_same_three_times(tmp_path: Path) -> None:
    _, _, compared, table = compare(tmp_path / "runs")
    rendering.write(tmp_path / "main", table, columns_shown.CELLS)
    rendering.write(tmp_path / "compared", compared, columns_shown.COMPARISONS)
    back = reader.table(tmp_path / "main.csv")
    assert back["accuracy_mean"].tolist() == table["accuracy_mean"].tolist()
    assert back["epsilon"].tolist() == table["epsilon"].tolist()
    assert set(reader.table(tmp_path / "compared.csv")["kind"]) == {"baseline"}
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
    assert [w for w in ("toprule", "midrule", "bottomrule") if w in body] == [
        "toprule",
        "midrule",
        "bottomrule",
    ]


def test_a_table_without_rows_keeps_its_header(tmp_path: Path) -> None:
    rendering.write(tmp_path / "none", ranges.NONE, columns_shown.RANGES)
    assert (tmp_path / "none.csv").read_text() == ",".join(ranges.COLUMNS) + "\n"
    assert (tmp_path / "none.md").read_text().count("\n") == 2
    assert len(reader.table(tmp_path / "none.csv")) == 0


def test_the_driver_writes_everything_or_one_line(tmp_path: Path, root: Path) -> None:
    made, *_ = compare(tmp_path / "runs", seeds=2)
    driver = [sys.executable, root / "workflow/scripts/tabulate_study.py"]
    where = ["--results", tmp_path]
    (tmp_path / "study.json").write_text(json.dumps(made))
    command = [*driver, "--study", tmp_path / "study.json", *where]
    subprocess.run(command, check=True)
    written = sorted(path.name for path in (tmp_path / "tables").iterdir())
    stems = ("main", "main_comparisons", "main_ranges", "main_trials", "main_tuned")
    assert written == sorted(f"{s}.{end}" for s in stems for end in ("csv", "md", "tex"))
    (tmp_path / "runs" / "sgd-2-0" / "summary.json").unlink()
    failed = subprocess.run(command, capture_output=True, text=True)
    assert failed.returncode == 1
    assert re.fullmatch(r"error: .*sgd-2-0.*\n", failed.stderr)


def test_equal_runs_give_equal_bytes(tmp_path: Path) -> None:
    written = []
    for part in ("a", "b"):
        _, _, _, table = compare(tmp_path / part)
        rendering.write(tmp_path / part / "main", table, columns_shown.CELLS)
        written.append((tmp_path / part / "main.csv").read_bytes())
    assert written[0] == written[1] and b"\r" not in written[0]
    assert len(pd.read_csv(io.BytesIO(written[0]))) == 18


BUDGETS = {"uniform": 0.0, "decay": 0.02, "growth": -0.02, "adaptive": 0.0}


def budget_study(tmp_path: Path, seeds: int = 6, dataset: str = "mnist", **extra):
    """Write a study of strategies by method and clip norm; return all as `compare` does."""
    cells = [
        cell(m, e, seeds, budget=b, clip_norm=c)
        for m in ("sgd", "adam")
        for b in BUDGETS
        for c in (0.5, 1.0)
        for e in (2.0, 8.0, INF)
    ]
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": spending(c, s)})
    made = study(
        cells, dataset=dataset, kind="variants", **{"baseline": {"budget": "uniform"}} | extra
    )
    runs = results.frame(made, tmp_path)
    compared = comparisons.comparisons(made, runs)
    return made, runs, compared, study_table.cells(made, runs, compared)


def spending(own: dict, seed: int) -> float:
    """A seed shifts all alike; a strategy has an advantage and a little noise of its own."""
    variant = own["variant"]
    key = [seed, list(BUDGETS).index(variant["budget"]), int(10 * variant["clip_norm"])]
    noise = np.random.default_rng([*key, own["method"] == "sgd"]).normal(0, 0.0005)
    bonus = 0.02 if own["epsilon"] == 8.0 else 0.0
    return 0.9 + BUDGETS[variant["budget"]] + 0.01 * seed + bonus + noise


def test_a_baseline_is_compared_with_every_other_value(tmp_path: Path) -> None:
    _, _, compared, _ = budget_study(tmp_path)
    assert len(comparisons.whole(compared)) == 2 * 3 * 2
    assert len(compared) == 4 * 2 * 3 * 2
    assert set(compared["worse"]) == {"sgd, budget=uniform", "adam, budget=uniform"}
    assert set(compared["variant"]) == {"clip_norm=0.5", "clip_norm=1.0"}
    assert set(compared["kind"]) == {"baseline"}

    def means(budget: str) -> np.ndarray:
        own = [cell("adam", e, 6, budget=budget, clip_norm=1.0) for e in (2.0, 8.0)]
        return 100 * np.mean([[spending(c, s) for c in own] for s in range(6)], axis=1)

    own = row(compared, better="adam, budget=decay", variant="clip_norm=1.0", part="pooled")
    expected = stats.ttest_rel(means("decay"), means("uniform"))
    assert own["p"] == pytest.approx(expected.pvalue)
    assert own["difference"] == pytest.approx(np.mean(means("decay") - means("uniform")))
    assert (own["epsilons"], own["n"]) == ("2 8", 6)
    assert list(compared.columns) == comparisons.COLUMNS


def test_a_method_can_be_the_baseline(tmp_path: Path) -> None:
    _, _, compared, table = compare(tmp_path)
    assert set(compared["better"]) == set(METHODS) - {"sgd"}
    assert (set(compared["worse"]), set(compared["kind"])) == ({"sgd"}, {"baseline"})

    def means(method: str) -> np.ndarray:
        own = [cell(method, e, 5) for e in (2.0, 8.0)]
        return 100 * np.mean([[accuracy(c, s) for c in own] for s in range(5)], axis=1)

    own = row(compared, better="adam", part="pooled")
    expected = stats.ttest_rel(means("adam"), means("sgd"))
    assert own["p"] == pytest.approx(expected.pvalue)
    assert own["difference"] == pytest.approx(np.mean(means("adam") - means("sgd")))
    assert own["verdict"] == "gains"
    assert row(table, method="adam", epsilon=2.0)["verdict"] == "against sgd: gains"
    assert row(table, method="sgd", epsilon=2.0)["verdict"] == "baseline"


def test_a_cell_without_a_certificate_says_so_wherever_it_is_named(tmp_path: Path) -> None:
    cells = [cell("fsdp", e, 2) for e in (2.0, INF)] + [cell("sgd", 2.0, 2)]
    unproven = {"eps_certified": None, "eps_certified_reasons": ["nothing is clipped"]}
    synthetic.write(
        tmp_path, cells, lambda c, s: unproven if c["runs"][0].startswith("fsdp-2") else {}
    )
    made = study(cells, baseline={"method": "sgd"})
    runs = results.frame(made, tmp_path)
    compared = comparisons.comparisons(made, runs)
    assert compared["better_certified"].tolist() == [False]
    assert compared["worse_certified"].tolist() == [True]
    assert cell_words.not_certified(compared.iloc[0]) == ["fsdp"]
    table = study_table.cells(made, runs, compared)
    assert table["label"].tolist() == ["fsdp", "fsdp", "sgd"]
    assert table["certified"].tolist() == [False, True, True]
    assert columns_shown.CELLS["method"](table.iloc[0]) == "fsdp (not certified)"
    assert columns_shown.CELLS["method"](table.iloc[1]) == "fsdp"
    rounds = results.trajectories(made, tmp_path, "metrics")
    first = rounds.groupby("cell")["certified"].first()
    assert first.tolist() == table["certified"].tolist()


def test_cells_of_the_same_runs_are_identical_by_definition(tmp_path: Path) -> None:
    cells = [cell(m, e, 2) for m in ("none", "s", "m") for e in (2.0, 8.0)]
    for own, other in zip(cells[2:4], cells[:2], strict=True):
        own["runs"] = other["runs"]
    synthetic.write(tmp_path, cells, lambda c, s: {})
    made = study(cells)
    runs = results.frame(made, tmp_path)
    table = study_table.cells(made, runs, comparisons.comparisons(made, runs))
    same = "identical to none by definition: the same runs"
    assert table["remark"].tolist() == ["", "", same, same, "", ""]


def test_an_epsilon_that_is_a_label_stands_beside_what_all_steps_are_charged(
    tmp_path: Path,
) -> None:
    cells = [cell("sgd", 2.0, 2, budget=b) for b in ("uniform", "label")]
    synthetic.write(
        tmp_path,
        cells,
        lambda c, s: {
            "eps_certified": None,
            "epsilon_spent": 31.4159 if "label" in c["runs"][0] else 1.99,
        },
    )
    made = study(cells)
    runs = results.frame(made, tmp_path)
    table = study_table.cells(made, runs, comparisons.comparisons(made, runs))
    shown = [cell_words.claimed(own) for _, own in table.iterrows()]
    assert shown == ["2", "2 (all steps are charged 31.4)"]


def test_features_of_a_demonstration_judge_no_claim(tmp_path: Path) -> None:
    _, _, compared, table = compare(tmp_path, dataset="digits-scatter")
    assert set(compared["verdict"]) == set(table["verdict"]) == {"demonstration"}


def test_holm_is_over_all_comparisons_with_the_baseline(tmp_path: Path) -> None:
    _, _, compared, _ = budget_study(tmp_path)
    own = comparisons.whole(compared).sort_values("p")
    raw = own["p"].to_numpy() * np.arange(len(own), 0, -1)
    assert own["p_holm"].to_numpy() == pytest.approx(np.maximum.accumulate(raw.clip(max=1)))


def test_a_change_gains_loses_or_makes_no_difference(tmp_path: Path) -> None:
    _, _, compared, table = budget_study(tmp_path)
    words = {"decay": "gains", "growth": "loses", "adaptive": "no difference"}
    for budget, word in words.items():
        own = compared[compared["better"].str.endswith(f"={budget}")]
        assert set(own["verdict"]) == {word}
        shown = row(table, method="sgd", variant=f"budget={budget}, clip_norm=0.5", epsilon=2.0)
        assert (shown["published"], shown["verdict"]) == ("", f"against budget=uniform: {word}")
    base = row(table, method="sgd", variant="budget=uniform, clip_norm=0.5", epsilon=2.0)
    free = row(table, method="sgd", variant="budget=decay, clip_norm=0.5", epsilon=INF)
    assert (base["verdict"], free["verdict"]) == ("baseline", "")


def test_a_baseline_with_few_seeds_or_on_digits_is_not_judged(tmp_path: Path) -> None:
    _, _, compared, _ = budget_study(tmp_path / "few", seeds=2)
    assert set(compared["verdict"]) == {"too few seeds"}
    _, _, compared, table = budget_study(tmp_path / "digits", dataset="digits")
    assert set(compared["verdict"]) == set(table["verdict"]) == {"demonstration"}


def test_a_study_without_a_baseline_compares_nothing(tmp_path: Path) -> None:
    made, runs, _, _ = budget_study(tmp_path, seeds=1)
    missing = {key: value for key, value in made.items() if key != "baseline"}
    for asked in (made | {"baseline": {}}, missing):
        compared = comparisons.comparisons(asked, runs)
        assert len(compared) == 0
        assert set(study_table.cells(asked, runs, compared)["verdict"]) == {""}


def test_a_baseline_that_is_not_run_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"budget=uniforn, expected one of uniform, decay, growth"):
        budget_study(tmp_path, seeds=1, baseline={"budget": "uniforn"})


def test_a_baseline_may_be_a_number(tmp_path: Path) -> None:
    _, _, compared, table = budget_study(tmp_path, baseline={"clip_norm": 1})
    assert set(compared["worse"]) == {"sgd, clip_norm=1.0", "adam, clip_norm=1.0"}
    assert len(comparisons.whole(compared)) == 2 * 4 and (compared["n"] == 6).all()
    own = table[table["verdict"] == "baseline"]
    assert set(own["variant"].str[-3:]) == {"1.0"}


def client_cells(tmp_path: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the cells and comparisons of a study that protects whole clients."""
    cells = [
        cell("sgd", e, 2, clients=n) | {"unit": "client"} for n in (20, 400) for e in (2.0, INF)
    ]
    synthetic.write(tmp_path, cells, lambda c, s: {})
    made = study(cells, baseline={"clients": 20})
    runs = results.frame(made, tmp_path)
    compared = comparisons.comparisons(made, runs)
    return study_table.cells(made, runs, compared), compared


def test_epsilons_of_whole_clients_have_heads_of_their_own(tmp_path: Path) -> None:
    table, compared = client_cells(tmp_path / "runs")
    rendering.write(tmp_path / "main", table, columns_shown.CELLS)
    rendering.write(tmp_path / "compared", compared, columns_shown.COMPARISONS, "client")
    heads = (tmp_path / "main.md").read_text().splitlines()[0]
    assert [h.strip() for h in heads.strip("|").split("|") if "ε" in h] == [
        *("ε (client)", "ε claimed (client)", "ε certified (client)", "ε audited (client)")
    ]
    tex = (tmp_path / "main.tex").read_text()
    assert r"$\varepsilon$ certified (client)" in tex
    assert "| ε (client) |" in (tmp_path / "compared.md").read_text()
    assert rendering.grid(table)[0] == ["method", "ε = 2 (client)", "non-private"]


def test_tables_say_who_certifies_each_row(tmp_path: Path) -> None:
    cells = [cell("sgd", 8.0, 2, budget=b) for b in ("uniform", "adaptive")]
    filtered = {"accountant": "rdp-filter", "eps_certified": 7.8}
    synthetic.write(
        tmp_path, cells, lambda c, s: filtered if c["variant"]["budget"] == "adaptive" else {}
    )
    made = study(cells)
    runs = results.frame(made, tmp_path)
    table = study_table.cells(made, runs, comparisons.comparisons(made, runs))
    rendering.write(tmp_path / "main", table, columns_shown.CELLS)
    lines = (tmp_path / "main.md").read_text().splitlines()
    shown = [[text.strip() for text in line.split("|")] for line in lines]
    at = shown[0].index("ε certified")
    assert [line[at : at + 2] for line in (shown[0], *shown[2:])] == [
        ["ε certified", "certified by"],
        ["7.992", "pld"],
        ["7.8", "rdp-filter"],
    ]


def test_csv_heads_do_not_depend_on_the_unit(tmp_path: Path) -> None:
    table, compared = client_cells(tmp_path / "runs")
    rendering.write(tmp_path / "main", table, columns_shown.CELLS)
    back = reader.table(tmp_path / "main.csv")
    assert set(back.columns) - {"clients"} == set(study_table.COLUMNS)
    assert set(back["unit"]) == {"client"}
    assert list(compared.columns) == comparisons.COLUMNS


def test_two_units_never_share_a_table(tmp_path: Path) -> None:
    table, _ = client_cells(tmp_path / "runs")
    mixed = pd.concat([table, table.assign(unit="example")])
    for shown in (lambda: rendering.grid(mixed), lambda: rendering.write(tmp_path, mixed, {})):
        with pytest.raises(UserError, match="units client and example"):
            shown()


def test_every_varied_setting_has_a_column(tmp_path: Path) -> None:
    made, runs, _, table = budget_study(tmp_path, seeds=1)
    assert results.settings(made) == ["budget", "clip_norm"]
    for found in (runs, table):
        assert set(found["budget"]) == set(BUDGETS) and set(found["clip_norm"]) == {0.5, 1.0}
    assert results.variant_text({"a": 1, "b": 2}, without="a") == "b=2"
    rendering.write(tmp_path / "main", table, columns_shown.CELLS)
    assert set(reader.table(tmp_path / "main.csv")["budget"]) == set(BUDGETS)


def test_numeric_keys_are_those_that_vary_in_numbers() -> None:
    variants = [
        {"clip_norm": c, "rounds": r, "budget": "uniform", "batch_size": 64}
        for c in (0.1, 1)
        for r in (5, 10)
    ]
    made = study([cell("sgd", 2.0, 1, **variant) for variant in variants])
    assert results.numeric_keys(made) == ["clip_norm", "rounds"]
