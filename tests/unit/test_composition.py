"""Composition formulas and accountants against printed numbers, closed forms and each other."""

import json
import math
import sys

import pandas as pd
import pytest
from dp_accounting import (
    ComposedDpEvent,
    GaussianDpEvent,
    PoissonSampledDpEvent,
    SelfComposedDpEvent,
    get_epsilon_gaussian,
)
from dp_accounting.pld import common
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.rdp import RdpAccountant
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused, refuses

from dpfl.analyses import _composition_rows as rows
from dpfl.analyses import composition as analysis
from dpfl.analyses import epsilon_surface
from dpfl.base.errors import UserError
from dpfl.figures import of_analysis
from dpfl.privacy.accountants import classic_rdp, gaussian, rdp
from dpfl.privacy.composition import (
    advanced,
    basic,
    classic_sigma,
    crossover,
    optimal,
    square_root_rule,
)
from dpfl.privacy.events import poisson_gaussian, varying

SETTINGS = {
    "rounds": [1, 10, 50, 100, 200, 500, 1000],
    "slack": 1e-6,
    "mechanisms": [
        {"epsilon": 0.1, "delta": 1e-5},
        {"sample_rate": 0.02, "noise_multiplier": 0.7, "delta": 1e-5},
    ],
    "rule": {"epsilon": 1, "delta": 1e-5, "rounds": [10, 100, 1000]},
}
SURFACE = {
    "noise_multipliers": [1.0, 2, 4],
    "rounds": [1, 8],
    "sample_rates": [0.2, 1],
    "delta": 0.01,
}

# The example of composition-text: k, basic, advanced, RDP, exact at 1e-5 and at k 1e-5 + 1e-6
PRINTED = {
    1: (0.1, 0.5362, 0.0680, 0.0607, 0.0601),
    10: (1, 1.7674, 0.2367, 0.2140, 0.1703),
    50: (5, 4.2428, 0.5647, 0.5144, 0.3473),
    100: (10, 6.3082, 0.8220, 0.7510, 0.4712),
    200: (20, 9.5373, 1.1990, 1.0982, 0.6394),
    500: (50, 17.0125, 1.9821, 1.8229, 0.9596),
    1000: (100, 27.1397, 2.9148, 2.6884, 1.3111),
}

epsilons, slacks = st.floats(1e-3, 3), st.floats(1e-12, 0.1)
deltas, counts = st.floats(0, 1e-5), st.integers(1, 1000)


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    return analysis.tables(SETTINGS)


@pytest.mark.parametrize("k", PRINTED)
def test_printed_table_of_the_text_on_composition(tables, k):
    first = tables[""].iloc[list(PRINTED).index(k)]
    assert first["k"] == k
    columns = ["basic_epsilon", "advanced_epsilon", "rdp", "pld", "pld_at_advanced_delta"]
    assert [round(first[c], 4) for c in columns] == list(PRINTED[k])
    assert first["exact"] == pytest.approx(first["pld"], abs=1e-4)
    assert first["smaller_epsilon"] == min(PRINTED[k][0], first["advanced_epsilon"])
    assert (first["basic_delta"], first["advanced_delta"]) == (k * 1e-5, k * 1e-5 + 1e-6)


def test_every_bound_is_above_the_truth(tables):
    for _, row in tables[""].iterrows():
        for column in ("smaller_epsilon", "classic_rdp", "rdp", "prv"):
            assert row[column] >= row["pld"] - 1e-4, (row["mechanism"], row["k"], column)
        assert row["pld_at_advanced_delta"] <= row["optimal_epsilon"] + 1e-4
        assert row["optimal_epsilon"] <= row["smaller_epsilon"]
    assert tables[""]["exact"].notna().sum() == len(PRINTED)
    assert set(tables[""]["note"]) == {""}


def test_classic_noise_of_the_printed_table():
    assert classic_sigma(0.1, 1e-5) == pytest.approx(48.448, abs=5e-4)


def test_advanced_composition_helps_from_35_rounds_on(tables):
    assert crossover(0.1, 1e-6) == 35
    assert tables["crossover"]["k"].iloc[0] == 35
    assert crossover(math.log(2), 1e-6) is None


@settings(deadline=None)
@given(epsilon=st.floats(1e-3, 0.69), slack=slacks)
def test_crossover_is_the_first_round_below_basic(epsilon, slack):
    k = crossover(epsilon, slack)
    for count, below in ((k + 1, True), (k - 1, False)):
        if count:
            totals = advanced(epsilon, 0, count, slack)[0], basic(epsilon, 0, count)[0]
            assert (totals[0] < totals[1]) == below


