"""The page on audits: what it says of bounds that are known."""

import re
from pathlib import Path

import synthetic
from synthetic import audit, cell, study

from dpfl.papers import folder
from dpfl.report import prose
from dpfl.tables import columns_shown, comparisons, rendering, results, study_table

REFERENCE = Path(__file__).parents[2] / "results" / "reference"
UNPROVEN = {"eps_certified": None, "eps_certified_reasons": ["nothing is clipped"]}
ONE_RUN = "one run, top calls"


def page(tmp_path: Path, outcome) -> str:
    """Return what the page says of a study with these runs, in one line."""
    cells = [cell(m, e, 5) for m in ("dpsgd", "fsdp-central") for e in (2.0, 8.0)]
    synthetic.write(tmp_path / "runs", cells, outcome)
    made = study(cells)
    runs = results.frame(made, tmp_path / "runs")
    table = study_table.cells(made, runs, comparisons.comparisons(made, runs))
    (tmp_path / "tables" / "audit").mkdir(parents=True)
    rendering.write(tmp_path / "tables" / "audit" / "audit", table, columns_shown.CELLS)
    text = prose.of_paper(folder.HOME / "audit", tmp_path / "tables" / "audit", REFERENCE)
    assert not re.search(r"\b(nan|None)\b", text)
    return re.sub(r"\s+", " ", text.split("### In this run")[1])


def known(own: dict, seed: int) -> dict:
    """Certified: .9 of the claim at most. Without a proof: at the ceiling, whatever is claimed."""
    if own["method"] == "dpsgd":
        share = 0.9 - 0.01 * seed
        return {"eps_certified": own["epsilon"], "audit": audit(share * own["epsilon"])}
    return UNPROVEN | {"audit": audit(4.86 - 0.1 * seed, 4.86, estimator=ONE_RUN)}


def test_the_page_tells_what_is_refuted_and_what_is_not(tmp_path: Path) -> None:
    text = page(tmp_path, known)
    assert "With a certificate: in 2 cells the attack shows 90 % of what is certified." in text
    assert "No certificate is beaten by a bound." in text
    assert "claims 2: ≥ 4.86 (ceiling 4.86), refuted." in text
    assert "claims 8:" not in text
    assert "In 1 cell without a certificate the attack shows no more than is claimed" in text
    assert "At their ceiling: 2 of 2 bounds of one run." in text
    assert "hold at the level 0.05 or better" in text
    assert (
        "| central FSDP, not certified | ≥ 4.86 (ceiling 4.86), refuted "
        "| ≥ 4.86 (ceiling 4.86), unproven |"
    ) in text
    assert "| DP-SGD | ≥ 1.8, consistent | ≥ 7.2, consistent |" in text


def test_the_page_tells_of_a_beaten_certificate_and_of_failed_checks(tmp_path: Path) -> None:
    def outcome(own: dict, seed: int) -> dict:
        if own["method"] == "dpsgd":
            return {"audit": audit(1.5 * own["epsilon"])}
        broken = audit(0.1, status="broken", broken=["counts"], blind=["It sees V alone."])
        return UNPROVEN | {"audit": broken}

    text = page(tmp_path, outcome)
    assert "A certificate is refuted: an error in the code or in the proof." in text
    assert "No certificate is beaten" not in text
    assert "certificate refuted" in text.split("claimed 8")[1]
    assert "A check failed for central FSDP at claimed ε 2: counts." in text
    assert text.count("What the audit of central FSDP does not see: It sees V alone.") == 1


def test_without_an_audit_the_page_says_so(tmp_path: Path) -> None:
    text = page(tmp_path, lambda c, s: {})
    assert "No run was audited" in text
    assert "| DP-SGD | not audited, consistent | not audited, consistent |" in text
