"""Audits and epsilons in tables, claims and labels: bounds, levels, verdicts and units."""

import math
from pathlib import Path

import pandas as pd
import pytest
from refusals import refuses
from synthetic import audit, cell
from tabled import INF, study_of

from dpfl.audit import findings
from dpfl.base import files
from dpfl.figures import style
from dpfl.judging import claims, records, rows
from dpfl.papers import folder
from dpfl.report import values
from dpfl.seeds import audits
from dpfl.tables import rendering
from dpfl.words import cell_words, numerals


def runs_of(tmp_path: Path, outcome, *cells: dict) -> pd.DataFrame:
    return study_of(tmp_path, list(cells), outcome)[1]


def test_the_largest_bound_of_a_cell_holds_at_the_level_of_all_its_seeds(tmp_path: Path) -> None:
    bounds = [1.2, 1.9, 1.1, 1.5, 1.4]
    own = runs_of(tmp_path, lambda c, s: {"audit": audit(bounds[s], 3.0 + s)}, cell("sgd", 2.0, 5))
    found = audits.of_cell(own)
    assert (found["eps_audited"], found["audit_ceiling"]) == (1.9, 7.0)
    assert found["audit_level"] == pytest.approx(0.05)
    assert found["audit_estimator"] == findings.PER_STEP == cell_words.EXPECTED
    assert (found["audit_status"], found["privacy"]) == ("audited", "proven")


def test_only_audited_seeds_count_for_the_level(tmp_path: Path) -> None:
    outcomes = [{"audit": audit(1.0)}, {}, {"audit": audit(None, status="not audited")}]
    own = runs_of(tmp_path, lambda c, s: outcomes[s], cell("sgd", 2.0, 3))
    found = audits.of_cell(own)
    assert found["audit_level"] == pytest.approx(0.01)
    assert found["audit_status"] == "audited; not audited"
    twice = pd.concat([own, own])  # a run that stands on both sides of a comparison is one run
    assert audits.of_cell(twice)["audit_level"] == pytest.approx(0.01)


def test_an_older_summary_is_not_audited(tmp_path: Path) -> None:
    found = audits.of_cell(runs_of(tmp_path, lambda c, s: {}, cell("sgd", 2.0, 2)))
    assert found["audit_status"] == "not audited" and found["privacy"] == "proven"
    assert math.isnan(found["eps_audited"]) and math.isnan(found["audit_level"])


def test_a_refuted_certificate_does_not_hide_behind_that_of_another_seed(tmp_path: Path) -> None:
    outcomes = [
        {"eps_certified": 0.77, "audit": audit(2.0)},
        {"eps_certified": 3.9, "audit": audit(1.0)},
    ]
    own = runs_of(tmp_path, lambda c, s: outcomes[s], cell("sgd", 4.0, 2))
    found = audits.of_cell(own)
    assert found["eps_audited"] < found["eps_certified"] < found["eps_claimed"]
    assert found["privacy"] == "certificate refuted"
    assert found["privacy_reasons"] == "audited above what is certified"


def test_a_broken_check_refutes_a_certificate_whatever_the_bound(tmp_path: Path) -> None:
    broken = audit(0.1, status="broken", broken=["repeated noise", "counts"])
    outcomes = [{"audit": broken}, {"audit": audit(0.1)}]
    own = runs_of(tmp_path, lambda c, s: outcomes[s], cell("sgd", 4.0, 2))
    found = audits.of_cell(own)
    assert found["privacy"] == "certificate refuted"
    assert found["privacy_reasons"] == "check broken: repeated noise; check broken: counts"
    assert found["audit_status"] == "broken; audited"
    assert audits.remarks(own) == {"audit_broken": "repeated noise; counts", "audit_blind": ""}


BLIND = "The basis is released; appended coordinates do not see it."
SEEN = {
    "sgd": {"audit": audit(1.9, 6.0)},
    "quiet": {"audit": audit(7.5, 7.9)},
    "fsdp": {"eps_certified": None, "audit": audit(4.86, 4.86, estimator="one run, top calls")},
    "part": {"audit": audit(None, status="blind", blind=[BLIND])},
}