@settings(deadline=None)
@given(epsilon=epsilons, delta=deltas, k=counts, slack=slacks)
def test_no_formula_is_below_the_best(epsilon, delta, k, slack):
    best, total = optimal(epsilon, delta, k, slack)
    formulas = basic(epsilon, delta, k)[0], advanced(epsilon, delta, k, slack)[0]
    assert total == k * delta + slack
    assert 0 <= best <= min(formulas) * (1 + 1e-9)
    # At an equal δ a round more cannot cost less; with δ > 0 more rounds come with a larger δ.
    fewer, more = (optimal(epsilon, 0, count, slack)[0] for count in (k, k + 1))
    assert fewer <= more + 1e-9


@pytest.mark.parametrize(("epsilon", "k"), [(0.1, 10), (0.1, 100), (0.7, 9), (2.0, 4)])
def test_the_best_formula_is_the_composition_of_randomized_responses(epsilon, k):
    promised = common.DifferentialPrivacyParameters(epsilon, 1e-5)
    one = pld.from_privacy_parameters(promised, value_discretization_interval=1e-2)
    best, total = optimal(epsilon, 1e-5, k, 1e-6)
    assert best == pytest.approx(one.self_compose(k).get_epsilon_for_delta(total), abs=1e-6)


def test_square_root_rule_overspends_six_times_by_the_formula(tables):
    for rounds, factor in ((10, 6.43), (100, 6.31), (1000, 6.27)):
        share = square_root_rule(1.0, 1e-5, rounds)
        assert share == (1 / math.sqrt(rounds), 1e-5 / rounds)
        assert advanced(*share, rounds, 1e-6)[0] == pytest.approx(factor, abs=5e-3)
    assert [round(x, 2) for x in tables["rule"]["overspend"]] == [6.43, 6.31, 6.27]


def test_the_rule_says_what_an_exact_accountant_allows(tables):
    for _, row in tables["rule"].iterrows():
        total = get_epsilon_gaussian(row["allowed_noise"] / math.sqrt(row["rounds"]), 1e-5)
        assert total == pytest.approx(1)
        own = get_epsilon_gaussian(row["allowed_noise"], row["delta_round"])
        assert row["allowed_epsilon_round"] == pytest.approx(own)
        exact = get_epsilon_gaussian(row["exact_noise"], row["delta_round"])
        assert exact == pytest.approx(row["epsilon_round"])
        assert row["classic_pld"] < row["exact_pld"] < row["epsilon"] < row["optimal_epsilon"]


def test_classic_rdp_is_mironovs_conversion():
    event = poisson_gaussian(1.0, 4.0, 7)
    closed = [7 * a / (2 * 4.0**2) + math.log(1e5) / (a - 1) for a in classic_rdp.ORDERS]
    assert classic_rdp.epsilon(event, 1e-5) == pytest.approx(min(closed), rel=1e-9)


def test_rdp_takes_more_orders_only_where_they_are_free():
    sampled = poisson_gaussian(0.1, 3.0, 20)
    default = RdpAccountant().compose(sampled).get_epsilon(1e-5)
    assert rdp.epsilon(sampled, 1e-5) == default
    plain = poisson_gaussian(1.0, 48.448, 1)
    assert rdp.epsilon(plain, 1e-5) < RdpAccountant().compose(plain).get_epsilon(1e-5)


@pytest.mark.parametrize("accountant", [gaussian, rdp, classic_rdp])
def test_a_composition_costs_as_much_as_its_joint_gaussian(accountant):
    varied = varying(1.0, [(2.0, 3), (5.0, 10)])
    joint = GaussianDpEvent((3 / 4 + 10 / 25) ** -0.5)
    assert isinstance(varied, ComposedDpEvent)
    assert accountant.epsilon(varied, 1e-5) == pytest.approx(accountant.epsilon(joint, 1e-5))


@pytest.mark.parametrize(
    "event",
    [
        varying(0.5, [(1.0, 3), (2.0, 4)]),
        ComposedDpEvent([GaussianDpEvent(1.0), PoissonSampledDpEvent(0.5, GaussianDpEvent(1.0))]),
        SelfComposedDpEvent(PoissonSampledDpEvent(0.5, GaussianDpEvent(1.0)), 2),
    ],
)
def test_the_closed_form_refuses_a_sampled_batch(event):
    refuses(r"gaussian cannot price .*mixture of two Gaussians", gaussian.epsilon, event, 1e-5)


