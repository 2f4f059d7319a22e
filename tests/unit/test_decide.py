"""More seeds look by look, with another program in Snakemake's place and made-up claims."""

import json
import sys
from pathlib import Path

import pytest
import yaml
from refusals import refuses

from dpfl.base.files import write_text
from dpfl.planning.plan import runs_of
from dpfl.terminal import decide
from dpfl.terminal.choice import Choice

STUDY = "meng2023/cadabelief"
CHOICE = Choice({"papers": ["meng2023"], "select": [STUDY]})
HEAD = "paper,claim,part,study,verdict,needs"
CLAIM = "meng2023,beats-sgd-adam-adabelief,{},cadabelief,{}"
STUB = """
import json, pathlib, sys
from dpfl.base import files

verdicts = {verdicts}
calls = pathlib.Path("calls")
made = calls.read_text().splitlines() if calls.exists() else []
calls.write_text("\\n".join([*made, json.dumps(sys.argv[1:])]))
status, row = verdicts[min(len(made), len(verdicts) - 1)]
files.write_text(pathlib.Path("results/tables/claims.csv"), row)
sys.exit(status)
"""


def rows(*verdicts):
    return "\n".join([HEAD, *(CLAIM.format(*own) for own in verdicts)])


MORE, ENOUGH = rows(("overall", "open,more seeds")), rows(("overall", "open,enough seeds"))
DONE = rows(("overall", "does not hold,"), ("against sgd", "open,more seeds"))


@pytest.fixture
def call(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)

    def decided(*verdicts, choice=CHOICE, more=()):
        told = [own if isinstance(own, tuple) else (0, own) for own in verdicts]
        write_text(tmp_path / "stub.py", STUB.replace("{verdicts}", repr(told)))
        stub = {"command": (sys.executable, "stub.py"), "closing_rows": lambda *_: ()}
        status = decide.decide(choice, "1", more, **stub)
        calls = (tmp_path / "calls").read_text().splitlines()
        return status, list(map(json.loads, calls)), capfd.readouterr().out.splitlines()

    return decided


def seeds_of(path="results/looks/seeds.yaml"):
    return yaml.safe_load(Path(path).read_text(encoding="utf-8"))["studies"]


def test_nothing_open_is_one_call(call):
    status, calls, told = call(DONE)
    assert (status, len(calls)) == (0, 1)
    assert told[-1] == "open for want of seeds: nothing"


def test_open_claims_get_the_seeds_of_the_next_looks_and_their_cost_first(call):
    status, calls, told = call(ENOUGH, MORE, DONE)
    assert (status, len(calls)) == (0, 3)
    assert "--configfile" not in calls[0]
    for arguments in calls[1:]:
        assert arguments[arguments.index("--configfile") + 1] == "results/looks/seeds.yaml"
    assert seeds_of() == {STUDY: {"seeds": list(range(10))}}
    costs = [line for line in told if line.startswith(f"open: {STUDY}: ")]
    plans = [CHOICE.plan(), Choice(CHOICE.settings, ["results/looks/seeds.yaml"]).plan()]
    own = [len(runs_of(plan.studies.values())) for plan in plans]
    added = [int(line.split()[2]) for line in costs]
    assert len(costs) == 2 and sum(added) == own[1] - own[0]
    assert costs[0].endswith('core-hours, with {"seeds": [0, 1, 2, 3, 4]}')
    assert told.index(costs[0]) < max(n for n, one in enumerate(told) if " training runs, " in one)
    assert told[-1] == f"for studies.yaml: {STUDY}: {json.dumps(seeds_of()[STUDY])}"
    assert plans[0].tunings == plans[1].tunings


def test_it_ends_where_all_seeds_of_the_plan_are_there(call):
    status, calls, told = call(MORE)
    assert (status, len(calls)) == (0, 4)  # two seeds, then 5, 10, 20
    assert len(seeds_of()[STUDY]["seeds"]) == 20
    assert told[-2] == f"open for want of seeds: {STUDY}"


def test_a_failure_ends_it_with_its_status(call):
    status, calls, told = call(MORE, (3, MORE))
    assert (status, len(calls)) == (3, 2)
    assert not any(line.startswith("for studies.yaml") for line in told)


def test_files_that_are_chosen_stay_and_come_first(call, tmp_path):
    write_text(tmp_path / "mine.yaml", "studies: {meng2023/cadabelief: {seeds: [7, 3, 5, 30]}}")
    _, calls, _ = call(MORE, DONE, choice=Choice(CHOICE.settings, ["mine.yaml"]))
    place = calls[1].index("--configfile")
    assert calls[1][place + 1 : place + 3] == ["mine.yaml", "results/looks/seeds.yaml"]
    assert seeds_of() == {STUDY: {"seeds": [3, 5, 7, 30, 31]}}, "the first stay the first"


@pytest.mark.parametrize("more", ["-n", "--until=tabulate", "results/tables/claims.csv"])
def test_less_than_everything_is_refused(more):
    refuses("makes everything", decide.decide, CHOICE, "1", [more])


def test_costly_methods_that_a_claim_names_catch_up_first():
    study = {"epsilons": [2, "inf"], "seeds": [0, 1, 2, 3, 4]}
    study |= {"nonprivate_seeds": [0], "method_seeds": {"slow": [0, 1], "other": [0]}}
    five = {"method_seeds": {"slow": [0, 1, 2, 3, 4]}}
    assert decide.longer(study, {"slow", "quick"}) == five
    assert decide.longer(study, {"quick"}) == {"seeds": list(range(10))}
    both = decide.longer(study | five, {"slow"})
    assert both == {"seeds": list(range(10)), "method_seeds": {"slow": list(range(10))}}
    free = {"epsilons": ["inf"], "seeds": [0], "nonprivate_seeds": [0, 1, 2]}
    assert decide.longer(free, set()) == {"nonprivate_seeds": [0, 1, 2, 3, 4]}
    assert decide.longer({"epsilons": [2], "seeds": list(range(20))}, set()) == {}


def test_the_study_without_privacy_that_a_claim_asks_for_gets_seeds_too():
    open_claim = {"paper": "zhou2022", "part": "overall", "study": "fsdp-gain"}
    open_claim |= {"claim": gap_claim(), "verdict": "open", "needs": "enough seeds"}
    found = decide.waiting([open_claim])
    assert set(found) == {"zhou2022/fsdp-gain", "zhou2022/without-privacy"}


def gap_claim():
    from dpfl.papers import folder

    about = folder.load("zhou2022").about
    return next(claim["id"] for claim in about["claims"] if "gap_to" in claim)
