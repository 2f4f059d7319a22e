"""What the papers printed, beside the cells that it is about."""

import pytest
import yaml

from dpfl.base.errors import UserError
from dpfl.checks import config as configuration
from dpfl.papers import folder, published
from dpfl.planning import plan
from dpfl.planning.beside import Beside, unmatched
from dpfl.planning.compose import compose


@pytest.fixture(scope="module")
def default(root):
    return yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))


def beside(default, scale, study, method, epsilon, **variant):
    paper, _, name = study.partition("/")
    config = compose(default | {"scale": scale})[paper]
    return Beside(paper, name, config).cell(method, variant, epsilon)


def values(*arguments, **variant):
    return [found["value"] for found in beside(*arguments, **variant)]


@pytest.mark.parametrize(
    ("scale", "epsilon", "rank", "value"),
    # Zhou and Qian 2022, table 3, corners; features count as what they are features of
    [
        ("mnist", 2.0, 10, 96.12),
        ("mnist", 8, 1000, 97.89),
        ("cifar10", 2.0, 1000, 71.26),
        ("cifar10", 8.0, 10, 75.77),
        ("cifar10", 4.0, 50, 74.83),
    ],
)
def test_a_coordinate_is_matched_by_name_with_the_cells_settings(
    default, scale, epsilon, rank, value
):
    assert values(default, scale, "zhou2022/fsdp-k", "fsdp-central", epsilon, rank=rank) == [value]


@pytest.mark.parametrize(
    ("method", "epsilon", "rank"),
    [
        ("fsdp-central", 3.0, 50),
        ("fsdp-central", "inf", 50),
        ("fsdp-central", 2.0, 51),
        ("dpsgd", 2.0, 50),
    ],
)
def test_nothing_is_invented(default, method, epsilon, rank):
    assert values(default, "mnist", "zhou2022/fsdp-k", method, epsilon, rank=rank) == []


def test_a_demonstration_has_no_printed_number(default):
    assert values(default, "demo", "zhou2022/fsdp-k", "fsdp-central", 8.0, rank=50) == []


def test_another_delta_is_another_number(default):
    looser = default | {"delta": 1e-6}
    assert values(looser, "mnist", "zhou2022/fsdp-k", "fsdp-central", 2.0, rank=10) == []


def test_a_letter_can_be_read_in_two_ways(default):
    study = "zhou2022/fsdp-ablation"
    only = beside(default, "mnist", study, "ablation-m", 2.0)
    without = beside(default, "mnist", study, "ablation-src", 2.0)
    assert [(f["row"], f["reading"], f["value"]) for f in only] == [("fsdp-m", "only", 95.37)]
    assert [(f["row"], f["reading"], f["value"]) for f in without] == [("fsdp-m", "without", 95.37)]


@pytest.mark.parametrize(
    ("scale", "model", "study", "epsilon", "value"),
    # arXiv 2311.14056, table 2
    [
        ("mnist", "mnist-cnn", "strong", 2.0, [96.10]),
        ("mnist", "mnist-cnn-tanh", "strong", 4.0, [98.51]),
        ("cifar10", "scatter-cnn", "strong-cifar10", 4.0, [70.28]),
        ("cifar10", "scatter-cnn", "strong-cifar10", 8.0, []),
        ("mnist", "digits-cnn", "strong", 2.0, []),
    ],
)
def test_a_number_may_stand_beside_a_network(default, scale, model, study, epsilon, value):
    found = values(default, scale, f"strong/{study}", "strong", epsilon, model=model)
    assert found == value


def test_a_table_is_its_papers_own(default, monkeypatch, tmp_path):
    """A paper with tables of the same names changes nothing of another's."""
    before = plan.make(compose(default | {"scale": "mnist"}))
    monkeypatch.setattr(folder, "HOME", copied_papers(tmp_path))
    clear()
    invented = tmp_path / "papers" / "zhou2021"
    invented.mkdir()
    (invented / "paper.yaml").write_text("title: invented\n", encoding="utf-8")
    (invented / "studies.yaml").write_text("scales: {}\n", encoding="utf-8")
    head = "table,row,metric,value,dataset,epsilon,delta,rank\n"
    (invented / "published.csv").write_text(
        f"{head}table 3,fsdp,accuracy_pct,50.0,mnist,2,1e-5,50\n", encoding="utf-8"
    )
    after = plan.make(compose(default | {"scale": "mnist"}))
    assert after.studies == before.studies
    clear()


def copied_papers(to):
    import shutil

    shutil.copytree(folder.HOME, to / "papers")
    return to / "papers"


def clear():
    for function in (folder.load, published.read):
        function.cache_clear()


