"""Which runs train in one job: all of them once, in packs of about the size that is asked for."""

from graphlib import TopologicalSorter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfl.planning import compose, estimate, packs, plan

LONG = {"minutes": 1000, "cores": 1}


@pytest.fixture(scope="module")
def demo(default):
    """The plan of the default."""
    return plan.make(compose.compose(default))


@pytest.mark.parametrize("pack", [{"minutes": 0.5, "cores": 1}, {"minutes": 3, "cores": 4}, LONG])
def test_every_run_is_in_one_pack_that_is_no_longer_than_asked(demo, pack):
    made = packs.packs(demo, pack, demo.runs)
    assert sorted(run for runs in made.values() for run in runs) == sorted(demo.runs)
    for runs in made.values():
        whole = [estimate.seconds(demo.runs[run]["settings"]) for run in runs]
        seconds = [each - estimate.STARTUP_SECONDS for each in whole]  # of one process
        assert len(runs) == 1 or sum(seconds) <= 60 * pack["minutes"] * pack["cores"]
        assert len(runs) <= packs.MOST


def test_a_pack_never_waits_for_a_tuning_of_its_own_runs(demo):
    """What trains before what: an order exists only if no pack waits for itself."""
    made = packs.packs(demo, LONG, demo.runs)
    pack_of = {run: name for name, runs in made.items() for run in runs}
    order = TopologicalSorter()
    for run in demo.runs:
        order.add(pack_of[run], *(pack_of[trial] for trial in plan.trials_of(demo, run)))
    assert {*order.static_order()} == {*made}


@pytest.mark.parametrize("pack", [{"minutes": 0, "cores": 1}, {"minutes": 0.01, "cores": 8}])
def test_long_runs_have_a_job_each(demo, pack):
    assert packs.packs(demo, pack, demo.runs) == {run: [run] for run in demo.runs}


def test_what_is_done_moves_no_other_run(demo):
    whole = packs.packs(demo, LONG, demo.runs)
    done = set(list(demo.runs)[::2])
    left = {name: [run for run in runs if run not in done] for name, runs in whole.items()}
    assert packs.packs(demo, LONG, demo.runs.keys() - done) == left


def test_a_run_more_leaves_the_packs_before_it_as_they_are(demo):
    """So that adding a method to a study trains its runs alone."""
    names = list(demo.runs)[:9]
    cost = dict.fromkeys([*names, "new"], 10.0)
    before = list(packs._chunks(names, cost, 30))
    after = list(packs._chunks([*names, "new"], cost, 30))
    assert after == [*before, ["new"]]


@given(st.lists(st.floats(0.1, 100), max_size=100), st.floats(1, 200))
def test_cutting_keeps_the_order(costs, limit):
    names = [str(number) for number in range(len(costs))]
    chunks = list(packs._chunks(names, dict(zip(names, costs, strict=True)), limit))
    assert [name for chunk in chunks for name in chunk] == names
