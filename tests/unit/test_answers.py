"""What readers see first: rows of papers, what results count as, the example of README.md."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from test_board import line

from dpfl.report import answers, paper
from dpfl.words import vocabulary as words

VERDICTS = (words.HOLDS, words.SMALL, words.MATCHES, words.OPPOSITE, words.NO_DIFFERENCE)
VERDICTS += (words.DIFFERS, words.INCONCLUSIVE, words.NOT_RUN)


def of(verdict, privacy, record=None, **more):
    """A line as claims_table makes it."""
    shown = words.in_words(verdict._asdict() | {"privacy": privacy})
    told = {"kind": "ordering", "data": "MNIST", "worst_eps_claimed": 4.0, "worst_eps_audited": 5.0}
    told |= record or {}
    return line(verdict, privacy=privacy, shown=shown, record=told, **more)


results = st.lists(
    st.builds(
        lambda v, p, c: of(v, p, claim={"better": "a"} if c else {}),
        st.sampled_from(VERDICTS),
        st.sampled_from(("proven", "no proof", "refuted", "not private", "")),
        st.booleans(),
    ),
    max_size=8,
)


@given(results)
def test_nothing_without_a_proof_counts_as_what_holds(lines):
    good = [x for x in lines if x.verdict.verdict in words.GOOD]
    proven = [x for x in good if x.privacy not in (*words.BEATEN, words.NO_PROOF)]
    found = answers.count(filter(answers.is_decided, lines))
    assert found.get(answers.HOLDS, 0) == len(proven)
    assert found.get(answers.UNPROVEN, 0) == len(good) - len(proven)
    assert sum(found.values()) == len([x for x in lines if x.verdict != words.NOT_RUN])
    better = len([x for x in good if x.privacy == words.PROVEN and x.claim])
    head = answers.said(lines)
    assert head.startswith(f"{better or 'No'} claim") and ("hold without a proof" in head)
    assert all(len(part.split()) <= 20 for part in head.split(". "))


def test_a_row_shows_the_weakest_result_of_its_main_claim_and_the_worst_privacy():
    about = {
        "main": {"claims": ["a", "b"], "says": "It wins."},
        "claims": [{"id": "a"}, {"id": "b"}],
    }
    own = paper.Paper("p", about | {"title": "T"})
    good = of(words.MATCHES, "proven", printed="98", ours="98.1")
    attacked = {"worst_eps_audited": 4.391, "data": "CIFAR-10"}
    bad = of(words.DIFFERS, "refuted", attacked, printed="67", ours="65.2")
    source = replace(good.source, of=own)
    pairs = (("a", good), ("b", bad))
    lines = [replace(one, claim={"id": name}, source=source) for name, one in pairs]
    [row] = answers.rows(lines, [own])
    assert row.verdict == "matches 1 of 2, differs 1 of 2 (CIFAR-10: 65.2, printed 67)"
    assert row.private == "refuted: an attack finds at least 4.39 where 4 is claimed"
    said = f"  T: It wins.? {row.verdict}. Private? {row.private}"
    for kept, head in ((True, " (stored results):"), (False, ":")):
        there = [replace(one, source=replace(source, kept=kept)) for one in lines]
        assert answers.in_terminal({"p": own}, there) == [
            f"What the papers' claims came to{head}",
            said,
        ]
    [none] = answers.rows([], [own])
    assert none.cells[2:] == ("not judged", "", "none judged")


def test_the_example_of_the_readme_spends_its_budget(root: Path):
    [example] = re.findall(r"^```python\n(.*?)^```", (root / "README.md").read_text(), re.S | re.M)
    torch.manual_seed(0)
    given = {"inputs": torch.randn(600, 64), "targets": torch.randint(10, (600,))}
    exec(example, given)
    spent = given["private"]
    assert spent.taken == spent.steps and spent.epsilon() == pytest.approx(4, rel=0.01)
