"""What is run of a paper: the layers of its configuration, and what a user may change of it."""

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dpfl.base.errors import UserError
from dpfl.checks import config as configuration
from dpfl.papers import folder
from dpfl.papers.merging import extended, merged
from dpfl.planning import plan
from dpfl.planning.compose import compose


@pytest.fixture(scope="module")
def default(root):
    return yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))


def line_of(function, *arguments):
    with pytest.raises(UserError) as error:
        function(*arguments)
    assert "\n" not in str(error.value)
    return str(error.value)


DEFINITIONS = st.recursive(
    st.none() | st.integers() | st.lists(st.integers()),
    lambda inner: st.dictionaries(st.sampled_from("abcd"), inner),
)
MAPPINGS = st.dictionaries(st.sampled_from("abcd"), DEFINITIONS)


@given(MAPPINGS)
def test_nothing_changes_nothing(base):
    assert merged(base, {}) == base
    assert merged({}, base) == base
    assert merged(base, base) == base


@given(MAPPINGS, MAPPINGS, MAPPINGS)
def test_the_last_layer_is_in_force(base, middle, last):
    once = merged(merged(base, middle), last)
    assert merged(once, last) == once


def test_lists_are_replaced_or_extended():
    base = {"methods": ["a", "b"]}
    assert merged(base, {"methods": ["c"]}) == {"methods": ["c"]}
    assert merged(base, {"methods": {"add": ["b", "c"]}}) == {"methods": ["a", "b", "c"]}
    changed = merged(base, {"methods": {"add": ["c"], "remove": ["a"]}})
    assert changed == {"methods": ["b", "c"]}
    assert base == {"methods": ["a", "b"]}


def test_an_entry_extends_another_however_far():
    entries = {
        "a": {"x": 1, "inner": {"y": 1, "z": 1}},
        "b": {"extends": "a", "inner": {"y": 2}},
        "c": {"extends": "b", "x": 3},
    }
    found = extended("methods", entries)
    assert found["c"] == {"x": 3, "inner": {"y": 2, "z": 1}}
    assert found["a"] == entries["a"]


def test_what_is_added_to_a_list_that_nobody_has_is_that_list():
    added = {"leave_out": {"add": [1, 2]}}
    entries = {"a": {"leave_out": [0]}, "b": {"extends": "a", **added}, "c": {"x": added}}
    found = extended("studies", entries)
    assert found["b"] == {"leave_out": [0, 1, 2]}
    assert found["c"] == {"x": {"leave_out": [1, 2]}}


def test_extending_nothing_or_oneself_is_one_line():
    line = line_of(extended, "methods", {"alpha": {"extends": "alpa"}})
    assert "methods.alpha.extends = alpa" in line and "'alpha'" in line
    line = line_of(extended, "methods", {"a": {"extends": "b"}, "b": {"extends": "a"}})
    assert "which extends b itself" in line


def test_a_scale_changes_its_own_paper_alone(default):
    papers = compose(default | {"scale": "mnist"})
    assert papers["meng2023"]["federations"]["default"]["clients"] == 10
    assert papers["zhou2022"]["federations"]["default"]["clients"] == 3
    assert papers["zhou2022"]["federations"]["central"]["rounds"] == 10


def test_a_paper_without_the_scale_runs_nothing(default):
    papers = compose(default | {"scale": "cifar10"})
    assert papers["zhou2022"]["select"]
    assert papers["composition-text"]["select"] == []


def test_a_scale_that_no_chosen_paper_has_is_one_line(default):
    config = default | {"papers": ["audit"], "scale": "ful"}
    line = line_of(compose, config)
    assert line.startswith("config: scale = ful, which audit lacks; ")
    assert "mnist" in line


