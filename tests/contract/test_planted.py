"""Every fault that is planted is found and named; in sound mechanisms nothing is."""

import math

import planted
import pytest
from planted import FAULTY, OF_EXAMPLES_ALONE, PROBED, SOUND, WIDE, OnTheGrid, Sound
from probed import probed
from test_replay import BATCHES, UNITS

from dpfl.audit.found import most
from dpfl.audit.replay import check, check_widely
from dpfl.base.errors import UserError


def each_of(faults):
    return pytest.mark.parametrize(
        ("mechanism", "unit"),
        [
            pytest.param(fault, unit, id=f"{fault.__name__}-{name}")
            for fault in faults
            for name, unit in UNITS.items()
            if name == "example" or fault not in OF_EXAMPLES_ALONE
        ],
    )


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
@pytest.mark.parametrize("mechanism", SOUND)
def test_a_sound_mechanism_has_nothing_wrong(mechanism, unit):
    assert check(mechanism, unit(), BATCHES.values()) == []


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_nor_has_it_on_a_wide_network_or_before_a_run(unit):
    assert check_widely(OnTheGrid, unit) == []
    assert check_widely(Sound, unit) == []
    probed(OnTheGrid, unit)


@each_of(FAULTY)
def test_a_fault_is_found_and_named(mechanism, unit):
    found = check(mechanism, unit(), BATCHES.values())
    assert any(FAULTY[mechanism] in reason for reason in found), found


@each_of(WIDE)
def test_a_fault_that_only_a_wide_network_shows_is_found_there(mechanism, unit):
    found = check_widely(mechanism, unit)
    assert any(WIDE[mechanism] in reason for reason in found), found


MOVED = {
    Sound: 1.0,
    planted.ClippedAtTwice: 2.0,
    planted.ClippedByParameter: math.sqrt(2),
    planted.NotClipped: 1e6,
    planted.NoNoise: math.inf,
    planted.DrawsForEveryExample: math.nan,
}


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
@pytest.mark.parametrize(("mechanism", "moved"), MOVED.items())
def test_what_one_moves_is_found_in_what_the_noise_is_for(mechanism, moved, unit):
    assert most(mechanism, unit).moved == pytest.approx(moved, rel=1e-5, nan_ok=True)


@each_of(PROBED)
def test_a_fault_of_the_noise_is_found_before_a_run_releases_anything(mechanism, unit):
    with pytest.raises(UserError, match=PROBED[mechanism]) as error:
        probed(mechanism, unit)
    assert "\n" not in str(error.value)
