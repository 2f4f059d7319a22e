"""Sentences about budgets, whole clients and surfaces follow the numbers of the tables."""

import math

import numpy as np
import pandas as pd
import pytest
from synthetic import cell, study
from told_tables import cells_of, compared_of

from dpfl.report import budget_words, privacy_words, reader, verdict_words

INF = math.inf
STRATEGIES = ("uniform", "decay", "adaptive")


def budgets(dataset: str = "mnist") -> dict:
    cells = [cell("sgd", 8.0, 5, budget=b) for b in STRATEGIES]
    extra = {"baseline": {"budget": "uniform"}, "demonstrates": dataset == "digits"}
    return study(cells, dataset=dataset, kind="variants", **extra)


def change(value: str, verdict: str, method: str = "sgd", **more) -> dict:
    sides = {"better": f"{method}, budget={value}", "worse": f"{method}, budget=uniform"}
    changed = {"setting": "budget", "method": method, "value": value, "base": "uniform"}
    return {"kind": "baseline", "verdict": verdict} | changed | sides | more


def test_the_headline_asks_and_answers() -> None:
    compared = compared_of(
        change("decay", "gains"), change("growth", "loses"), change("adaptive", "gains")
    )
    assert budget_words.headline(budgets(), compared) == [
        "Is another budget more accurate than uniform at equal privacy budget? "
        "decay and adaptive: gains; growth: loses."
    ]
    compared = compared_of(change("decay", "gains"), change("decay", "loses", "adam"))
    parts = compared_of(change("decay", "loses", part="epsilon 2"))  # which do not answer
    first, second = budget_words.headline(budgets(), pd.concat([compared, parts]))
    assert "another budget of sgd more" in first and second.endswith("decay: loses.")


def test_the_headline_of_a_baseline_method_names_it() -> None:
    same = {"kind": "baseline", "worse": "fsdp-certified", "verdict": "no difference"}
    same |= {"setting": "method", "method": "", "base": "fsdp-certified"}
    compared = compared_of(
        *(same | {"better": name, "value": name} for name in ("dpsgd", "dpsgd-quantile"))
    )
    assert budget_words.headline(budgets(), compared) == [
        "Is another method more accurate than fsdp-certified at equal privacy budget? "
        "dpsgd and dpsgd-quantile: no difference."
    ]
    assert budget_words.headline(budgets(), reader.named(compared)) == [
        "Is another method more accurate than certified FSDP at equal privacy budget? "
        "DP-SGD and DP-SGD with quantile clipping: no difference."
    ]


def test_the_headline_of_a_demonstration_judges_nothing() -> None:
    compared = compared_of(change("decay", "demonstration"), change("growth", "demonstration"))
    [text] = budget_words.headline(budgets("digits"), compared)
    assert text == verdict_words.demonstration(budgets("digits"))
    assert budget_words.headline(budgets(), compared_of()) == []


@pytest.mark.parametrize(
    ("verdict", "reason"),
    [
        ("gains", "the whole interval lies above zero"),
        ("loses", "the whole interval lies below zero"),
        ("no difference", "the whole interval lies within half the margin, 0.5 points, of zero"),
        ("mixed", "every budget is decided, and not all alike"),
        ("inconclusive", "holds zero and reaches further than half the margin, 0.5 points"),
        ("too few seeds", "at least 5 paired seeds"),
        ("demonstration", "MNIST, only demonstrates"),
    ],
)
def test_each_verdict_on_a_change_has_its_reason(verdict: str, reason: str) -> None:
    compared = compared_of(change("decay", verdict, variant="clip_norm=1.0"))
    [text] = verdict_words.changes(budgets(), compared)
    assert text.startswith("sgd, budget=decay against sgd, budget=uniform (clip_norm=1.0), at")
    assert f": {verdict}, for " in text and reason in text


def spent_cells() -> pd.DataFrame:
    filtered = {"variant": "budget=adaptive", "accountant": "rdp-filter", "eps_certified": 7.81}
    plain = {"epsilon": 8.0, "eps_claimed": 8.0}
    return cells_of(
        plain | {"variant": "budget=uniform", "eps_certified": 7.9991},
        plain | {"variant": "budget=decay", "eps_certified": 7.998},
        plain | filtered,
        plain | {"variant": "budget=uniform", "epsilon": INF, "accountant": ""},
    )


def test_what_was_spent_names_who_certifies_it() -> None:
    first, pld, rdp = budget_words.spent(budgets(), spent_cells())
    assert first == (
        "ε = 8, certified as spent at most: 8 by sgd (budget=uniform) and 7.998 by sgd "
        "(budget=decay) (pld); 7.81 by sgd (budget=adaptive) (rdp-filter)."
    )
    assert pld.startswith("pld: the noise of every round was fixed before training")
    assert "RDP filter, at one order fixed in advance" in rdp and "at or below the budget" in rdp
    assert len(budget_words.spent(budgets(), spent_cells().iloc[:2])) == 2
    assert budget_words.spent(budgets() | {"baseline": {}}, spent_cells()) == []
    assert budget_words.spent(budgets(), spent_cells().iloc[3:]) == []


