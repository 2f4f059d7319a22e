"""Every mistake in the configuration is one line: key, place, nearest valid key or bound."""

import pytest
import yaml

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.checks import config as configuration
from dpfl.papers import folder
from dpfl.papers.merging import merged

PAPERS = ("studies", "analyses")


@pytest.fixture(scope="module")
def default(root):
    return yaml.safe_load((root / "config.yaml").read_text())


def changed(config, path, value):
    """A configuration with what a user's file says: a path such as studies/meng2023/rates/seeds."""
    first, *rest = path.split("/")
    if first in PAPERS:
        rest = ["/".join(rest[:2]), *rest[2:]]
    for key in reversed(rest):
        value = {key: value}
    return merged(config, {first: value})


def lines_of(config):
    with pytest.raises(UserError) as error:
        configuration.composed(config)
    return str(error.value).splitlines()


SCALES = sorted({scale for key in folder.names() for scale in folder.load(key).scales})


@pytest.mark.parametrize("scale", SCALES)
def test_every_scale_is_valid(default, scale):
    assert configuration.composed(default | {"scale": scale})


ALONGSIDE = {
    "title": "Alongside",
    "kind": "variants",
    "dataset": "digits",
    "methods": ["alongside"],
    "epsilons": [8],
    "seeds": [0],
    "tuned_by": "alongside-rates",
    "figures": [],
}
MISTAKES = [
    ("delat", 1e-5, "unknown key 'delat' at top level; did you mean 'delta'?"),
    ("federations/default/round", 3, "at federations.default; did you mean 'rounds'?"),
    ("studies/meng2023/cadabelief/epsilon", [1], "at studies.cadabelief; did you mean 'epsilons'?"),
    (
        "federations/default/rounds",
        "ten",
        "federations.default.rounds = 'ten', expected type integer",
    ),
    ("federations/default/rounds", 0, "federations.default.rounds = 0, expected at least 1"),
    ("device", "gpu", "device = 'gpu', expected one of cpu or cuda"),
    ("accountant", "pldd", "accountant: no 'pldd' in privacy/accountants: did you mean 'pld'?"),
    ("delta", 1, "delta = 1, expected less than 1"),
    ("delta", "1e-5", "delta = '1e-5', expected type number (YAML reads it as text: write 1.0e-5)"),
    ("delta", 0.01, "delta = 0.01, expected less than 1/1437"),
    (
        "studies/meng2023/cadabelief/epsilons",
        [0],
        "epsilons.0 = 0, expected a number in [1e-06, 1000] or inf",
    ),
    (
        "studies/meng2023/cadabelief/epsilons",
        [-1],
        "epsilons.0 = -1, expected a number in [1e-06, 1000] or inf",
    ),
    ("studies/meng2023/cadabelief/epsilons", ["infinity"], "a number in [1e-06, 1000] or inf"),
    ("studies/meng2023/cadabelief/epsilons", ["1e1"], "inf (YAML reads it as text: write 1.0e1)"),
    ("studies/meng2023/cadabelief/methods", ["sgdd"], "no 'sgdd' in methods"),
    ("studies/meng2023/cadabelief/dataset", "mnits", "did you mean 'mnist'?"),
    ("studies/meng2023/cadabelief/tuned_by", "state", "expected a study that varies rate"),
    (
        "select",
        ["cadabelif"],
        "config: select: no study 'cadabelif'; did you mean 'cadabelief'?",
    ),
    ("methods/sgd/clipping", "clip-2", "no 'clip-2' in clippings, named at methods.sgd.clipping"),
    ("optimizers/adam/uses", "adamm", "no 'adamm' in optimizers: did you mean 'adam'?"),
    ("optimizers/adam/settings", {"beta": 1}, "unknown setting 'beta' at optimizers.adam"),
    ("optimizers/adam/rate_key", "rate", "unknown setting 'rate' at optimizers.adam"),
    ("models/digits", "digits-cn", "did you mean 'digits-cnn'?"),
    ("mechanisms/dpsgd/uses", "dpsdg", "did you mean 'dpsgd'?"),
    ("federations/default/clients", 600, "expected at most 20: 1294 examples, at least 64"),
    ("federations/default/batch_size", 500, "expected at most the 431 examples of a client"),
    ("federations/default/clients_per_round", 4, "expected at most 3"),
    ("federations/default/local_steps", 5, "expected one of local_epochs and local_steps"),
    (
        "partitions/iid",
        {"uses": "shards", "labels_per_client": 900},
        "2700 shards (labels_per_client x clients), expected at most 1294",
    ),
    (
        "optimizers/adam/settings",
        {"betas": 0.9},
        "betas is 0.9; it must be two values, each",
    ),
    ("optimizers/cadabelief/settings", {"order": "clipfirst"}, "it must be clip-first or adabound"),
    ("optimizers/adam/settings", {"lr": 1}, "has 'lr', which rate_key already gives"),
    (
        "studies/meng2023/rates/vary",
        {"rate": [float("inf")]},
        "rate.0 = inf, expected a finite number",
    ),
    (
        "studies/meng2023/cadabelief/epsilons",
        [float("nan")],
        "epsilons.0 = nan, expected a finite number",
    ),
    (
        "studies/meng2023/my.study",
        {},
        "name 'my.study' at studies, expected lower-case letters, digits and dashes",
    ),
    ("partitions/iid", {"uses": "dirichlet"}, "partitions.iid lacks 'alpha'"),
    ("partitions/iid/alpha", 0.5, "unknown setting 'alpha' at partitions.iid; there are: none"),
    ("mechanisms/dpsgd/clip", 1, "unknown setting 'clip' at mechanisms.dpsgd"),
    ("budgets/uniform/sigma", 1, "unknown setting 'sigma' at budgets.uniform"),
    ("budgets/uniform", {"uses": "constant"}, "budgets.uniform lacks 'noise_multiplier'"),
    ("budgets/decay/ratios", 2, "unknown setting 'ratios' at budgets.decay; did you mean 'ratio'?"),
    ("clippings/clip-1/uses", "fixd", "no 'fixd' in clippings: did you mean 'fixed'?"),
    ("clippings/clip-1/quantile", 0.5, "unknown setting 'quantile' at clippings.clip-1"),
    (
        "clippings/quantile-0.85/quantile",
        85,
        "quantile is 85; it must be a number in (0, 1)",
    ),
    ("budgets/decay/shape", "geometrc", "shape is 'geometrc'; it must be geometric or linear"),
    ("mechanisms/fsdp-central/solver", "grm", "solver is 'grm'; it must be gram or funk"),
    ("mechanisms/fsdp-central/rank", "ten", "rank is 'ten'; it must be a whole number >= 1"),
    ("mechanisms/fsdp-central/rank", 0, "fsdp-central: rank is 0; it must be a whole number >= 1"),
    (
        "mechanisms/fsdp-published",
        {"uses": "fsdp-published", "rank": 5, "reading": "matrix", "solver": "funk"},
        "fsdp-published has reading matrix and solver funk with fsdp-published: reading matrix "
        "takes solver gram alone",
    ),
    (
        "methods/dpsgd-opacus/clipping",
        "quantile-0.85",
        "expected fixed with dpsgd-opacus; it takes no other",
    ),
    (
        "optimizers/sgd-slow",
        {"uses": "dp-adambc", "rate_key": "lr", "rate": 0.01, "settings": {}},
        "fsdp-certified has optimizer dp-adambc, which asks for the noise of a step: that of "
        "fsdp-certified is not z C in every coordinate, expected one like dpsgd",
    ),
    (
        "methods/fsdp-certified/clipping",
        "batch-mean",
        "fsdp-certified clips by rule 'fsdp-adaptive', expected fixed or quantile with "
        "fsdp-certified; its proof covers no other: the clipping bound is a mean over the private "
        "batch",
    ),
    (
        "studies/zhou2022/alongside/leave_out",
        [],
        "alongside clips by rule 'fsdp-adaptive', expected fixed or quantile with fsdp-certified",
    ),
    (
        "studies/zhou2022/alongside/leave_out",
        [{"clipping": "clip-2"}],
        "leave_out.0.clipping = clip-2, no name of clippings; did you mean 'clip-1'?",
    ),
    (
        "studies/zhou2022/alongside/leave_out",
        [{"clipping": ["clip-1", "clip-2"]}],
        "leave_out.0.clipping = clip-2, no name of clippings; did you mean 'clip-1'?",
    ),
    (
        "studies/zhou2022/fsdp-compare/method_seeds",
        {"fsdp-centrl": [0]},
        "no 'fsdp-centrl' in methods, named at studies.fsdp-compare.method_seeds; did you mean",
    ),
    (
        "studies/zhou2022/fsdp-compare/public_examples",
        0,
        "studies.fsdp-compare.public_examples, expected more than 0: pdpsgd uses some",
    ),
    (
        "studies/zhou2022/fsdp-compare/public_examples",
        1400,
        "expected at most 0: 37 examples, at least 64",
    ),
    ("studies/zhou2022/fsdp-k/vary", {"rank": [0]}, "vary.rank.0 = 0, expected at least 1"),
    (
        "studies/meng2023/state/vary",
        {"optimizer.settings.betas": [[0.9, 0.99]]},
        "vary.optimizer.settings.betas.0 = [0.9, 0.99], expected type string or number or boolean",
    ),
    (
        "studies/meng2023/rates/validation_fraction",
        0.0002,
        "studies.rates.validation_fraction = 0.0002 holds none of 1437 examples out: kind rates",
    ),
    (
        "studies/meng2023/steep",
        {
            **{"title": "t", "kind": "rates", "dataset": "digits", "methods": ["strong"]},
            **{"epsilons": [8], "seeds": [0], "validation_fraction": 0.1, "figures": []},
            "vary": {"rate": [0.1], "optimizer.settings.momentum": [0.5, 0.75]},
            "tuning": {"uses": "bisect", "over": ["optimizer.settings.momentum"]},
        },
        "bisect may go on from optimizer.settings.momentum = 0.5 to 0.75: momentum is 1.6875",
    ),
    (
        "studies/meng2023/state/vary",
        {"rank": [3]},
        "studies.state.vary: rank is no setting; did you mean",
    ),
    (
        "studies/zhou2022/fsdp-k/vary",
        {"model": ["digits-cn"]},
        "fsdp-k.vary.model: no 'digits-cn' in models",
    ),
    ("mechanisms/fsdp-central/ranks", 3, "unknown setting 'ranks' at mechanisms.fsdp-central"),
    (
        "studies/zhou2022/fsdp-k/published",
        [{"table": "table 9", "methods": {}}],
        "workflow/papers/zhou2022/published.csv: no table 'table 9'; did you mean 'table ",
    ),
    (
        "studies/zhou2022/fsdp-k/published",
        [{"table": "table 3", "methods": {"fsdp-centrl": "fsdp"}}],
        "published.0.methods has 'fsdp-centrl', expected one of the methods; did you mean",
    ),
    (
        "studies/zhou2022/fsdp-k/published",
        [{"table": "table 3", "methods": {"fsdp-central": "fdsp"}}],
        "published.0.methods.fsdp-central: no row 'fdsp' in the table; did you mean 'fsdp'?",
    ),
    (
        "studies/zhou2022/fsdp-k/published",
        [{"table": "table 3"}],
        "published.0 has neither methods nor models, expected one of them",
    ),
    (
        "studies/fu2024/strong/published",
        [{"table": "table 2", "models": {"mnist-cn": "ScatterNet"}}],
        "published.0.models has 'mnist-cn', expected one of the models; did you mean 'mnist-cnn'?",
    ),
    (
        "studies/composition-text/budgets/baseline",
        {"budget": "uniforn"},
        "studies.budgets.baseline.budget = uniforn, no name of budgets; did you mean 'uniform'?",
    ),
    (
        "studies/zhou2022/fsdp-gain/baseline",
        {"method": "sgdd"},
        "studies.fsdp-gain.baseline.method = sgdd, no name of methods; did you mean 'sgd'?",
    ),
    (
        "studies/zhou2022/fsdp-gain/tuned_by",
        "alongside-rates",
        "studies.fsdp-gain.methods has 'dpsgd', which studies.alongside-rates does not tune",
    ),
    (
        "studies/zhou2022/alongside",
        ALONGSIDE | {"vary": {"mechanism": ["dpsgd"], "clipping": ["clip-0.1"]}},
        "studies.alongside varies mechanism=dpsgd, clipping=clip-0.1, optimizer=cadabelief, which "
        "studies.alongside-rates does not tune",
    ),
    (
        "studies/composition-text/clip-noise/methods",
        ["sgd"],
        "vary: noise_multiplier is no setting; did you mean",
    ),
    (
        "studies/composition-text/client-level/methods",
        ["dp-fedavg", "sgd"],
        "studies.client-level.methods protect client (dp-fedavg), example (sgd), expected one unit",
    ),
    (
        "federations/cohorts/weighting",
        "examples",
        "dp-fedavg has weighting 'examples', expected 'uniform' with unit client",
    ),
    (
        "federations/cohorts/state",
        "persist",
        "dp-fedavg has state 'persist', expected 'reset' with unit client",
    ),
    (
        "studies/composition-text/client-level/vary",
        {"clients": [5]},
        "clients_per_round = 40, expected at most 5",
    ),
    (
        "studies/composition-text/client-level/vary",
        {"clients": [2000]},
        "clients = 2000, expected at most 1437",
    ),
    ("select", ["compositoin"], "no study 'compositoin'; did you mean 'composition'?"),
    (
        "analyses/composition-text/composition/uses",
        "compose",
        "no 'compose' in analyses: did you mean",
    ),
    (
        "analyses/composition-text/composition/settings/slack",
        2,
        "analyses.composition.settings: settings.slack",
    ),
    ("analyses/meng2023/mine", {}, "required property at analyses.mine"),
]


