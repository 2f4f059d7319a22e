"""What is run of a paper: the layers of its configuration, and what a user may change of it."""

from hypothesis import given
from hypothesis import strategies as st
from refusals import line_of

from dpfl.checks import config as configuration
from dpfl.papers import folder
from dpfl.papers.merging import extended, merged
from dpfl.planning import plan
from dpfl.planning.compose import compose

DEFINITIONS = st.recursive(
    st.none() | st.integers() | st.lists(st.integers()),
    lambda inner: st.dictionaries(st.sampled_from("abcd"), inner),
)
MAPPINGS = st.dictionaries(st.sampled_from("abcd"), DEFINITIONS)


@given(MAPPINGS, MAPPINGS, MAPPINGS)
def test_nothing_changes_nothing_and_the_last_layer_is_in_force(base, middle, last):
    assert merged(base, {}) == merged({}, base) == merged(base, base) == base
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


def test_a_scale_changes_its_own_paper_alone(default):
    papers = compose(default | {"scale": "mnist"})
    assert papers["meng2023"]["federations"]["default"]["clients"] == 10
    assert papers["zhou2022"]["federations"]["default"]["clients"] == 3
    assert papers["zhou2022"]["federations"]["central"]["rounds"] == 10


def test_a_paper_without_the_scale_runs_nothing(default):
    papers = compose(default | {"scale": "cifar10"})
    assert papers["zhou2022"]["select"]
    assert papers["composition-text"]["select"] == []


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
        own = original("fu2024")
        scales = {"mnist": {"select": [selected]}}
        claims = [dict(claim) for claim in own.about["claims"]]
        claims[0]["study"] = judged
        changed = folder.Paper("fu2024", own.about | {"claims": claims}, {"scales": scales})
        monkeypatch.setattr(
            folder, "load", lambda key: changed if key == changed.key else original(key)
        )
        return line_of(configuration.composed, default | {"papers": ["fu2024"], "scale": "mnist"})

    original = folder.load
    line = with_study("strong/strong", "strong/strongg")
    assert line.startswith("workflow/papers/fu2024/paper.yaml: claim plain-mnist: no")
    assert line.endswith("'strong/strongg' in studies; did you mean 'strong/strong'?")
    line = with_study("strong/strongg", "strong/strong")
    assert "no 'strongg' in studies, named at select; did you mean 'strong'?" in line
    line = with_study("strog/strong", "strong/strong")
    assert "no 'strog' in workflow/papers; did you mean 'strong'?" in line


def test_a_users_change_reaches_the_papers_that_have_it(default):
    papers = compose(default | {"mechanisms": {"fsdp-central": {"rank": 7}}})
    assert papers["zhou2022"]["mechanisms"]["fsdp-central"]["rank"] == 7
    assert papers["zhou2022"]["mechanisms"]["fsdp-relevance"]["rank"] == 7  # which extends it
    assert "fsdp-central" not in papers["meng2023"]["mechanisms"]


def test_what_no_paper_has_is_new_to_all_or_of_the_one_that_it_names(default):
    papers = compose(default | {"methods": {"all": {"extends": "sgd"}, "meng2023/mine": {}}})
    assert all("all" in config["methods"] for config in papers.values())
    assert [key for key, config in papers.items() if "mine" in config["methods"]] == ["meng2023"]


def test_a_study_is_named_with_its_paper(default):
    change = {"studies": {"meng2023/cadabelief": {"methods": {"add": ["sgd-ema"]}}}}
    papers = configuration.composed(default | change)
    assert papers["meng2023"]["studies"]["cadabelief"]["methods"][-1] == "sgd-ema"


def test_select_takes_full_names_and_local_ones_that_are_clear(default):
    papers = compose(default | {"select": ["zhou2022/fsdp-k", "state"]})
    chosen = {key: config["select"] for key, config in papers.items() if config["select"]}
    assert chosen == {"zhou2022": ["fsdp-k"], "meng2023": ["state"]}


def test_a_narrower_selection_needs_nothing_taken_out(default):
    change = {"studies": {"zhou2022/fsdp-rates": {"methods": ["dpsgd"]}}}
    config = default | change | {"select": ["zhou2022/fsdp-rates"]}
    made = plan.make(configuration.composed(config))
    assert {c["method"] for c in made.studies["zhou2022/fsdp-rates"]["cells"]} == {"dpsgd"}


def test_vary_takes_any_setting_by_its_path(default):
    study = {"vary": {"optimizer.settings.final_lr": [0.05, 0.1]}, "seeds": [0]}
    config = default | {"studies": {"meng2023/state": study}, "select": ["meng2023/state"]}
    made = plan.make(configuration.composed(config))
    settings = [made.runs[run]["settings"] for run in plan.runs_of(made.studies.values())]
    assert {own["optimizer"]["settings"]["final_lr"] for own in settings} == {0.05, 0.1}
