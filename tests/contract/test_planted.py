"""The replay names what is wrong with mechanisms of one known fault, and nothing in sound ones."""

import pytest
from planted import FAULTY, OF_EXAMPLES_ALONE, SOUND
from replay import check, correlation
from test_replay import BATCHES, UNITS


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
@pytest.mark.parametrize("mechanism", SOUND)
def test_a_sound_mechanism_has_nothing_wrong(mechanism, unit):
    assert check(mechanism, unit(), BATCHES.values()) == []
    assert abs(correlation(mechanism, unit())) < 0.2


@pytest.mark.parametrize(
    ("mechanism", "unit"),
    [
        pytest.param(fault, unit, id=f"{fault.__name__}-{name}")
        for fault in FAULTY
        for name, unit in UNITS.items()
        if name == "example" or fault not in OF_EXAMPLES_ALONE
    ],
)
def test_a_fault_is_found_and_named(mechanism, unit):
    found = check(mechanism, unit(), BATCHES.values())
    assert any(FAULTY[mechanism] in reason for reason in found), found
