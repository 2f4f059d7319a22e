"""What users see before anything runs: the jobs, their cost, and their mistakes."""

import json
import re

import pytest
from worktree import MINI, job_counts

from dpfl.papers import folder
from dpfl.papers.merging import merged
from dpfl.planning import estimate
from dpfl.runs import state
from dpfl.terminal.choice import Choice

SCALES = sorted({scale for key in folder.names() for scale in folder.load(key).scales})
RULES = {
    *("prepare_data", "partition", "calibrate", "train"),
    *("tabulate", "judge", "collect_claims", "notebook", "report"),
}
NOTICE = ("Config file config.yaml is extended by", "Using workflow specific profile profiles/")
"""What Snakemake itself prints whenever the command line changes the configuration."""


@pytest.mark.parametrize("scale", SCALES)
def test_a_scale_trains_the_runs_of_its_plan_and_the_smallest_shows_every_rule(sources, scale):
    planned = Choice({"scale": scale}).plan()
    how = ("--dry-run", "--quiet", "rules", "--config", f"scale={scale}", "kept=train")
    printed = sources.make(*how, configs=())
    jobs = job_counts(printed)
    assert jobs.get("train", 0) == len(planned.runs)
    assert scale != "demo" or jobs.keys() >= RULES
    assert "Exception" not in printed and "Traceback" not in printed
    todo = state.open_of(planned, sources.results)
    found = re.search(r" about (\S+) core-hours", estimate.summary(planned, todo))
    assert float(found[1]) > 0
    assert not sources.made()


def mistake_of(tree, *args):
    """The one line that a mistake gives."""
    failed = tree.run(*args)
    assert failed.returncode != 0
    lines = (failed.stdout + failed.stderr).splitlines()
    ours = [line for line in lines if line.strip() and not line.startswith(NOTICE)]
    assert len(ours) == 1, lines
    assert not tree.made()
    return ours[0]


def test_a_mistake_is_one_line_on_the_command_line_and_in_a_file(sources):
    """All mistakes are those of bad_input."""
    line = mistake_of(sources, "--config", "select=[cadabeleif]")
    assert all(word in line for word in ("'cadabeleif'", "select", "'cadabelief'")), line
    sources.configure({"federations": {"default": {"clients": 100}}})
    line = mistake_of(sources, "--configfile", "mini.yaml")
    assert all(word in line for word in ("federations.default.clients", "100", "at most")), line


def test_braces_in_texts_are_no_wildcards(sources):
    """Snakemake formats the texts of its rules: what a user writes is none of them."""
    text = r"{title} {wildcards.x} {{y}} {0} $\foo$"
    (sources.path / text).mkdir()
    sources.configure(
        merged(MINI, {"studies": {"meng2023/rates": {"title": text}}, "data_dir": text})
    )
    sources.make("results/config.json", "results/data/digits.safetensors")
    assert json.loads((sources.results / "config.json").read_text())["data_dir"] == text


STUDY = {
    "title": "Who was in the training set",
    "kind": "compare",
    "dataset": "digits",
    "methods": ["sgd"],
    "epsilons": [8],
    "seeds": [0, 1, 2, 3],
    "validation_fraction": 0.5,
}


def jobs(tree, figures):
    study = STUDY | {"figures": figures}
    tree.configure(MINI | {"select": ["meng2023/members"], "studies": {"meng2023/members": study}})
    return job_counts(tree.make("--dry-run"))


def test_models_are_asked_where_a_figure_of_attacks_is_drawn(sources):
    found = jobs(sources, ["membership"])
    assert (found["train"], found["score_examples"], found["tabulate"]) == (4, 1, 1)
    assert "score_examples" not in jobs(sources, ["accuracy"])
