"""Table 4 of zhou2022: our prices against known ones, solutions against dp_accounting."""

import math

import numpy as np
import pandas as pd
import pytest
from dp_accounting.rdp import rdp_privacy_accountant as library
from papers.zhou2022.analyses import _assumptions as assumptions
from papers.zhou2022.analyses import _printed as printed_losses
from papers.zhou2022.analyses import _rows as needed_by
from papers.zhou2022.analyses import privacy_loss as analysis

from dpfl.papers import folder

SETTINGS = {
    "batch_size": 250,
    "examples": {"mnist": 60000},
    "delta": 1e-5,
    "header_delta": 1e-5,
    "other_header_delta": 1e-6,
    "releases": {"dpsgd": [1], "p3sgd": [1, 1.2, 1.5], "fsdp": [1, 1]},
    "search": {"noise_multiplier": [0.3, 100], "sample_rate": [1e-5, 1]},
}


def classic(rate: float, noise: float, steps: int, also: float = 0) -> float:
    """Price steps by dp_accounting's divergences and the conversion of Mironov (2017).

    What is released beside the steps has the divergence `also` at order 1.
    """
    orders = np.array([1 + x / 10 for x in range(1, 100)] + list(range(12, 64)))
    divergences = library._compute_rdp_poisson_subsampled_gaussian(rate, noise, orders)
    return min(steps * np.array(divergences) + also * orders + math.log(1e5) / (orders - 1))


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    return analysis.tables(SETTINGS)


def chosen(table, header: float, method: str, reading: str = assumptions.ONE) -> pd.DataFrame:
    own = (table["header_epsilon"] == header) & (table["method"] == method)
    return table[own & (table["reading"] == reading)]


def test_the_printed_table_is_that_of_the_source():
    cells = printed_losses.losses()
    assert len(cells) == len(set(cells)) == 32
    first = [cell.epsilon for cell in cells if cell[:2] == ("mnist", 4.42)]
    assert first == [1.93, 2.11, 1.88, 1.96, 2.71, 2.87, 2.65, 2.82]
    last = [cell.epsilon for cell in cells if cell[:2] == ("cifar10", 1.32) and cell.epochs == 50]
    assert last == [0.31, 0.39, 0.3, 0.35]
    assert {cell.method for cell in cells} | {cell.dataset for cell in cells} <= set(
        printed_losses.NAMES
    )


@pytest.mark.parametrize(
    ("noise", "prices"),
    [
        *((1.1, (1.933, 2.707)), (1.0961, (1.948, 2.723))),
        *((3.670, (0.438, 0.620)), (2.2, (0.766, 1.085))),
    ],
)
def test_known_prices_of_25_and_50_epochs(noise, prices):
    assumed = assumptions.Assumptions.read(SETTINGS)
    found = [assumed.classic(250 / 60000, noise, epochs) for epochs in (25, 50)]
    assert found == pytest.approx(prices, abs=5e-4)
    assert found == pytest.approx([classic(250 / 60000, noise, n) for n in (6000, 12000)])
    quick = [assumed.quick(250 / 60000, noise, epochs) for epochs in (25, 50)]
    assert quick == pytest.approx(found, rel=1e-9)


def test_cells_at_the_header_s_own_sigma(tables):
    table = tables[""]
    assert len(table) == 4 * (1 + 2 + 2)
    high, low = chosen(table, 4.42, "dpsgd"), chosen(table, 1.32, "dpsgd")
    assert high["sigma"].tolist() == pytest.approx([1.0961] * 2, abs=5e-5)
    assert low["sigma"].tolist() == pytest.approx([3.670] * 2, abs=5e-4)
    assert high["other_sigma"].tolist() == pytest.approx([1.2] * 2, abs=2e-3)
    assert low["other_sigma"].tolist() == pytest.approx([4.0] * 2, abs=2e-2)
    assert high["steps"].tolist() == [6000, 12000]
    assert high["classic_rdp"].round(2).tolist() == [1.95, 2.72]
    assert high["residual"].tolist() == pytest.approx([0.018, 0.013], abs=5e-4)
    assert low["residual"].tolist() == pytest.approx([0.438 - 0.76, 0.620 - 1.09], abs=5e-4)
    assert set(table["verdict"]) == {"differs"}
    assert (table["pld"] < table["classic_rdp"]).all()


def test_the_first_line_is_reproduced_at_a_fitted_sigma(tables):
    row = chosen(tables["fit"], 4.42, "dpsgd").iloc[0]
    assert row["fitted_sigma"] == 1.1
    assert [row["fitted_pld_25"], row["fitted_pld_50"]] == pytest.approx([1.4645, 2.1269], abs=2e-3)
    assert [row["pld_25"], row["pld_50"]] == pytest.approx([1.470, 2.135], abs=1e-2)
    notes = set(chosen(tables[""], 4.42, "dpsgd")["note"])
    assert notes == {"reproduced at fitted σ 1.1; 1.95 / 2.72 at the header's own σ"}


def test_every_fitting_sigma_rounds_to_what_is_printed(tables):
    fit = tables["fit"]
    for _, row in fit[fit["fitted_sigma"].notna() & (fit["reading"] == assumptions.ONE)].iterrows():
        inside = (row["lowest_sigma"] + 1e-4, row["fitted_sigma"], row["highest_sigma"] - 1e-4)
        outside = (row["lowest_sigma"] - 1e-4, row["highest_sigma"] + 1e-4)
        printed = [row["published_25"], row["published_50"]]
        for noises, expected in ((inside, True), (outside, False)):
            for noise in noises:
                found = [round(classic(250 / 60000, noise, n), 2) for n in (6000, 12000)]
                assert (found == printed) == expected, (row["method"], noise)


