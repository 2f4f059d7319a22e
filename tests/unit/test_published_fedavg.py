"""Published variants of DP-FedAvg: what their code computes, and how far one client moves it."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from fixtures_of_steps import step_of
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpfl import mechanisms, plugins
from dpfl.audit import found, trials
from dpfl.contracts.federation import Cohort
from dpfl.contracts.release import Unproven

CLIP = {"rule": "fixed", "clip_norm": 0.7}
PARTS = [slice(0, 2), slice(2, 5)]
UPDATES = arrays(float, (4, 5), elements=st.floats(-9, 9, width=32))


def none(size):
    return torch.zeros(size, dtype=torch.float64)


def mean_of(name, updates, sizes=(1, 1, 1, 1), **settings):
    """Return the mean of the updates without noise, three clients expected."""
    mechanism = plugins.load("mechanisms", name).build(CLIP, **settings)
    cohort = Cohort(torch.zeros(5, dtype=torch.float64), 3.0, PARTS, sizes)
    rows = [torch.from_numpy(row) for row in updates]
    return mechanism.aggregate(rows, cohort, noise_multiplier=1.0, normal=none).numpy()


@given(UPDATES)
def test_every_tensor_has_the_clip_norm_for_itself(updates):
    total = np.zeros(5)
    for row in updates:
        for part in PARTS:
            total[part] += row[part] * min(1, 0.7 / max(np.linalg.norm(row[part]), 1e-300))
    np.testing.assert_allclose(mean_of("fedavg-by-tensor", updates), total / 3, atol=1e-12)


@given(UPDATES, st.sampled_from(["median", "mean"]))
def test_thresholds_are_of_raw_norms(updates, of):
    for by_tensor, parts in ((True, PARTS), (False, [slice(0, 5)])):
        total = np.zeros(5)
        for part in parts:
            norms = np.linalg.norm(updates[:, part], axis=1)
            threshold = getattr(np, of)(norms)
            for row, norm in zip(updates, norms, strict=True):
                total[part] += row[part] * min(1, threshold / norm) if norm else 0
        made = mean_of("fedavg-raw-threshold", updates, of=of, by_tensor=by_tensor)
        np.testing.assert_allclose(made, total / 3, atol=1e-9)


@given(UPDATES)
def test_the_inverted_clip_divides_by_what_it_should_not(updates):
    """`factor = norm / median; factor[factor > 1] = 1; update / factor`, for every tensor."""
    total = np.zeros(5)
    for part in PARTS:
        norms = np.linalg.norm(updates[:, part], axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = norms / np.median(norms)
        factor[(factor > 1) | (norms == 0)] = 1
        total[part] = (updates[:, part] / factor[:, None]).sum(0)
    np.testing.assert_allclose(mean_of("fedavg-inverted-clip", updates), total / 3, 1e-6, 1e-12)


@given(UPDATES)
def test_clients_count_by_their_examples(updates):
    sizes = [10, 20, 30, 60]
    norms = np.maximum(np.linalg.norm(updates, axis=1), 1e-300)
    clipped = updates * np.minimum(1, 0.7 / norms)[:, None]
    made = mean_of("fedavg-by-size", updates, sizes)
    np.testing.assert_allclose(made, np.array(sizes) / 30 @ clipped / 3, atol=1e-12)


MOVED = {
    ("dp-fedavg",): (1, 1),
    ("fedavg-by-tensor",): (math.sqrt(2), math.sqrt(2)),
    ("fedavg-raw-threshold", "median"): (1e3, math.inf),
    ("fedavg-raw-threshold", "mean"): (1e3, math.inf),
    ("fedavg-inverted-clip",): (1e6, math.inf),
    ("fedavg-by-size",): (2, 2 * trials.LARGER),  # who else is there counts less, too
}


@pytest.mark.parametrize("key", MOVED, ids=" ".join)
def test_how_far_one_client_moves_what_the_noise_is_for(key):
    name, *of = key
    own = {"estimator": name} | ({"of": of[0]} if of else {})
    build = partial(mechanisms.build, {"mechanism": own, "clipping": CLIP})
    least, most = MOVED[key]
    moved = found.most(build, trials.Clients).moved
    assert least * (1 - 1e-5) <= moved <= most * (1 + 1e-5)
    unproven = isinstance(build().release(1.0, 3.0), Unproven)
    assert unproven == (name != "dp-fedavg") == (moved > 1 + 1e-5)


def test_every_tensor_is_clipped_at_the_median_of_the_batch():
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    inputs, targets = torch.randn(7, 3), torch.randint(0, 2, (7,))
    loss = torch.nn.CrossEntropyLoss(reduction="none")
    step = step_of(model, inputs, targets, z=1.0, batch=5.0, normal=none)
    mechanism = plugins.load("mechanisms", "dpsgd-batch-medians").build(CLIP)
    total = torch.zeros(8)
    losses, weights = loss(model(inputs), targets), [*model.parameters()]
    rows = [torch.autograd.grad(own, weights, retain_graph=True) for own in losses]
    for number, part in enumerate((slice(0, 6), slice(6, 8))):
        own = torch.stack([row[number].flatten() for row in rows])
        norms = own.norm(dim=1)
        total[part] = (own * (norms.median() / norms).clamp(max=1)[:, None]).sum(0)
    torch.testing.assert_close(mechanism.estimate(step), total / 5)