def table_of(tmp_path: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the runs and cells of these methods."""
    cells = [cell(method, 4.0, 5) for method in SEEN]
    _, runs, _, table = study_of(tmp_path, cells, lambda c, s: SEEN[c["method"]])
    return runs, table


def test_a_table_has_one_fact_of_an_audit_per_column(tmp_path: Path) -> None:
    _, table = table_of(tmp_path)
    table = table.set_index("method")
    assert table["eps_audited"].tolist()[:3] == [1.9, 7.5, 4.86]
    assert table["audit_ceiling"].tolist()[:3] == [6.0, 7.9, 4.86]
    assert table["audit_level"].tolist()[:3] == pytest.approx([0.05] * 3)
    assert table["audit_estimator"]["fsdp"] == "one run, top calls"
    assert table["audit_status"].tolist() == ["audited", "audited", "audited", "blind"]
    assert table["audit_blind"]["part"] == BLIND
    expected = ["proven", "certificate refuted", "refuted", "proven"]
    assert table["privacy"].tolist() == expected


def test_all_forms_of_a_table_show_the_audit(tmp_path: Path) -> None:
    _, table = table_of(tmp_path)
    rendering.write(tmp_path / "main", table, rendering.columns_of(table, "cells"))
    back = values.read(tmp_path / "main.csv").set_index("method")
    assert back["eps_audited"]["fsdp"] == 4.86 and math.isnan(back["eps_audited"]["part"])
    heads, *lines = rendering.readable(table, rendering.columns_of(table, "cells"))
    shown = {line[0]: dict(zip(heads, line, strict=True)) for line in lines[0]}
    assert shown["fsdp (not certified)"]["ε audited"] == "≥ 4.86 (ceiling 4.86)"
    assert shown["fsdp (not certified)"]["audit level"] == "0.05"
    assert shown["fsdp (not certified)"]["privacy"] == "refuted: audited above what is claimed"
    assert shown["part"]["ε audited"] == "blind" and shown["part"]["privacy"] == "proven"
    assert r"$\geq$ 4.86 (ceiling 4.86)" in (tmp_path / "main.tex").read_text()
    assert "≥ 4.86 (ceiling 4.86)" in (tmp_path / "main.md").read_text()


def test_a_claim_has_the_audit_of_the_cell_that_is_worst_off(tmp_path: Path) -> None:
    runs, _ = table_of(tmp_path)
    sides = [runs[runs["method"] == name] for name in ("sgd", "quiet", "fsdp")]
    found = rows.of_runs(*sides)
    assert (found["privacy"], found["eps_audited"]) == ("certificate refuted", 7.5)
    assert found["audit_level"] == pytest.approx(0.05)
    assert found["privacy_reasons"].startswith("audited above what is certified")
    less = sides[2].assign(cell=9, run=sides[2]["run"] + "-less", eps_claimed=0.5)
    assert rows.of_runs(sides[2], less)["eps_claimed"] == 0.5


def test_records_hold_the_audit_of_a_claim(tmp_path: Path) -> None:
    found = audits.of_cell(table_of(tmp_path / "runs")[0].query("method == 'fsdp'"))
    head = {"paper": "audit", "part": "overall", "verdict": "not judged", "runs": "a b"}
    told = folder.load("audit").about["claims"]
    judged = [head | found | {"claim": claim["id"]} for claim in told]
    pd.DataFrame(judged, columns=claims.COLUMNS).to_csv(tmp_path / "c.csv", index=False)
    (tmp_path / "config.json").write_text('{"scale": "small"}')
    made = records.of_results(["audit"], pd.read_csv(tmp_path / "c.csv"), tmp_path, commit=None)
    part = made["records"][0]["parts"][0]
    assert (part["eps_audited"], part["audit_ceiling"], part["audit_level"]) == (4.86, 4.86, 0.05)
    assert part["audit_estimator"] == "one run, top calls"
    assert (part["audit_status"], part["eps_certified"]) == ("audited", None)
    assert part["privacy_reasons"] == "audited above what is claimed"


def test_a_record_rests_on_the_tables_of_its_own_study(tmp_path: Path) -> None:
    """Tables of studies whose names begin alike are evidence of other claims."""
    names = ("main.csv", "main_trials.csv", "main-rates.csv", "main-rates_tuned.csv", "mainly.csv")
    for name in names:
        files.write_text(tmp_path / "tables" / "p" / name, name)
    found = records._used("p", "main", tmp_path)
    assert [path.name for path in found] == ["main.csv", "main_trials.csv"]


def test_labels_say_what_is_refuted_at_all_budgets_of_a_line(tmp_path: Path) -> None:
    cells = [cell(m, e, 2) for m in ("sgd", "fsdp") for e in (2.0, 8.0, math.inf)]

    def outcome(own: dict, seed: int) -> dict:
        if own["method"] == "sgd" or own["epsilon"] == "inf":
            return {}
        return {"eps_certified": None, "audit": audit(4.86)}

    runs = runs_of(tmp_path, outcome, *cells)
    labels = style.names(runs, runs["label"], unproven=True).groupby(runs["cell"]).first().tolist()
    assert labels[:3] == ["sgd"] * 3
    assert labels[3:] == ["fsdp (not certified, refuted at ε 2)"] * 2 + ["fsdp"]
    assert runs.groupby("cell")["refuted"].first().tolist() == [False] * 3 + [True, False, False]


@pytest.mark.parametrize(
    ("bound", "text"),
    [(4.869, "4.86"), (0.0, "0"), (0.29, "0.29"), (27.72, "27.7"), (123.9, "123"), (2.0, "2")],
)
def test_a_bound_is_rounded_down(bound: float, text: str) -> None:
    assert numerals.rounded_down(bound) == text
    assert float(text) <= bound


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


def test_two_units_never_share_a_table(tmp_path: Path) -> None:
    table, _ = client_cells(tmp_path / "runs")
    mixed = pd.concat([table, table.assign(unit="example")])
    for shown in (lambda: rendering.grid(mixed, []), lambda: rendering.write(tmp_path, mixed, {})):
        refuses("units client and example", shown)