def test_a_pair_without_a_single_sigma_has_no_fit(tables):
    row = chosen(tables["fit"], 1.32, "dpsgd").iloc[0]
    assert math.isnan(row["fitted_sigma"]) and math.isnan(row["fitted_pld_25"])
    assert row["best_sigma"] == pytest.approx(2.2, abs=2e-3)
    assert 0.005 < row["best_miss"] < 0.006
    misses = [classic(250 / 60000, row["best_sigma"], n) for n in (6000, 12000)]
    assert misses == pytest.approx([0.76 + row["best_miss"], 1.09 - row["best_miss"]], abs=1e-4)
    assert set(chosen(tables[""], 1.32, "dpsgd")["note"]) == {""}


def test_readings_charge_one_or_all_releases(tables):
    table = tables[""]
    for method, joint in (("fsdp", 2**-0.5), ("p3sgd", (1 + 1.2**-2 + 1.5**-2) ** -0.5)):
        readings = (assumptions.ONE, assumptions.ALL)
        one, all_ = (chosen(table, 4.42, method, reading) for reading in readings)
        assert (one["noise_multiplier"] == one["sigma"]).all()
        assert all_["noise_multiplier"].tolist() == pytest.approx((joint * one["sigma"]).tolist())
        base = chosen(table, 4.42, "dpsgd")
        assert one["classic_rdp"].tolist() == base["classic_rdp"].tolist()
        found = [classic(250 / 60000, joint * 1.0961097879, n) for n in (6000, 12000)]
        assert all_["classic_rdp"].tolist() == pytest.approx(found)
    assert set(chosen(table, 4.42, "dpsgd", assumptions.ALL)["method"]) == set()


def test_solutions_give_the_printed_value_back(tables):
    joints = {"dpsgd": 1, "p3sgd": (1 + 1.2**-2 + 1.5**-2) ** -0.5, "fsdp": 2**-0.5}
    for _, row in tables["needed"].iterrows():
        joint = joints[row["method"]] if row["reading"] == assumptions.ALL else 1
        noise = row["needed_sigma"] * joint
        steps = row["epochs"] * 240
        assert classic(250 / 60000, noise, steps) == pytest.approx(row["published"], rel=1e-4)
        rate = row["needed_sample_rate"]
        found = classic(rate, row["sigma"] * joint, round(row["epochs"] / rate))
        assert found == pytest.approx(row["published"], rel=1e-3)
        assert row["needed_batch_size"] == pytest.approx(60000 * rate)


def test_what_no_setting_gives_stays_empty():
    search = SETTINGS["search"] | {"noise_multiplier": [0.3, 1.0]}
    assumed = assumptions.Assumptions.read(SETTINGS | {"search": search})
    cells = [cell for cell in printed_losses.losses() if cell.header == 1.32]
    pairs = assumptions.pairs(cells, ["mnist"], {"dpsgd": [1]})
    (row,) = needed_by.fits(assumed, pairs).to_dict("records")
    assert math.isnan(row["needed_sigma_25"]) and math.isnan(row["best_sigma"])
    shown = analysis.shown().COLUMNS["fit"]
    assert shown["σ needed"](pd.Series(row)) == shown["fitted σ"](pd.Series(row)) == "none"


def test_the_configured_settings_are_the_published_set_up():
    settings = folder.load("zhou2022").content["analyses"]["privacy-loss"]["settings"]
    analysis.check(settings)
    assert settings["examples"] == {"mnist": 60000, "cifar10": 50000}
    assert settings["releases"] == SETTINGS["releases"] | {"pdpsgd": [1]}
    own = {"examples": SETTINGS["examples"], "releases": SETTINGS["releases"]}
    assert settings | own == SETTINGS


def test_figure_holds_the_numbers_of_the_table(tables):
    figure = analysis.shown().draw(tables)
    high, low = figure.axes
    assert "MNIST, header 4.42" in high.get_title("left")
    assert "header 1.32" in low.get_title("left")
    drawn = {line.get_label(): line.get_xdata().tolist() for line in high.lines}
    own = tables[""][tables[""]["header_epsilon"] == 4.42]
    one, all_ = (own[own["reading"] == reading] for reading in (assumptions.ONE, assumptions.ALL))
    assert drawn["printed"] == one["published"].tolist()
    assert drawn["classic RDP, as one release"] == one["classic_rdp"].tolist()
    assert drawn["PLD (tight, rounded up), all releases charged"] == all_["pld"].tolist()
    names = [label.get_text() for label in high.get_yticklabels()]
    assert names[:2] == ["DP-SGD, 25 epochs", "DP-SGD, 50 epochs"]


def test_every_printed_loss_has_a_price_beside_it(tables):
    prices = analysis.beside_print(tables)
    by_line = printed_losses.by_line()
    one = prices[prices["reading"] == assumptions.ONE].set_index("line")
    assert {by_line[line].dataset for line in one.index} == {"mnist"}
    assert all(by_line[line].epsilon == row["printed"] for line, row in one.iterrows())
    first = next(line for line, loss in by_line.items() if loss[:4] == ("mnist", 4.42, "dpsgd", 25))
    assert one.loc[first, "ours"] == pytest.approx(1.948, abs=1e-3)
