"""The analysis `inversion`: its rows, its figure, and mistakes in its settings."""

from pathlib import Path

import pandas as pd
import pytest
from papers.meng2023.analyses import inversion
from plotted import below, ticks
from tabled import row

from dpfl import data, plugins
from dpfl.papers import folder
from dpfl.plugins import analyses

ENTRY = folder.load("meng2023").content["analyses"]["inversion"]
SETTINGS = ENTRY["settings"] | {
    "pictures": 4,
    "batch_sizes": [1, 2],
    "epsilons": [1],
    "search": {"restarts": 2, "iterations": 5, "rate": 0.2, "total_variation": 1e-3},
}


@pytest.fixture(scope="session")
def digits(tmp_path_factory) -> Path:
    source = plugins.load("data", "digits")
    path = tmp_path_factory.mktemp("data") / "digits.safetensors"
    arrays = data.read("digits", Path())
    data.write(path, arrays, source.SCALE, source.MEAN, source.STD)
    return path


@pytest.fixture(scope="module")
def tables(digits) -> dict[str, pd.DataFrame]:
    return inversion.tables(SETTINGS, "digits", digits)


def test_every_attack_meets_every_release(tables):
    cases = tables[""]
    attacked = cases[cases["batch_size"].notna()]
    tried = [("closed form", 1), ("gradient matching", 1), ("gradient matching", 2)]
    updates = ("plain", "clipped", "private")
    found = attacked[["attack", "batch_size", "update"]].itertuples(index=False, name=None)
    assert list(found) == [(*case, update) for case in tried for update in updates]
    assert len(cases) == len(attacked) + 2
    assert (cases["n"] == 4).all()
    assert len(tables["pictures"]) == 4 * len(cases)


def test_the_closed_form_reads_pixels_off_unless_there_is_noise(tables):
    for update in ("plain", "clipped"):
        found = row(tables[""], attack="closed form", update=update)
        assert found["psnr_mean"] > 90 and found["closer"] == found["labels_right"] == 4
    blurred = row(tables[""], attack="closed form", update="private")
    assert blurred["psnr_mean"] < row(tables[""], attack="none: mean picture")["psnr_mean"]
    assert blurred["noise_multiplier"] > 1 and blurred["epsilon"] == 1


def test_means_of_the_public_test_set_are_what_is_had_without_an_update(tables, digits):
    everything, source = data.load(digits), plugins.load("data", "digits")
    seen, public = (
        inputs.double() * source.STD[0] + source.MEAN[0]
        for inputs in (everything.train_inputs, everything.test_inputs)
    )
    own = tables["pictures"][tables["pictures"]["attack"] == "none: mean of the class"]
    for _, found in own.iterrows():
        mean = public[everything.test_targets == found["label"]].mean(0)
        error = float(((seen[found["example"]] - mean) ** 2).mean())
        assert 10 ** (-found["psnr"] / 10) == pytest.approx(error, rel=1e-5)


def test_the_same_settings_give_the_same_bits(tables, digits):
    again = inversion.tables(SETTINGS, "digits", digits)
    pd.testing.assert_frame_equal(again["pictures"], tables["pictures"], check_exact=True)
    other = inversion.tables(SETTINGS | {"seed": 2}, "digits", digits)
    assert set(other["pictures"]["example"]) != set(tables["pictures"]["example"])


def test_the_figure_shows_originals_over_what_was_found(tables):
    figure = inversion.shown().draw(tables)
    assert "An attack, not a proof" in below(figure)
    near, _ = " ".join(figure.get_suptitle().split()).split("; not on ")
    assert "plain gradient (100 dB)" in near
    assert [len(panel.images) for panel in figure.axes] == [2 * 3 * 4] * 3
    first = figure.axes[0]
    assert ticks(first.yaxis) == ["original", "plain\ngradient", "clipped,\nno noise", "ε = 1"]
    assert first.texts[0].get_text() == "100  1.00" and len(first.texts) == 3 * 4


def test_what_an_entry_names_is_found():
    assert analyses.inputs_of(ENTRY) == ["digits"]
    assert analyses.models_of(ENTRY) == ["mlp", "digits-cnn"]
    assert analyses.inputs_of({"settings": {}}) == analyses.models_of({"settings": {}}) == []