FORMER = [
    "baselines",
    "baselines-cifar10",
    "cifar10-ablation",
    "cifar10-beside",
    "cifar10-controls",
    "cifar10-gain",
    "cifar10-literal",
    "fashion-mnist",
    "mnist-ablation",
    "mnist-alongside",
    "mnist-at-8",
    "mnist-controls",
    "mnist-epochs",
    "mnist-full",
    "mnist-limit",
    "mnist-literal",
    "mnist-ranks",
    "mnist-surfaces",
    "mnist-unclipped",
    "paper",
    "paper-cifar10",
    "prices",
    "printed",
    "printed-linear",
]


def test_there_are_four_scales():
    scales = {scale for key in folder.names() for scale in folder.load(key).scales}
    assert scales == {"demo", "mnist", "cifar10", "full"}


@pytest.mark.parametrize("name", FORMER)
def test_a_former_scale_is_one_line_that_says_what_replaces_it(default, name):
    line = line_of(compose, default | {"scale": name})
    told = re.fullmatch(rf"config: scale = {name} is now part of (\w+)( and (\w+))?: (.+)", line)
    made = [compose(default | {"scale": scale}) for scale in filter(None, (told[1], told[3]))]
    selected = {f"{key}/{s}" for own in made for key in own for s in own[key]["select"]}
    running = {key for own in made for key in own if own[key]["select"] or own[key]["reads"]}
    named = re.findall(r"[\w-]+/[\w-]+", told[4])
    papers = re.findall(r"PAPER='(.+)'", told[4])
    assert set(named) <= selected and bool(named) != bool(papers)
    assert {*" ".join(papers).split()} <= running


def test_a_paper_that_selects_studies_of_another_has_that_beside_it(default):
    config = default | {"papers": ["fu2024"], "scale": "mnist"}
    made = plan.make(configuration.composed(config))
    lent = ["strong/strong", "strong/strong-scatter"]
    assert list(made.studies) == plan.judging(made, "fu2024") == lent
    assert plan.papers_with(made) == ["fu2024", "strong"]
    alone = plan.make(configuration.composed(config | {"papers": ["strong"]}))
    assert made.runs.items() <= alone.runs.items()
    few = plan.make(configuration.composed(config | {"select": ["strong/strong"]}))
    assert plan.judging(few, "fu2024") == ["strong/strong"]


def test_a_study_that_another_paper_lacks_is_one_line(default, monkeypatch):
    def with_study(selected, judged):
        own = folder.load("fu2024")
        scales = {"mnist": {"select": [selected]}}
        claims = [dict(claim) for claim in own.about["claims"]]
        claims[0]["study"] = judged
        changed = folder.Paper("fu2024", own.about | {"claims": claims}, {"scales": scales})
        monkeypatch.setattr(
            folder, "load", lambda key: changed if key == "fu2024" else original(key)
        )
        line = line_of(configuration.composed, default | {"papers": ["fu2024"], "scale": "mnist"})
        monkeypatch.setattr(folder, "load", original)
        return line

    original = folder.load
    line = with_study("strong/strong", "strong/strongg")
    assert line.startswith("workflow/papers/fu2024/paper.yaml: claim plain-mnist: no")
    assert line.endswith("'strong/strongg' in studies; did you mean 'strong/strong'?")
    line = with_study("strong/strongg", "strong/strong")
    assert "no 'strongg' in studies, named at select; did you mean 'strong'?" in line
    line = with_study("strog/strong", "strong/strong")
    assert "no 'strog' in workflow/papers; did you mean 'strong'?" in line


def test_all_former_scales_are_told():
    assert set(folder.read(folder.FORMER)) == set(FORMER)


def test_an_unknown_paper_is_one_line(default):
    line = line_of(configuration.composed, default | {"papers": ["zhou2023"]})
    assert line == "config: papers: no 'zhou2023' in workflow/papers; did you mean 'zhou2022'?"


def test_a_users_change_reaches_the_papers_that_have_it(default):
    papers = compose(default | {"mechanisms": {"fsdp-central": {"rank": 7}}})
    assert papers["zhou2022"]["mechanisms"]["fsdp-central"]["rank"] == 7
    assert papers["zhou2022"]["mechanisms"]["fsdp-relevance"]["rank"] == 7  # which extends it
    assert "fsdp-central" not in papers["meng2023"]["mechanisms"]


