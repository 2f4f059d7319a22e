"""Which runs train in one job: all of them once, in packs of about the size asked for."""

import re
from graphlib import TopologicalSorter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfl.planning import estimate, naming, packs, plan

LONG = {"minutes": 1000, "cores": 1}


@pytest.mark.parametrize("pack", [{"minutes": 0.5, "cores": 1}, {"minutes": 3, "cores": 4}, LONG])
def test_every_run_is_in_one_pack_that_is_no_longer_than_asked(planned, pack):
    made = packs.packs(planned, pack, planned.runs)
    assert sorted(run for runs in made.values() for run in runs) == sorted(planned.runs)
    for runs in made.values():
        whole = [estimate.seconds(planned.runs[run]["settings"]) for run in runs]
        seconds = [each - estimate.STARTUP_SECONDS for each in whole]  # of one process
        assert len(runs) == 1 or sum(seconds) <= 60 * pack["minutes"] * pack["cores"]
        assert len(runs) <= packs.MOST


def test_a_pack_never_waits_for_a_tuning_of_its_own_runs(planned):
    """What trains before what: an order exists only if no pack waits for itself."""
    made = packs.packs(planned, LONG, planned.runs)
    pack_of = {run: name for name, runs in made.items() for run in runs}
    order = TopologicalSorter()
    for run in planned.runs:
        order.add(pack_of[run], *(pack_of[trial] for trial in plan.trials_of(planned, run)))
    assert {*order.static_order()} == {*made}


@pytest.mark.parametrize("pack", [{"minutes": 0, "cores": 1}, {"minutes": 0.01, "cores": 8}])
def test_long_runs_have_a_job_each(planned, pack):
    assert packs.packs(planned, pack, planned.runs) == {run: [run] for run in planned.runs}


def test_what_is_done_moves_no_other_run(planned):
    whole = packs.packs(planned, LONG, planned.runs)
    done = set(list(planned.runs)[::2])
    left = {name: [run for run in runs if run not in done] for name, runs in whole.items()}
    assert packs.packs(planned, LONG, planned.runs.keys() - done) == left


def test_a_run_more_leaves_the_packs_before_it_as_they_are(planned):
    """So that adding a method to a study trains its runs alone."""
    names = list(planned.runs)[:9]
    cost = dict.fromkeys([*names, "new"], 10.0)
    before = list(packs._chunks(names, cost, 30))
    after = list(packs._chunks([*names, "new"], cost, 30))
    assert after == [*before, ["new"]]


@given(st.lists(st.floats(0.1, 100), max_size=100), st.floats(1, 200))
def test_cutting_keeps_the_order(costs, limit):
    names = [str(number) for number in range(len(costs))]
    chunks = list(packs._chunks(names, dict(zip(names, costs, strict=True)), limit))
    assert [name for chunk in chunks for name in chunk] == names


ENDS = st.text("0123456789abcdef", min_size=8, max_size=8)
NAMES = st.lists(st.tuples(st.sampled_from(["digits-sgd-eps0.5-s0", "a"]), ENDS), unique=True)


@given(NAMES, st.data())
def test_a_pattern_matches_the_wanted_names_alone(parts, data):
    names = [f"{head}-{end}" for head, end in parts]
    wanted = [name for name in names if data.draw(st.booleans())]
    pattern = re.compile(f"runs/({naming.pattern(wanted, names)})/summary.json")
    found = [name for name in names if pattern.fullmatch(f"runs/{name}/summary.json")]
    assert found == wanted
