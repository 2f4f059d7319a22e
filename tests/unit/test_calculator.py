"""The privacy calculator against closed forms and printed numbers; every mistake is one line."""

import json
import math
import sys
from bisect import bisect_right

import markdown_tables
import pytest
from closed_forms import gaussian_epsilon
from hypothesis import given
from hypothesis import strategies as st

import privacy
from dpfl.base import cli
from dpfl.base.errors import UserError
from dpfl.calculator import plans as calculator
from dpfl.contracts.schedule import Budget, Work
from dpfl.privacy import accounting, events, search
from dpfl.privacy.accountants import prv
from dpfl.privacy.filter import Filter
from dpfl.words.numerals import rounded_up

DELTA = 1e-5
SETTING = "--sample-rate 0.05 --delta 1e-5"
ROUNDS = f"{SETTING} --epsilon 1 --steps-per-round 5 --rounds 4"
SIZES = "--examples 6000 --batch-size 64 --epochs 20"
PRICE = f"epsilon {SETTING} --noise-multiplier"
NOISE = f"noise {SETTING} --epsilon"
PLAN = f"schedule {ROUNDS} --strategy"
ASKED = ("epsilon --noise-multiplier 5", "noise --epsilon 1")
SHUFFLED = [f"{line} {SIZES} --delta 1e-5 --sampling shuffled" for line in ASKED]


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Return a function that runs the driver; what it prints, and the one line if it stops."""

    def call(line: str) -> str:
        keeps = line.startswith(("noise", "schedule")) and "cache" not in line
        cache = ["--cache", str(tmp_path / "cache")] if keeps else []
        monkeypatch.setattr(sys, "argv", ["privacy.py", *line.split(), *cache])
        try:
            cli.main(privacy.main)
        except SystemExit as stop:
            printed = capsys.readouterr()
            assert printed.out == printed.err == ""
            return str(stop.code)
        printed = capsys.readouterr()
        assert printed.err == ""
        return printed.out

    return call


def rows_of(text: str) -> list[dict]:
    """Read the answer for machines."""
    return json.loads(text)["rows"]


def table_of(text: str) -> list[dict]:
    """Read the table for people."""
    head, rows = markdown_tables.read(text)
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_every_accountant_bounds_the_closed_form_without_sampling(run):
    text = run("epsilon --sample-rate 1 --noise-multiplier 9 --steps 25 --delta 1e-5 --json")
    found = {row["accountant"]: row["epsilon"] for row in rows_of(text)}
    exact = gaussian_epsilon(5 / 9, DELTA)
    assert next(iter(found)) == "pld" and set(found) == set(calculator.accountants())
    assert found["gaussian"] == pytest.approx(exact, rel=1e-6)
    assert exact <= found["pld"] <= exact + 2e-4
    assert exact < found["prv"] < exact + 0.03
    assert exact < found["rdp"] < found["classic-rdp"] < 1.5 * exact


def test_an_accountant_that_does_not_apply_says_so(run):
    line = f"epsilon {SETTING} --noise-multiplier 2 --steps 20"
    table = {row["accountant"]: row for row in table_of(run(line))}
    assert table["gaussian"]["ε"] == ""
    assert table["gaussian"]["remark"].startswith("not applicable: gaussian cannot price these ste")
    assert table["pld"]["remark"] == "the certificate"
    asked = rows_of(run(f"{line} --accountant rdp gaussian --json"))
    assert [row["accountant"] for row in asked] == ["rdp", "gaussian"]
    assert asked[1]["epsilon"] is None and "without sampling" in asked[1]["reason"]


def test_sizes_of_a_data_set_are_rate_and_steps(run):
    """methods: 10 clients of 6,000 examples, batches of 64, 20 epochs."""
    line = "epsilon --noise-multiplier 1.173 --delta 1e-5 --accountant pld --json"
    sizes = json.loads(run(f"{line} {SIZES}"))
    direct = json.loads(run(f"{line} --sample-rate {64 / 6000} --steps 1860"))
    assert (sizes["sample_rate"], sizes["steps"]) == (64 / 6000, 1860)
    assert sizes["rows"][0]["epsilon"] == direct["rows"][0]["epsilon"]
    assert sizes["rows"][0]["epsilon"] == pytest.approx(2, abs=5e-3)


def test_a_table_is_the_cross_product(run):
    line = "noise --epsilon 1 2 --sample-rate 0.05 1 --steps 10 --delta 1e-5 --json --no-cache"
    rows = rows_of(run(line))
    settings = [(row["sample_rate"], row["steps"], row["target"]) for row in rows]
    assert settings == [(0.05, 10, 1), (0.05, 10, 2), (1, 10, 1), (1, 10, 2)]
    for row in rows:
        assert (1 - 1e-3) * row["target"] <= row["epsilon"] <= row["target"]
        given = (row["sample_rate"], row["noise_multiplier"], row["steps"])
        assert row["epsilon"] == accounting.epsilon(*given, DELTA)


def test_the_noise_of_another_accountant_is_certified_beside_it(run):
    line = f"noise {SETTING} --epsilon 1 --steps 10 --accountant rdp"
    (row,) = rows_of(run(f"{line} --json"))
    assert row["certified"] < row["epsilon"] <= 1
    assert table_of(run(line))[0]["ε certified (pld)"] == rounded_up(row["certified"])


NUMBERS = {"steps": "steps", "noise multiplier": "noise_multiplier"}


@pytest.mark.parametrize(
    ("line", "columns"),
    [
        (
            f"{PRICE} 2 --steps 20 --accountant pld rdp",
            {"accountant": "accountant", "ε": "epsilon"},
        ),
        (
            f"{NOISE} 1 1.5 --steps 10",
            {"q": "sample_rate", "target ε": "target", "ε (pld)": "epsilon", **NUMBERS},
        ),
        (
            f"rounds {SETTING} --epsilon 1 --noise-multiplier 2 --steps-per-round 3",
            {"rounds": "rounds", "steps": "steps"},
        ),
        (f"{PLAN} uniform", {"round": "round", **NUMBERS}),
        (SHUFFLED[0], {"adjacency": "adjacency", "ε": "epsilon"}),
        (SHUFFLED[1], {"target ε": "target", **NUMBERS}),
    ],
    ids=lambda value: value.split()[0] if isinstance(value, str) else "",
)
def test_table_and_json_say_the_same(run, line, columns):
    table, rows = table_of(run(line)), rows_of(run(f"{line} --json"))
    assert len(table) == len(rows)
    for shown, row in zip(table, rows, strict=True):
        for head, key in columns.items():
            value = row[key]
            assert shown[head] == (rounded_up(value) if isinstance(value, float) else str(value))


@pytest.mark.parametrize("line", ["epsilon --noise-multiplier 0 --steps 3", "rounds --epsilon 1"])
def test_the_answer_says_what_it_means(run, line):
    more = "--noise-multiplier 2" if line.startswith("rounds") else "--accountant pld"
    told = json.loads(run(f"{line} {SETTING} {more} --json"))
    assert (told["unit"], told["adjacency"]) == ("example", "add-or-remove-one")
    assert (told["sampling"], told["delta"]) == ("poisson", 1e-5)
    text = run(f"{line} {SETTING} {more}")
    assert "one example, added or removed" in text and "Poisson" in text


@pytest.mark.parametrize("line", SHUFFLED)
def test_every_adjacency_of_a_sampling_has_a_row(run, line):
    told = json.loads(run(f"{line} --json"))
    assert "a new order" in run(line) and told["sampling"] == "shuffled" and "adjacency" not in told
    assert [row["adjacency"] for row in told["rows"]] == ["zero-out", "replace-one"]
    assert {row["accountant"] for row in told["rows"]} == {"gaussian"}


def test_no_noise_costs_infinity(run):
    line = f"epsilon {SETTING} --noise-multiplier 0 --steps 3 --accountant pld"
    assert rows_of(run(f"{line} --json"))[0]["epsilon"] == "inf"
    assert table_of(run(line))[0]["ε"] == "∞"


def test_a_shown_epsilon_never_exceeds_the_target_it_meets(run):
    (row,) = table_of(run(f"noise {SETTING} --epsilon 1.00001 --steps 10"))
    assert float(row["ε (pld)"]) <= 1.00001


def test_rounds_are_the_last_that_fit(run):
    last, beyond = rows_of(
        run(f"rounds {SETTING} --epsilon 1 --noise-multiplier 2 --steps-per-round 3 --json")
    )
    assert beyond["rounds"] == last["rounds"] + 1 and beyond["steps"] == last["steps"] + 3
    assert last["epsilon"] == accounting.epsilon(0.05, 2.0, last["steps"], DELTA) <= 1
    assert beyond["epsilon"] == accounting.epsilon(0.05, 2.0, beyond["steps"], DELTA) > 1


def test_a_budget_below_one_step_buys_none(run):
    nothing, one = rows_of(run(f"rounds {SETTING} --epsilon 0.1 --noise-multiplier 1 --json"))
    assert (nothing["steps"], nothing["epsilon"]) == (0, 0)
    assert one["steps"] == 1 and one["epsilon"] > 0.1


@given(
    power=st.floats(0.3, 2),
    free=st.integers(0, 50),
    budget=st.floats(0.01, 50),
    guess=st.integers(1, 3000),
)
def test_the_search_for_the_most_finds_it_from_any_guess(power, free, budget, guess):
    """Prices may be zero at first, as those of few steps are."""

    def price(count: int) -> float:
        return max(0.0, 1e-2 * (count - free)) ** power

    expected = bisect_right(range(10**8), budget, key=price) - 1
    assert calculator._most(price, budget, guess, 10**8) == expected


def test_uniform_spends_all_of_the_budget_evenly(run):
    rows = rows_of(run(f"schedule {ROUNDS} --strategy uniform --json"))
    assert [(row["round"], row["steps"]) for row in rows] == [(n, 5) for n in (1, 2, 3, 4)]
    noise = search.noise_multiplier(0.05, 20, 1.0, DELTA)
    assert {row["noise_multiplier"] for row in rows} == {noise}
    spent = [accounting.epsilon(0.05, noise, steps, DELTA) for steps in (5, 10, 15, 20)]
    assert [row["epsilon"] for row in rows] == pytest.approx(spent, abs=2e-4)
    assert rows[-1]["epsilon"] == spent[-1]


@pytest.mark.parametrize("name", ["decay", "growth"])
def test_unequal_rounds_of_full_batches_follow_the_closed_form(run, name):
    plan = "--sample-rate 1 --delta 1e-5 --epsilon 1 --steps-per-round 2 --rounds 3"
    line = f"schedule {plan} --strategy {name} --setting shape=geometric ratio=4 --json"
    rows = rows_of(run(line))
    weights = [row["noise_multiplier"] ** -2 for row in rows]
    assert sorted(weights, reverse=name == "decay") == weights
    assert max(weights) / min(weights) == pytest.approx(4)
    costs = [gaussian_epsilon(math.sqrt(2 * sum(weights[: n + 1])), DELTA) for n in range(3)]
    assert [row["epsilon"] for row in rows] == pytest.approx(costs, abs=1e-3)
    assert costs[-1] == pytest.approx(1, rel=1e-3)
    assert rows_of(run(line)) == rows  # from the cache


def test_rounds_that_are_not_paid_have_no_noise(run):
    line = f"schedule {ROUNDS} --strategy constant --setting noise_multiplier=1.2"
    rows = rows_of(run(f"{line} --json"))
    paid = search.affordable_steps(Work(0.05, 4, 5), ((1.2, 20),), Budget(1.0, DELTA))
    assert 0 < paid <= 15 and sum(row["steps"] for row in rows) == paid
    assert rows[-1]["noise_multiplier"] is None
    assert table_of(run(line))[-1]["noise multiplier"] == ""


def test_adaptive_tells_what_is_fixed_in_advance(run):
    settings = "--setting save=0.5 spend=2 agreement=0"
    line = f"schedule {ROUNDS} --strategy adaptive {settings}"
    told = json.loads(run(f"{line} --json"))
    (first,) = told["rows"]
    assert first["round"] == 1 and first["noise_multiplier"] > 0 and first["epsilon"] is None
    record = {"client": 0, "rounds": [1, 2, 3, 4], "steps_per_round": 5, "filter": told["filter"]}
    assert Filter({"clients": [record]}).noise_multiplier(0) == first["noise_multiplier"]
    text = run(line)
    assert f"order {told['filter']['order']:g};" in text
    assert f"{told['filter']['budget']:.6g}" in text
    assert "decided while training" in text


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("epsilonn", "invalid choice: 'epsilonn'"),
        (f"{NOISE} 1 0 --steps 1", "epsilon is 0.0, must be in (0, 1000]"),
        (f"{NOISE} 1 --steps 1 --cache {__file__}", "expected a folder"),
        (f"{NOISE} 1 --steps 1 --participations 2", "--participations 2 without --sampling"),
        (f"{NOISE} 1 --steps 1 --setting bands=2", "--setting bands=2 without --factorization"),
        (f"{NOISE} 1 --steps 1 --accountant rdp --sampling poisson", "each adjacency has one acc"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_else_is_printed(run, line, told):
    """The mistakes are those of bad_input."""
    said = run(line)
    assert said.startswith("error: ") and told in said and "\n" not in said


def test_opacus_is_loaded_without_torch_and_forgotten(monkeypatch):
    """Afterwards the real packages can be imported, and give the same number."""
    for name in [name for name in sys.modules if name.split(".")[0] == "opacus"]:
        monkeypatch.delitem(sys.modules, name)
    prv._accountant_class.cache_clear()
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "torch", None)  # importing it would fail
        light = prv.epsilon(events.poisson_gaussian(0.05, 2.0, 20), DELTA)
    assert not [name for name in sys.modules if name.split(".")[0] == "opacus"]
    accountants = pytest.importorskip("opacus.accountants")
    real = accountants.PRVAccountant()
    real.history = [(2.0, 0.05, 20)]
    assert light == real.get_epsilon(DELTA)


def test_prv_prices_noise_that_changes():
    event = events.varying(0.05, [(2.0, 10), (3.0, 5)])
    found = prv.epsilon(event, DELTA)
    assert found == pytest.approx(accounting.epsilon_of(event, DELTA), abs=0.02)
    plain = prv.epsilon(events.varying(0.05, [(2.0, 10), (2.0, 5)]), DELTA)
    assert plain == prv.epsilon(events.poisson_gaussian(0.05, 2.0, 15), DELTA) > found


@pytest.mark.parametrize("z", [8.0, 17.0])
def test_prv_is_near_pld_where_epsilon_is_small(z):
    event = events.poisson_gaussian(256 / 60_000, z, 234)
    exact = accounting.epsilon_of(event, DELTA)
    assert exact < prv.epsilon(event, DELTA) < 1.06 * exact


def test_prv_refuses_what_its_grid_cannot_hold():
    with pytest.raises(UserError, match=r"its sums do not resolve delta 1e-13; rdp shows at most"):
        prv.epsilon(events.poisson_gaussian(0.00033, 4.0, 10_000), 1e-13)
    with pytest.raises(UserError, match=r"PRV cannot price 1000000000 steps here: it needs"):
        prv.epsilon(events.poisson_gaussian(1e-6, 1.0, 10**9), DELTA)