def test_what_no_paper_has_is_new_to_all(default):
    papers = compose(default | {"methods": {"mine": {"extends": "sgd", "budget": "uniform"}}})
    assert all("mine" in config["methods"] for config in papers.values())


def test_an_entry_may_be_of_one_paper_alone(default):
    mine = {"extends": "adabelief"}
    papers = compose(default | {"methods": {"meng2023/mine": mine}})
    assert papers["meng2023"]["methods"]["mine"] == papers["meng2023"]["methods"]["adabelief"]
    assert "mine" not in papers["zhou2022"]["methods"]


def test_a_study_is_named_with_its_paper(default):
    change = {"studies": {"meng2023/cadabelief": {"methods": {"add": ["adabound-final"]}}}}
    papers = configuration.composed(default | change)
    assert papers["meng2023"]["studies"]["cadabelief"]["methods"][-1] == "adabound-final"
    for wrong in ("cadabelief", "meng2024/cadabelief"):
        line = line_of(compose, default | {"studies": {wrong: {"seeds": [1]}}})
        assert f"studies has '{wrong}', expected paper/name" in line


def test_select_takes_full_names_and_local_ones_that_are_clear(default):
    papers = compose(default | {"select": ["zhou2022/fsdp-k", "state"]})
    chosen = {key: config["select"] for key, config in papers.items() if config["select"]}
    assert chosen == {"zhou2022": ["fsdp-k"], "meng2023": ["state"]}
    line = line_of(compose, default | {"select": ["rates"]})
    assert "is one of composition-text/rates, meng2023/rates; name the paper" in line


def test_a_narrower_selection_needs_nothing_taken_out(default):
    change = {"studies": {"zhou2022/fsdp-rates": {"methods": ["dpsgd"]}}}
    config = default | change | {"select": ["zhou2022/fsdp-rates"]}
    made = plan.make(configuration.composed(config))
    assert {c["method"] for c in made.studies["zhou2022/fsdp-rates"]["cells"]} == {"dpsgd"}


def test_vary_takes_any_setting_by_its_path(default):
    vary = {"optimizer.settings.final_lr": [0.05, 0.1], "mechanism.estimator": ["dpsgd"]}
    study = {"vary": vary, "seeds": [0]}
    config = default | {"studies": {"meng2023/state": study}, "select": ["meng2023/state"]}
    config["studies"]["meng2023/state"]["vary"] = {"optimizer.settings.final_lr": [0.05, 0.1]}
    made = plan.make(configuration.composed(config))
    found = {
        run["settings"]["optimizer"]["settings"]["final_lr"]
        for cell in made.studies["meng2023/state"]["cells"]
        for run in (made.runs[name] for name in cell["runs"])
    }
    assert found == {0.05, 0.1}


def test_a_path_that_is_no_setting_is_one_line(default):
    vary = {"vary": {"optimizer.settings.final_rl": [0.1]}}
    line = line_of(configuration.composed, default | {"studies": {"meng2023/state": vary}})
    assert "optimizer.settings.final_rl is no setting; did you mean" in line
    assert "optimizer.settings.final_lr" in line


@pytest.mark.parametrize("file", [folder.ABOUT, folder.STUDIES])
def test_a_paper_without_a_file_is_one_line(monkeypatch, tmp_path, file):
    monkeypatch.setattr(folder, "HOME", tmp_path / "workflow" / "papers")
    home = tmp_path / "workflow" / "papers" / "new2024"
    home.mkdir(parents=True)
    for name in {folder.ABOUT, folder.STUDIES} - {file}:
        (home / name).write_text("title: new\n", encoding="utf-8")
    folder.load.cache_clear()
    assert f"workflow/papers/new2024/{file}: missing" in line_of(folder.load, "new2024")
