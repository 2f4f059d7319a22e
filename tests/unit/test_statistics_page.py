"""docs/statistics.md and how-to-read.md: numbers computed again, sentences simulated."""

import re
from pathlib import Path

import markdown_tables
import pytest

from dpfl.runs import kept_runs
from dpfl.seeds import fairness, power
from dpfl.seeds.verdicts import MIN_SEEDS, MIN_SPREAD, Interval, of_ordering
from dpfl.tuning.parts import chance

DOCS = Path(__file__).parents[2] / "docs"
PAGE, GUIDE = (
    (DOCS / name).read_text(encoding="utf-8") for name in ("statistics.md", "how-to-read.md")
)


def rows(head, page=PAGE):
    """Return head and rows of the table of the page whose head begins so."""
    return markdown_tables.read(page, f"{head} |")


def numbers(text):
    return [float(number) for number in re.findall(r"[-+]?\d+\.?\d*", text)]


@pytest.mark.parametrize("row", rows("verdict", GUIDE)[1], ids=lambda row: row[0])
def test_the_examples_of_verdicts(row):
    low, high = numbers(row[2])
    found = of_ordering(Interval((low + high) / 2, low, high, 5, 0.1), 1.0)
    assert re.findall("`(.+?)`", row[0]) == [word for word in found if word]


def test_no_judged_run_is_older_than_the_day_on_which_rules_were_changed(root):
    changed = re.search(r"changed on (\d{4}-\d\d-\d\d)", PAGE)[1]
    told = map(kept_runs.about, kept_runs.folders(root / "results" / "reference"))
    ended = [own["trained"]["first"] for own in told if own["runs"]["trained"]]
    assert ended and min(ended) > changed


def test_the_verdicts_are_in_the_order_of_the_rule():
    assert [row[0] for row in rows("verdict", GUIDE)[1]] == [
        *("`holds`", "`holds, small`", "`opposite`", "`no difference`", "`does not hold`"),
        "`open`, needs `more seeds`",
    ]


def test_the_example_is_read_as_it_is_judged():
    pair = "CAdabelief against AdaBelief"
    own = re.compile(f"^{pair}, |: {pair}$")
    judged = {own.sub("", row[0]): row[3] for row in rows("compared", GUIDE)[1]}
    told = dict(re.findall(r"^- \*\*(.+?)\*\*:[^`]+`(.+?)`", GUIDE, re.MULTILINE))
    assert told == judged and "holds, small" in judged.values()


def test_the_table_of_power():
    head, lines = rows("gain")
    for gain, *seeds in lines:
        found = [power.needed(float(gain), float(sd)) for sd in head[1:]]
        assert [float(n) for n in seeds] == found


def test_the_smallest_numbers_of_seeds():
    told = " ".join(PAGE.split())
    assert f"none below n = {MIN_SPREAD}:" in told and f"no verdict below n = {MIN_SEEDS}:" in told
    assert f"{chance.TIMES:g} times the accuracy of guessing" in PAGE
    assert {*re.findall(r"`(alike|shared|one side|none)`:", PAGE)} == {*fairness.SAID}
