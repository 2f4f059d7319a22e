"""The probe: sound mechanisms pass whatever they draw, and a correlation is what is declared."""

import numpy as np
import pytest
import torch
from every_mechanism import CLIP
from planted import LessTheLast, OnTheGrid, PaddedWithNoise, Sound
from probed import SOURCES, nobody, probed
from test_replay import PROVEN

from dpfl import plugins
from dpfl.audit.trials import DEEP, HALVES, Clients, Examples
from dpfl.base.errors import UserError
from dpfl.contracts.release import Release
from dpfl.draws import noise
from dpfl.training import probe
from dpfl.training.steps import Sources


def promised(label):
    declared = {
        name: plugins.constant("mechanisms", label.split(",")[0], name)
        for name in ("OWN_GRADIENTS", "NOISE_IS_Z_C")
    }
    return {"asks": not declared["OWN_GRADIENTS"], "even": declared["NOISE_IS_Z_C"]}


@pytest.mark.parametrize("z", [0.1, 1.0, 50.0])
@pytest.mark.parametrize("network", [HALVES, DEEP], ids=["narrow", "wide"])
@pytest.mark.parametrize("label", PROVEN)
def test_a_sound_mechanism_passes(label, network, z):
    build, unit = PROVEN[label]
    for kind in noise.SOURCES.values():
        probed(build, unit, network, z, Sources(kind, ("batch",), ("noise", z)), **promised(label))


@pytest.mark.parametrize("unit", [Examples, Clients])
@pytest.mark.parametrize("clip_norm", [1.0, 0.7, 2.0**-7, 1e3])
def test_the_noise_of_the_guides_base_passes_at_any_bound(unit, clip_norm):
    class Bounded(OnTheGrid):
        pass

    Bounded.clip_norm = clip_norm
    promise = probe.Promise("bounded", 1.3, clip_norm)
    probe.require_noise(promise, Bounded, nobody(unit, DEEP, 1.3), SOURCES)


class Correlated(LessTheLast):
    """Declares what it does: the draws of a step less .3 of those of the step before."""

    part = 0.3


@pytest.mark.parametrize(
    ("mechanism", "declared", "passes"),
    [
        (Correlated, (1.0, -0.3), True),
        (Correlated, (1.0,), False),
        (Correlated, (1.0, -0.25), False),
        (OnTheGrid, (1.0, -0.3), False),
        (OnTheGrid, (1.0,), True),
    ],
)
def test_a_correlation_is_compared_with_what_is_declared(mechanism, declared, passes):
    if passes:
        return probed(mechanism, Examples, correlation=declared)
    with pytest.raises(UserError, match="noise of"):
        probed(mechanism, Examples, correlation=declared)


def test_noise_so_strong_that_a_canary_is_rounded_on_its_grid_passes():
    probed(OnTheGrid, Examples, z=1e5)


def test_who_differentiates_by_itself_must_say_what_its_noise_is():
    with pytest.raises(UserError, match="does not declare NOISE_IS_Z_C"):
        probed(OnTheGrid, Examples, asks=False)


def test_without_a_proof_canaries_must_show_too():
    """Else the audit takes them for canaries that noise hides, and says 0.00."""
    promise, on = probe.Promise("planted", 1.3, CLIP), nobody(Examples, DEEP, 1.3)
    probe.require_canaries(promise, OnTheGrid(), on)
    with pytest.raises(UserError, match="the canaries in its batch do not show"):
        probe.require_canaries(promise, PaddedWithNoise(), on)


def test_a_fault_in_the_last_of_many_coordinates_is_found():
    """Of 10^6, one has the noise of its neighbour."""

    class Last(OnTheGrid):
        def drawn(self, size, normal):
            drawn = normal(size)
            drawn[-100] = drawn[-101]
            return drawn

    promise = probe.Promise("last", 1.3, CLIP)
    on = probe.client_round(torch.zeros(1_000_000), 1.3, 10.0)
    probe.require_noise(promise, OnTheGrid, on, SOURCES)
    with pytest.raises(UserError, match="not an even copy"):
        probe.require_noise(promise, Last, on, SOURCES)


def test_what_processes_share_is_probed_once():
    taken, on = [], nobody(Examples, DEEP, 1.3)

    def build():
        taken.append(1)
        return OnTheGrid()

    def take(z, build=build, *key):
        probe.require_noise(probe.Promise("shared", z, CLIP), build, on, SOURCES, *key)

    with probe.shared():
        for z in (1.3, 1.3, 1.2):
            take(z)
        assert len(taken) == 2
        with pytest.raises(UserError, match="off the grid"):
            take(1.3, Sound, "other settings")
    with pytest.raises(UserError, match="off the grid"):
        take(1.3, Sound)


def test_the_joint_noise_of_several_releases_is_what_counts():
    """Two noisy sums of one batch, each of them with the noise of a step that releases one."""

    class Twice(OnTheGrid):
        def estimate(self, step):
            return torch.stack([super(Twice, self).estimate(step) for _ in range(2)])

    with pytest.raises(UserError, match=f"of 1.3 and draws {1.3 / np.sqrt(2):.4g}"):
        probed(Twice, Examples)
    assert isinstance(Twice().release(1.3, 10.0), Release)