test_mistakes_are_named_with_their_bound = refused(
    (lambda: basic(0.1, 1.0, 3), r"delta is 1.0, must be in \[0, 1\)"),
    (lambda: basic(-0.1, 0.1, 3), r"epsilon is -0.1, must be >= 0 and finite"),
    (lambda: basic(0.1, 0.1, 0), r"k is 0, must be a whole number >= 1"),
    (lambda: advanced(math.nan, 0.1, 2, 0.1), r"epsilon is nan"),
    (lambda: advanced(0.1, 0.1, 2, 0.0), r"slack is 0.0, must be in \(0, 1\)"),
    (lambda: crossover(0.0, 0.1), r"epsilon is 0.0, must be > 0 and finite"),
    (lambda: optimal(0.1, 0.3, 4, 0.1), r"k delta \+ slack is 1.3, must be < 1"),
    (lambda: classic_sigma(0.1, 0.0), r"delta is 0.0, must be in \(0, 1\)"),
    (lambda: square_root_rule(1.0, 0.1, 1.5), r"rounds is 1.5, must be a whole number"),
)


def failing(event, delta):
    raise UserError("PRV cannot price this")


@pytest.mark.parametrize(
    ("price", "note"),
    [(failing, "PRV cannot price this"), (lambda event, delta: math.inf, "PRV says inf")],
)
def test_a_failing_accountant_leaves_its_cell_empty_and_says_why(tables, monkeypatch, price, note):
    monkeypatch.setattr(rows.prv, "epsilon", price)
    table = rows.prices([rows.read(SETTINGS["mechanisms"][0])], [10], 1e-6)
    assert math.isnan(table["prv"][0]) and table["rdp"][0] == tables[""]["rdp"][1]
    assert table["note"][0] == note


def test_a_delta_that_reaches_one_bounds_nothing(tables, monkeypatch):
    monkeypatch.setattr(rows.prv, "epsilon", lambda event, delta: 1.0)
    row = rows.prices([rows.read({"epsilon": 2.0, "delta": 0.3})], [4], 1e-6).iloc[0]
    assert math.isnan(row["optimal_epsilon"]) and math.isnan(row["pld_at_advanced_delta"])
    assert row["note"] == f"{rows.UNPROVEN}; {rows.CERTAIN}"


def test_figure_holds_the_numbers_of_the_table(tables):
    figure = analysis.shown().draw(tables)
    epsilon, delta, other = figure.axes
    first = tables[""][tables[""]["mechanism"] == tables["crossover"]["mechanism"][0]]
    drawn = {line.get_label(): line for line in epsilon.lines}
    assert drawn["advanced (formula)"].get_ydata().tolist() == first["advanced_epsilon"].tolist()
    assert drawn["PLD (tight, rounded up)"].get_xdata().tolist() == list(PRINTED)
    assert any(list(line.get_xdata()) == [35, 35] for line in epsilon.lines)
    assert delta.lines[1].get_ydata().tolist() == first["advanced_delta"].tolist()
    assert "never" in other.texts[0].get_text()


def test_driver_writes_the_same_bytes_twice(tmp_path, monkeypatch):
    import analyse

    found = []
    for folder in (tmp_path / "once", tmp_path / "twice"):
        arguments = ["--name", "composition-text/map", "--analysis", "epsilon-surface"]
        arguments += ["--settings", json.dumps(SURFACE), "--results", str(folder)]
        monkeypatch.setattr(of_analysis, "CACHE", tmp_path / f"cache of {folder.name}")
        monkeypatch.setattr(sys, "argv", ["analyse.py", *arguments])
        analyse.main()
        found.append({str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*.*")})
    once, twice = found
    assert once == twice
    table, figure = "tables/composition-text/map", "figures/composition-text/map/epsilon-surface"
    assert {*once} == {
        *(f"{table}.{ending}" for ending in ("csv", "csv.sha256", "md", "tex")),
        *(f"{figure}.{ending}" for ending in ("png", "pdf", "txt")),
    }
    table = pd.read_csv(tmp_path / "once" / "tables" / "composition-text" / "map.csv")
    assert len(table) == 12
    assert set(table["accountant"]) == {"pld", "gaussian"}
    assert set(table["sample_rate"]) == {0.2, 1}
    whole = table[(table["sample_rate"] == 1) & (table["rounds"] == 8)]
    exact = [get_epsilon_gaussian(z / math.sqrt(8), 0.01) for z in whole["noise_multiplier"]]
    assert whole["epsilon"].tolist() == pytest.approx(exact)


def test_a_hopeless_setting_is_priced_by_its_upper_bound():
    hopeless = {"noise_multipliers": [0.5], "rounds": [1000], "sample_rates": [0.5]}
    table = epsilon_surface.tables({**hopeless, "delta": 1e-5})[""]
    assert table["accountant"].tolist() == ["rdp"] and table["epsilon"][0] > 50
