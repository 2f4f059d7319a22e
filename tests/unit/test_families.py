"""Families of methods: each method has one; readers can tell these and data sets apart."""

import itertools
from collections import Counter

import numpy as np
import pytest
import yaml
from matplotlib.colors import to_rgb

from dpfl.figures import datasets, families, looks

WHITE = 1.0
LEAST_CONTRAST = 3.0
"""Of graphical objects, WCAG 2.1, criterion 1.4.11."""
LEAST_DISTANCE = 16.0
"""In CIE 1976 L*a*b*, where about 2.3 can just be seen."""
SIMULATED = {  # Machado, Oliveira and Fernandes (2009), severity 1.0, on linear RGB
    "none": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def linear(colour: str) -> np.ndarray:
    """Linear RGB of an sRGB colour."""
    value = np.array(to_rgb(colour))
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def contrast(colour: str) -> float:
    return (WHITE + 0.05) / (XYZ[1] @ linear(colour) + 0.05)


def lab(colour: str, sight: str) -> np.ndarray:
    """CIE L*a*b* of a colour as some reader sees it, white D65."""
    seen = np.clip(np.array(SIMULATED[sight]) @ linear(colour), 0, 1)
    ratio = XYZ @ seen / (XYZ @ np.ones(3))
    f = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio * 841 / 108 + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_every_method_of_the_papers_has_exactly_one_family_and_no_other_has_any(root):
    files = [*root.glob("workflow/papers/*/studies.yaml"), root / "workflow/components.yaml"]
    read = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in files]
    defined = {name for own in read for name in own.get("methods", {})}
    members = Counter(name for family in families.declared().values() for name in family.methods)
    assert {"sgd", "fsdp-central"} <= defined and members == Counter(defined)


def test_no_two_methods_look_or_are_called_alike():
    found = families.declared().values()
    assert len({family.marker for family in found}) == len(found)
    names = [name for family in found for name in family.methods]
    assert len({looks.of_method(name) for name in names}) == len(names)
    assert len({families.title(name) for name in names}) == len(names)


@pytest.mark.parametrize("sight", SIMULATED)
def test_families_are_apart_for_every_reader_and_from_what_is_printed(sight):
    colours = {name: family.colour for name, family in families.declared().items()}
    colours["printed"] = looks.PRINTED["color"]
    for (one, first), (other, second) in itertools.combinations(colours.items(), 2):
        distance = np.linalg.norm(lab(first, sight) - lab(second, sight))
        assert distance >= LEAST_DISTANCE, f"{one} and {other}: {distance:.1f}"


def test_every_shade_stands_out_from_white():
    for family in families.declared().values():
        for name in family.methods:
            assert contrast(looks.of_method(name).colour) >= LEAST_CONTRAST, name


def test_a_method_keeps_its_look_in_all_papers():
    one = {"cells": [{"method": "fsdp-central"}], "method_numbers": {"fsdp-central": 3}}
    other = {"cells": [{"method": "x"}, {"method": "fsdp-central"}]}
    assert looks.of_study(one)["fsdp-central"] == looks.of_study(other)["fsdp-central"]
    assert looks.of_study(other)["x"] == looks.look(0)


@pytest.mark.parametrize(
    "text, told",
    [
        ("cadabelief against sgd, ε 8", "CAdabelief against SGD, ε 8"),
        ("against dp-fedavg-median", "against DP-FedAvg with median clipping"),
        ("sgd, budget=decay (not certified)", "SGD, budget=decay (not certified)"),
        ("fsdp-central, mechanism=dpsgd", "central FSDP, mechanism=dpsgd"),
        ("strong", "strong DP-SGD"),
        ("a strong method alongside others", "a strong method alongside others"),
        ("ablation-c against ablation (2 fail), ε 2", "C against no part (2 fail), ε 2"),
        ("whitened against strong", "whitened features against strong DP-SGD"),
        ("a test is strong, not against strongly", "a test is strong, not against strongly"),
        ("my-sgd against sgd-mine, nonsgd and SGD", "my-sgd against sgd-mine, nonsgd and SGD"),
    ],
)
def test_a_text_names_methods_by_their_titles(text, told):
    assert families.named(text) == told


@pytest.mark.parametrize("method", [m for one in families.declared().values() for m in one.methods])
def test_a_title_is_not_given_twice(method):
    assert families.named(families.title(method)) == families.title(method)


def test_what_has_no_family_shares_neither_colour_nor_marker_and_keeps_its_number() -> None:
    cells = [{"method": method} for method in "abcdefghij"]
    found = looks.of_study({"cells": cells})
    assert found == looks.numbered("abcdefghij") and len(found) == 10
    for part in ("colour", "marker"):
        assert len({getattr(look, part) for look in found.values()}) == 10
    assert len({looks.look(number) for number in range(100)}) == 100
    numbers = {"h": 7, "c": 2}
    other = looks.of_study({"cells": [cells[0], cells[7], cells[2]], "method_numbers": numbers})
    assert [*other.items()] == [("c", found["c"]), ("h", found["h"]), ("a", looks.look(8))]
    assert list(looks.numbered(["b", "a", "b"])) == ["b", "a"]


@pytest.mark.parametrize(
    "name, title",
    [
        ("mnist", "MNIST"),
        ("cifar10-patches-scatter", "patch and scattering features of CIFAR-10"),
    ],
)
def test_a_data_set_is_called_for_readers(name, title):
    assert datasets.title(name) == title
