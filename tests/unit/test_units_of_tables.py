"""Epsilons of whole clients and of examples, and who certifies them."""

from pathlib import Path

import pandas as pd
from refusals import refuses
from synthetic import cell
from tabled import INF, study_of

from dpfl.report import values
from dpfl.tables import rendering, results
from dpfl.words import cell_words


def test_an_epsilon_that_is_a_label_stands_beside_what_all_steps_are_charged(
    tmp_path: Path,
) -> None:
    cells = [cell("sgd", 2.0, 2, budget=b) for b in ("uniform", "label")]

    def outcome(own: dict, seed: int) -> dict:
        spent = 31.4159 if "label" in own["runs"][0] else 1.99
        return {"eps_certified": None, "epsilon_spent": spent}

    *_, table = study_of(tmp_path, cells, outcome)
    shown = [cell_words.claimed(own) for _, own in table.iterrows()]
    assert shown == ["2", "2 (all steps are charged 31.4)"]


def client_cells(tmp_path: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the cells and comparisons of a study that protects whole clients."""
    pairs = [(n, e) for n in (20, 400) for e in (2.0, INF)]
    cells = [cell("sgd", e, 2, clients=n) | {"unit": "client"} for n, e in pairs]
    *_, compared, table = study_of(tmp_path, cells, baseline={"clients": 20})
    return table, compared


def test_epsilons_of_whole_clients_have_heads_of_their_own(tmp_path: Path) -> None:
    table, compared = client_cells(tmp_path / "runs")
    rendering.write(tmp_path / "main", table, rendering.columns_of(table, "cells"))
    rendering.write(tmp_path / "compared", compared, rendering.columns_of(compared, "comparisons"))
    heads = (tmp_path / "main.md").read_text().splitlines()[0]
    assert [h.strip() for h in heads.strip("|").split("|") if "ε" in h] == [
        *("ε (client)", "ε claimed (client)", "ε certified (client)", "ε audited (client)")
    ]
    tex = (tmp_path / "main.tex").read_text()
    assert r"$\varepsilon$ certified (client)" in tex
    assert "| ε (client) |" in (tmp_path / "compared.md").read_text()
    assert rendering.grid(table, ["clients"])[0] == [
        *("method", "clients", "ε = 2 (client)", "non-private")
    ]


def test_tables_say_who_certifies_each_row(tmp_path: Path) -> None:
    cells = [cell("sgd", 8.0, 2, budget=b) for b in ("uniform", "adaptive")]
    filtered = {"accountant": "rdp-filter", "eps_certified": 7.8}

    def outcome(own: dict, seed: int) -> dict:
        return filtered if own["variant"]["budget"] == "adaptive" else {}

    *_, table = study_of(tmp_path, cells, outcome)
    rendering.write(tmp_path / "main", table, rendering.columns_of(table, "cells"))
    lines = (tmp_path / "main.md").read_text().splitlines()
    shown = [[text.strip() for text in line.split("|")] for line in lines]
    at = shown[0].index("ε certified")
    assert [line[at : at + 2] for line in (shown[0], *shown[2:])] == [
        ["ε certified", "certified by"],
        ["7.992", "pld"],
        ["7.8", "rdp-filter"],
    ]


def test_csv_heads_do_not_depend_on_the_unit(tmp_path: Path) -> None:
    table, compared = client_cells(tmp_path / "runs")
    rendering.write(tmp_path / "main", table, rendering.columns_of(table, "cells"))
    back = values.read(tmp_path / "main.csv")
    assert set(back.columns) - {"clients"} == set(results.declared("cells"))
    assert set(back["unit"]) == set(compared["unit"]) == {"client"}


def test_two_units_never_share_a_table(tmp_path: Path) -> None:
    table, _ = client_cells(tmp_path / "runs")
    mixed = pd.concat([table, table.assign(unit="example")])
    for shown in (lambda: rendering.grid(mixed, []), lambda: rendering.write(tmp_path, mixed, {})):
        refuses("units client and example", shown)
