"""The tables of trials: every value that was tried, what was chosen, and what hangs on it."""

import math

import pytest
import synthetic
from synthetic import cell, study

from dpfl.base import files
from dpfl.privacy import selection
from dpfl.tables import rendering, results, study_table, trials
from dpfl.words import columns

CLIENT = {"sample_rate": 0.1, "steps_per_round": 5, "noise_multipliers": [2.0, 2.0]}
CALIBRATION = {"delta": 1e-5, "clients": [CLIENT | {"paid_steps": 10}]}


@pytest.fixture
def made(tmp_path):
    """Tables of a study: the middle rate is chosen at epsilon 2, the highest without privacy."""
    cells = [cell("sgd", 2.0, 3), cell("sgd", math.inf, 3), cell("adam", 2.0, 3)]
    cells[0] |= {"tuning": "middle", "calibration": "noise"}
    cells[1] |= {"tuning": "top", "calibration": None}
    own = study(cells)
    (tmp_path / "tunings").mkdir()
    at = {"seeds": (0, 1), "epsilon": 2.0}
    synthetic.write_tuning(tmp_path, "middle", [0.5, 0.9, 0.88, 0.4], chosen=1, **at)
    synthetic.write_tuning(tmp_path, "top", [0.5, 0.7, 0.9], chosen=2)
    files.write_json(tmp_path / "calibrations" / "noise.json", CALIBRATION)
    synthetic.write(tmp_path / "runs", cells, lambda c, s: {"accuracy": 0.9})
    runs = results.frame(own, tmp_path / "runs")
    shown = study_table.cells(own, runs)
    return own, shown, trials.tuned(own, shown, tmp_path), trials.trials(own, tmp_path)


def test_every_trial_has_a_row_and_one_of_each_cell_is_chosen(made):
    *_, tried = made
    assert len(tried) == 4 + 3
    assert tried["validation_accuracy"].tolist() == pytest.approx([50, 90, 88, 40, 50, 70, 90])
    assert tried.index[tried["chosen"]].tolist() == [1, 6]
    assert tried["seeds"].tolist() == ["0 1"] * 4 + ["0"] * 3
    assert tried["n"].tolist() == [2] * 4 + [1] * 3


def test_a_choice_has_its_distance_to_the_next_value_and_the_spread_around_it(made):
    *_, tuned, _ = made
    first = tuned.iloc[0]
    assert (first["rate"], first["runs"], first["edge"]) == (0.1, 8, "")
    assert first["factor"] == pytest.approx(10)
    assert first["spread"] == pytest.approx(40)  # 50, 90 and 88: the fourth is no neighbour


def test_a_value_of_zero_is_no_distance():
    factors = [trials._factor(chosen, [0.0, 0.1, 0.9]) for chosen in (0.1, 0.0)]
    assert factors == [pytest.approx(9), math.inf]


def test_a_choice_at_the_end_is_marked_in_the_main_table(made):
    _, shown, tuned, _ = made
    assert tuned["edge"].tolist() == ["", "rate"]
    marked = trials.marked(shown, tuned)
    _, lines = rendering.readable(marked, columns.CELLS)
    assert ["(at the edge)" in " ".join(line) for line in lines] == [False, True, False]
    _, grid = rendering.grid(marked, [])
    assert [text.endswith(" (at the edge)") for text in grid[0][1:]] == [False, True]


def test_the_price_of_the_choice_is_that_of_as_many_runs(made):
    *_, tuned, _ = made
    assert tuned["eps_selected"][0] == selection.epsilon(CALIBRATION, 8)
    assert math.isnan(tuned["eps_selected"][1])  # without a budget nothing is paid


def test_cells_that_share_trials_say_at_which_epsilon_these_ran(made, tmp_path):
    """What a choice costs is known where trials ran at the epsilon of the cell."""
    own, shown, tuned, tried = made
    assert tuned["tuned_at"].tolist() == [2, math.inf] and set(tried["tuned_at"]) == {2, math.inf}
    found = sharing(tmp_path, own["cells"][0], shown, cell("sgd", 8.0, 3))
    assert found["tuned_at"].tolist() == [2, 2]
    assert found["eps_selected"].notna().tolist() == [True, False]
    assert found["runs"].tolist() == [8, 8]


@pytest.mark.parametrize(
    ("variant", "priced"),
    [({"rounds": 8}, False), ({"batch_size": 128}, False), ({"clip_norm": 0.1}, True)],
)
def test_trials_of_another_plan_tell_no_price(made, tmp_path, variant, priced):
    """A variant that is tuned once takes values that were tried with the steps of another."""
    own, shown, *_ = made
    found = sharing(tmp_path, own["cells"][0], shown, cell("sgd", 2.0, 3, **variant))
    assert found["eps_selected"].notna().tolist() == [True, priced]


def test_one_trial_chooses_nothing_and_costs_nothing(made, tmp_path):
    own, shown, *_ = made
    synthetic.write_tuning(tmp_path, "middle", [0.5], chosen=0, epsilon=2.0)
    found = trials.tuned(own | {"cells": own["cells"][:1]}, shown, tmp_path)
    assert found["eps_selected"][0] == shown["eps_certified"][0]


def sharing(home, first, shown, other):
    """The tuned table of a cell, and of another that takes the values of its trials."""
    synthetic.write(home / "runs", [other], lambda c, s: {"accuracy": 0.9})
    other |= {"tuning": "middle", "calibration": "noise"}
    cells = shown.iloc[[0, 2]].reset_index(drop=True).assign(eps_certified=2.0)
    return trials.tuned(study([first, other]), cells, home)


def test_without_a_proof_no_price_is_told(made, tmp_path):
    own, shown, *_ = made
    unproven = shown.assign(eps_certified=math.nan)
    assert trials.tuned(own, unproven, tmp_path)["eps_selected"].isna().all()


def test_a_study_that_is_not_tuned_has_empty_tables(made, tmp_path):
    own, shown = made[0] | {"cells": made[0]["cells"][2:]}, made[1].iloc[2:]
    tuned = trials.tuned(own, shown, tmp_path)
    assert tuned.empty and trials.trials(own, tmp_path).empty
    assert trials.marked(shown, tuned)["edge"].tolist() == [""]