@pytest.fixture
def paper(monkeypatch, tmp_path):
    """Write a paper's printed numbers and its studies; give back what is wrong with them."""
    home = tmp_path / "workflow" / "papers"
    (home / "new2024").mkdir(parents=True)
    monkeypatch.setattr(folder, "HOME", home)
    clear()

    def write(printed, studies, about=ABOUT):
        (home / "new2024" / "paper.yaml").write_text(about, encoding="utf-8")
        text = yaml.safe_dump(studies)
        (home / "new2024" / "studies.yaml").write_text(text, encoding="utf-8")
        (home / "new2024" / "published.csv").write_text(printed, encoding="utf-8")
        clear()

    yield write
    clear()


ABOUT = "title: new\nread: all\nsummary: one\nclaims: []\n"
HEAD = "table,row,metric,value,dataset,epsilon"
STUDY = {
    "title": "a study",
    "kind": "compare",
    "dataset": "digits",
    "methods": ["sgd"],
    "epsilons": [8],
    "seeds": [0],
    "figures": [],
    "published": [{"table": "t", "methods": {"sgd": "ours"}}],
}


def studies(**changed):
    return {"studies": {"main": STUDY | changed}, "scales": {"demo": {"select": ["main"]}}}


def lines_of(default):
    with pytest.raises(UserError) as error:
        configuration.composed(default | {"papers": ["new2024"]})
    return str(error.value).splitlines()


def test_a_matching_row_is_accepted(default, paper):
    paper(f"{HEAD}\nt,ours,accuracy_pct,90,digits,8\n", studies())
    assert configuration.composed(default | {"papers": ["new2024"]})


WRONG = "workflow/papers/new2024/published.csv"


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("table,row,value\nt,ours,90\n", f"{WRONG}: no column 'metric'"),
        (f"{HEAD}\nt,ours,accuracy_pct,9o,digits,8\n", f"{WRONG}, line 2: value '9o', expected a"),
        (f"{HEAD}\nt,ours,accuracy_pct,nan,digits,8\n", f"{WRONG}, line 2: value 'nan'"),
        (f"{HEAD}\nt,ours,accuracy_pct,90,digits\n", f"{WRONG}, line 2: expected as many fields"),
        (
            f"{HEAD}\nt,ours,accuracy_pct,90,digits,8\nt,ours,accuracy_pct,91,digits,8\n",
            f"{WRONG}, line 3: says again what line 2 says",
        ),
        (
            f"{HEAD},epocs\nt,ours,accuracy_pct,90,digits,8,10\n",
            f"{WRONG}: column 'epocs' of t is no setting of study main; did you mean 'epochs'?",
        ),
        (
            f"{HEAD}\nt,ours,accuracy_pct,90,digits,8\nt,ours,accuracy_pct,90,digits,4\n",
            f"{WRONG}, line 3: t, row 'ours', dataset=digits, epsilon=4: stands beside no cell",
        ),
        (f"{HEAD}\nu,ours,accuracy_pct,90,digits,8\n", "no table 't'; "),
    ],
)
def test_a_mistake_in_printed_numbers_is_one_line(default, paper, printed, expected):
    paper(printed, studies())
    lines = lines_of(default)
    assert any(expected in line for line in lines), lines


@pytest.mark.parametrize(
    ("table", "row", "expected"),
    [
        ("tt", "ours", "workflow/papers/new2024/published.csv: no table 'tt'; did you mean 't'?"),
        ("t", "our", "no row 'our' in t; did you mean 'ours'?"),
    ],
)
def test_a_claim_on_what_is_not_printed_is_one_line(default, paper, table, row, expected):
    claim = {"id": "c", "where": "table 1", "quote": "90", "kind": "number", "study": "main"}
    claims = [claim | {"table": table, "row": row, "method": "sgd"}]
    about = yaml.safe_dump(yaml.safe_load(ABOUT) | {"claims": claims})
    paper(f"{HEAD}\nt,ours,accuracy_pct,90,digits,8\n", studies(), about)
    assert lines_of(default) == [f"workflow/papers/new2024/paper.yaml: claim c: {expected}"]


def test_a_number_beside_two_cells_is_one_line_unless_it_is_said(default, paper):
    printed = f"{HEAD}\nt,ours,accuracy_pct,90,digits,8\n"
    vary = {"rounds": [5, 10]}
    paper(printed, studies(vary=vary))
    (line,) = lines_of(default)
    assert f"{WRONG}, line 2: t, row 'ours', stands beside two cells of study main" in line
    assert "rounds=5 and rounds=10" in line
    said = [{"table": "t", "beside": ["rounds"], "methods": {"sgd": "ours"}}]
    paper(printed, studies(vary=vary, published=said))
    assert configuration.composed(default | {"papers": ["new2024"]})


def test_epochs_are_rounds_of_local_epochs(default, paper):
    paper(f"{HEAD},epochs\nt,ours,accuracy_pct,90,digits,8,10\n", studies())
    assert configuration.composed(default | {"papers": ["new2024"]})  # 10 rounds of one epoch


def test_tables_that_an_analysis_prices_are_left_to_it(default):
    config = compose(default)["zhou2022"]
    assert not list(unmatched("zhou2022", [], set(published.tables("zhou2022"))))
    assert len(list(unmatched("zhou2022", [config], set()))) == 66
