"""What is said about FSDP's studies follows the cells and what was printed for them."""

from pathlib import Path

import pandas as pd
import pytest
import synthetic
from synthetic import cell, study

from dpfl.report import fsdp_words
from dpfl.tables import comparisons, results, study_table


def printed(value: float, reading: str = "") -> dict:
    return {"value": value, "table": "table5", "row": "fsdp-m", "reading": reading}


@pytest.fixture
def told(tmp_path: Path) -> tuple[dict, pd.DataFrame]:
    """A study of three cells: 96, 96.5 and 97 % against 96.6 and 99; one seed against 90; none."""
    cells = [
        cell("sgd", 2.0, 3, rank=10) | {"published": [printed(96.6), printed(99.0, "only")]},
        cell("adam", 4.0, 1) | {"published": [printed(90.0)]},
        cell("adabelief", 4.0, 2) | {"published": []},
    ]
    no_proof = {"eps_certified": None, "eps_certified_reasons": ["nothing is clipped"]}
    more = {"adam": no_proof}
    synthetic.write(
        tmp_path, cells, lambda c, s: {"accuracy": 0.96 + s / 200} | more.get(c["method"], {})
    )
    made = study(cells, margin=2.0)
    runs = results.frame(made, tmp_path)
    return made, study_table.cells(made, runs, comparisons.comparisons(made, runs))


def test_every_printed_value_stands_beside_what_was_found(told: tuple) -> None:
    heads, lines = fsdp_words.beside_print(*told)
    first, second, third = (dict(zip(heads, line, strict=True)) for line in lines)
    assert first["printed, %"] == "96.6" and first["where"] == "table5, fsdp-m"
    # Student, n = 3, sd 0.5: 96.5 +- 1.24, within 96.6 +- 2, outside 99 +- 1
    assert first["here, %"] == "96.5 ± 1.2 (n=3)" and first["verdict"] == "matches"
    assert (first["method"], first["ε"], first["difference, points"]) == (
        "sgd (rank=10)",
        "2",
        "-0.10",
    )
    assert second["where"] == "table5, fsdp-m, read as only it"
    assert (second["verdict"], second["difference, points"]) == ("inconclusive", "-2.50")
    assert (third["verdict"], third["ε certified"]) == ("inconclusive", "none")  # n = 1
    assert third["method"].endswith("(not certified)")


def test_each_method_is_summed_up_once(told: tuple) -> None:
    first, second = fsdp_words.against_print(*told)
    assert first == (
        "sgd, against 2 printed values: matches in 1 and inconclusive in 1; "
        "here minus printed goes from -2.50 to -0.10 points."
    )
    assert second.startswith("adam (not certified), against 1 printed value: inconclusive in 1;")


def test_nothing_printed_is_nothing_said_but_for_demonstrations(told: tuple) -> None:
    made, table = told
    bare = made | {"cells": [own | {"published": []} for own in made["cells"]]}
    assert fsdp_words.against_print(bare, table) == []
    assert fsdp_words.beside_print(bare, table)[1] == []
    demonstration = bare | {"dataset": "digits"}
    assert fsdp_words.against_print(demonstration, table) == ["No source reports on digits."]


def test_cells_of_the_same_runs_are_named() -> None:
    ours = [{"method": name, "runs": runs} for name, runs in (("a", ["1"]), ("b", ["2"]))]
    assert fsdp_words.same_runs({"cells": ours}) == []
    [text] = fsdp_words.same_runs({"cells": [*ours, {"method": "c", "runs": ["1"]}]})
    assert text.endswith("in 1 case: a and c.")
