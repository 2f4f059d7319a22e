"""The mean of updates without clip and noise: a control, and what nothing is proven of."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpfl import plugins
from dpfl.contracts.federation import Cohort
from dpfl.contracts.release import Unproven

UPDATES = arrays(float, (4, 5), elements=st.floats(-9, 9, width=32))


def mean_of(name, updates, clip_norm=0.7, noise=0.0):
    """Return the mean that a mechanism makes of updates, three clients expected."""
    made = plugins.load("mechanisms", name).build({"rule": "fixed", "clip_norm": clip_norm})
    cohort = Cohort(torch.zeros(5, dtype=torch.float64), 3.0, [slice(0, 5)], [1] * len(updates))
    rows = [torch.from_numpy(row) for row in updates]

    def normal(size):
        return torch.full((size,), noise, dtype=torch.float64)

    return made.aggregate(rows, cohort, noise_multiplier=1.0, normal=normal).numpy()


@given(UPDATES, st.floats(-5, 5))
def test_neither_noise_nor_bound_change_the_mean(updates, noise):
    found = mean_of("fedavg-unprotected", updates, 1e-3, noise)
    np.testing.assert_allclose(found, updates.sum(0) / 3, atol=1e-12)


@given(UPDATES)
def test_it_is_dp_fedavg_at_a_bound_that_nothing_reaches(updates):
    found, bounded = (mean_of(name, updates, 25) for name in ("fedavg-unprotected", "dp-fedavg"))
    np.testing.assert_allclose(found, bounded, atol=0.01)  # dp-fedavg rounds to a grid of its noise


def test_nothing_is_proven_and_whole_clients_are_its_unit():
    file = plugins.load("mechanisms", "fedavg-unprotected")
    assert file.UNIT == "client"
    assert isinstance(file.build({"rule": "fixed", "clip_norm": 1}).release(1.0, 3.0), Unproven)