@pytest.mark.parametrize(
    "path, value, expected", MISTAKES, ids=[f"{p}={v}" for p, v, _ in MISTAKES]
)
def test_a_mistake_is_named_with_its_place_and_bound(default, path, value, expected):
    lines = lines_of(changed(default, path, value))
    assert any(expected in line for line in lines), lines
    assert all(line.startswith("config: ") for line in lines)


@pytest.mark.parametrize(
    ("owners", "expected"),
    [
        (None, "digits has no natural clients, expected a data set with CLIENTS: there is none"),
        (2, "clients = 3 with partitions.iid, expected at most 2, the natural clients of digits"),
    ],
)
def test_natural_clients_are_those_of_the_data_set(default, monkeypatch, owners, expected):
    of_file = plugins.constant

    def constant(*asked):
        return owners if asked[:3] == ("data", "digits", "CLIENTS") else of_file(*asked)

    monkeypatch.setattr(plugins, "constant", constant)
    lines = lines_of(changed(default, "partitions/iid", {"uses": "natural"}))
    assert any(expected in line for line in lines)


def test_delta_must_be_small_for_the_unit(default):
    config = changed(default, "delta", 1 / 400)
    config = changed(config, "select", ["client-level"])
    assert lines_of(config) == ["config: delta = 0.0025, expected less than 1/400, 1/(clients)"]


def test_several_mistakes_are_told_at_once(default):
    config = changed(changed(default, "delat", 1), "device", "gpu")
    assert len(lines_of(config)) == 2


def test_a_missing_key_is_named(default):
    config = changed(default, "federations", {"mine": {"extends": "default"}, "bare": {}})
    assert "config: 'rounds' is a required property at federations.bare" in lines_of(config)