def test_a_cell_without_a_certificate_has_none() -> None:
    cells = spent_cells().assign(eps_certified=np.nan)
    assert "none by sgd (budget=adaptive)" in budget_words.spent(budgets(), cells)[0]


def test_privacy_tells_accountants_apart() -> None:
    planned, filtered = privacy_words.privacy(spent_cells().iloc[:3])
    assert "8 (pld" in planned and "consistent in 2 cells" in planned
    assert "7.81 (rdp-filter" in filtered and "consistent in 1 cell" in filtered


def by_clients(*rows: tuple[int, float, float], **more) -> tuple[dict, pd.DataFrame]:
    """Return a study over numbers of clients and its table."""
    cells = [cell("sgd", epsilon, 5, clipping="median", clients=n) for n, epsilon, _ in rows]
    made = [
        {
            "variant": f"clipping=median, clients={count}",
            "epsilon": epsilon,
            "unit": "client",
            "accuracy_mean": mean,
            "ci_low": mean - 1,
            "ci_high": mean + 1,
        }
        | more
        for count, epsilon, mean in rows
    ]
    return study(cells, kind="variants"), cells_of(*made)


def test_more_clients_less_harm_if_the_numbers_say_so() -> None:
    free = [(20, INF, 96.0), (400, INF, 95.0)]
    told = by_clients((400, 8.0, 90.0), (100, 8.0, 70.0), (20, 8.0, 40.0), *free)
    [text] = budget_words.clients(*told)
    assert text == (
        "sgd, clipping=median, ε = 8: 40.0 ± 1.0 % (n = 5) with 20 clients, 90.0 ± 1.0 % (n = 5) "
        "with 400: +50.0 points, intervals do not overlap; privacy costs 56.0 points with 20 and "
        "5.0 with 400: more clients, less harm."
    )
    [text] = budget_words.clients(*by_clients((20, 8.0, 90.0), (400, 8.0, 50.0), *free))
    assert "-40.0 points" in text and text.endswith("more clients, no less harm.")


def test_without_non_private_runs_nothing_is_said_about_harm() -> None:
    [text] = budget_words.clients(*by_clients((20, 8.0, 40.0), (100, 8.0, 40.5)))
    assert text.endswith("with 100: +0.5 points, intervals overlap.")
    assert budget_words.clients(*by_clients((20, 8.0, 40.0))) == []
    kept = study([cell("sgd", 2.0, 5), cell("sgd", 2.0, 5, state="reset")], kind="variants")
    assert budget_words.clients(kept, cells_of({}, {"variant": "state=reset"})) == []


def grid(means: list[float], half: float = 0.5) -> tuple[dict, pd.DataFrame]:
    """Return a surface of 2 x 3 cells and its table."""
    made = [
        cell("sgd", 8.0, 3, clip_norm=c, noise_multiplier=z) for c in (0.3, 1) for z in (0.5, 1, 2)
    ]
    rows = [
        {
            "variant": f"clip_norm={c['variant']['clip_norm']}, "
            f"noise_multiplier={c['variant']['noise_multiplier']}",
            "epsilon": 8.0,
            "accuracy_mean": mean,
            "ci_low": mean - half,
            "ci_high": mean + half,
            "n": 3,
        }
        for c, mean in zip(made, means, strict=True)
    ]
    return study(made, kind="variants", figures=["surface"]), cells_of(*rows)


def test_the_best_cell_of_a_surface_with_its_rivals_and_the_ends_of_the_grid() -> None:
    [text] = budget_words.surfaces(*grid([80, 90.2, 80, 80, 91, 90.1]))
    assert text == (
        "sgd, ε = 8: best of 6 cells is clip_norm=1, noise_multiplier=1, 91.0 ± 0.5 % (n = 3); the "
        "intervals of 2 others overlap its own; it has the highest clip_norm of the grid, so that "
        "better ones may lie beyond."
    )
    [text] = budget_words.surfaces(*grid([92, 80, 80, 80, 80, 80], half=math.nan))
    assert "without intervals to compare" in text
    assert "the lowest clip_norm and the lowest noise_multiplier of the grid" in text


def test_only_two_numbers_make_a_surface() -> None:
    assert budget_words.surfaces(budgets(), spent_cells().iloc[:3]) == []


def test_findings_follow_the_content() -> None:
    assert len(budget_words.findings(budgets(), spent_cells().iloc[:3])) == 3
    assert len(budget_words.findings(*grid([80] * 6))) == 1
    assert budget_words.findings(study([cell("sgd", 2.0, 1)]), cells_of({})) == []
