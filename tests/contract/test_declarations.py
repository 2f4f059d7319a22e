"""Every plug-in file is what its Protocol says; what a file may get wrong is one line."""

import re

import declared
import pytest
import torch

from dpfl import clippings, plugins
from dpfl.base.errors import UserError
from dpfl.contracts import plugin_files, protocols
from dpfl.contracts.schedule import Budget, Schedule, Work
from dpfl.plugins import declarations

FILES = [(package, name) for package in plugin_files.FILES for name in plugins.names(package)]


@pytest.mark.parametrize(("package", "name"), FILES)
def test_a_file_declares_what_its_protocol_lists_and_nothing_else(package, name):
    assert [*declarations.errors(package, name)] == []


@pytest.mark.parametrize(("package", "name"), FILES)
def test_what_is_read_without_importing_is_what_the_file_defines(package, name):
    module = plugins.load(package, name)
    public = filter(declarations.PUBLIC.fullmatch, plugins.assigned(package, name))
    read = {variable: plugins.constant(package, name, variable) for variable in public}
    assert read == {name: getattr(module, name) for name in dir(module) if name in read}


@pytest.mark.parametrize("package", plugin_files.FILES)
def test_defaults_are_of_the_types_that_are_declared(package):
    protocol = plugin_files.FILES[package]
    types = declarations.types(package)
    assert all(declarations.fits(getattr(protocol, name), kind) for name, kind in types.items())


@pytest.mark.parametrize("name", plugins.names("mechanisms"))
def test_a_mechanism_does_what_its_unit_asks(name):
    unit = {"example": protocols.Mechanism, "client": protocols.ClientMechanism}
    needed = declared.required("mechanisms", name)
    rule = plugins.constant("mechanisms", name, "CLIPPING_RULES")[0]
    clipping = {**declared.required("clippings", rule), "rule": rule, "clip_norm": 1.0}
    built = plugins.load("mechanisms", name).build(clipping, **needed)
    assert isinstance(built, unit[plugins.constant("mechanisms", name, "UNIT")])


@pytest.mark.parametrize("name", plugins.names("clippings"))
def test_a_clipping_rule_answers_and_declares_why_it_has_no_proof(name):
    built = clippings.build({**declared.required("clippings", name), "rule": name, "clip_norm": 1})
    assert isinstance(built, protocols.ClippingRule)
    assert tuple(built.unproven) == plugins.constant("clippings", name, "REASONS")


@pytest.mark.parametrize("name", plugins.names("optimizers"))
def test_an_optimizer_steps_and_is_kept(name):
    theta = torch.nn.Parameter(torch.ones(3))
    needed = declared.required("optimizers", name)
    built = plugins.load("optimizers", name).build([theta], **needed | {"lr": 0.1})
    assert isinstance(built, protocols.Optimizer)


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("name", plugins.names("privacy/budgets"))
def test_a_strategy_gives_every_round_its_noise(name):
    work, needed = Work(0.2, 2, 3), declared.required("privacy/budgets", name)
    found = plugins.load("privacy/budgets", name).schedule(work, Budget(4.0, 1e-3), **needed)
    assert isinstance(found, Schedule) and len(found.noise_multipliers) == work.rounds
    assert all(z > 0 for z in found.noise_multipliers) and 0 <= found.paid_steps <= work.steps


@pytest.mark.parametrize(
    ("package", "name", "setting"),
    [
        (package, name, setting)
        for package, name in FILES
        if package in declared.FUNCTIONS
        for setting in plugins.constant(package, name, "SETTINGS")
    ],
)
def test_what_is_out_of_bounds_is_refused_when_it_is_built(package, name, setting):
    function = getattr(plugins.load(package, name), declared.FUNCTIONS[package][0])
    values = declared.required(package, name) | {setting: {}}
    given = [object()] * declared.FUNCTIONS[package][1]
    if package == "optimizers":
        given = [[torch.nn.Parameter(torch.ones(3))]]
    with pytest.raises(UserError, match=rf"^{name}: {setting} is {{}}; it must be ") as error:
        function(*given, **values)
    assert "\n" not in str(error.value)


MISTAKES = {
    "COTS = 1.2": "unknown constant 'COTS'; did you mean 'COST'?",
    "CLIPING_RULES = ()": "unknown constant 'CLIPING_RULES'; did you mean 'CLIPPING_RULES'?",
    "COST: float = 'high'": "COST is 'high'; it must be float | tuple[float, ...]",
    'UNIT = "clients"': "UNIT is 'clients'; it must be Literal['example', 'client']",
    'CLIPPING_RULES = ["fixed"]': "CLIPPING_RULES is ['fixed']; it must be tuple[str, ...]",
    'CLIPPING_RULES = ("fixed")': "CLIPPING_RULES is 'fixed'; it must be tuple[str, ...]",
    "COST = sum((2, 3))": "COST is sum((2, 3)); it must be a literal",
    'MEMORY = {"columns": 4}': "MEMORY is {'columns': 4}; it must be dict",
    "NEEDS_PUBLIC = 1": "NEEDS_PUBLIC is 1; it must be bool | dict",
    'SETTINGS = {"rnak": "whole >= 1"}': "SETTINGS: unknown setting 'rnak'; did you mean 'rank'?",
    'SETTINGS = {"rank": "whole > = 1"}': "SETTINGS: rank: cannot read the bound 'whole > = 1'",
    "A, COTS = 1, 2": "unknown constant 'A'; there are:",
    "COST = (": "'(' was never closed, line 2",
}


@pytest.fixture
def plug_in(tmp_path, monkeypatch):
    """Write a mechanism with some lines, beside no other."""

    def write(name, lines):
        monkeypatch.setattr(plugins, "ROOT", tmp_path)
        (tmp_path / "mechanisms").mkdir()
        file = tmp_path / "mechanisms" / f"{name}.py"
        build = "def build(clipping, rank): ..."
        file.write_text(f'"""A mechanism."""\n{lines}\n{build}\n', encoding="utf-8")

    return write


@pytest.mark.parametrize(("number", "lines"), list(enumerate(MISTAKES)))
def test_a_mistake_in_a_file_is_one_line(plug_in, number, lines):
    plug_in(f"mistaken_{number}", lines)
    try:
        found = [*declarations.errors("mechanisms", f"mistaken-{number}")]
    except UserError as error:
        found = [str(error)]
    assert found[0].startswith(f"mechanisms/mistaken_{number}.py: {MISTAKES[lines]}")
    assert not any("\n" in line for line in found)


def test_private_names_and_others_are_free(plug_in):
    plug_in("free", "_STEPS = range(3)\nlower = 1\nCOST = 3\nKind = int\n_x, _Y = 1, 2")
    assert [*declarations.errors("mechanisms", "free")] == []


def test_the_plug_ins_of_the_guide_declare_nothing_wrong(root, tmp_path, monkeypatch):
    pages = ("tutorial.md", *(f"adding-a-{of}.md" for of in ("baseline", "federation", "sampling")))
    text = "".join((root / "docs" / page).read_text(encoding="utf-8") for page in pages)
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    monkeypatch.setattr(plugins, "ROOT", tmp_path)
    for number, source in enumerate(blocks):
        kinds = {"params": "optimizers", "Federation(": "federations", "Turn": "samplings"}
        package = next((own for word, own in kinds.items() if word in source), "mechanisms")
        (tmp_path / package).mkdir(exist_ok=True)
        (tmp_path / package / f"guide_{number}.py").write_text(source, encoding="utf-8")
        assert [*declarations.errors(package, f"guide-{number}")] == []
