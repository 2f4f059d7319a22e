"""Plug-ins are read before they are imported; what is wrong with a file is one line."""

import pytest

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.checks import plugin_settings
from dpfl.papers import folder
from dpfl.plugins import analyses

ANALYSIS = "def check(settings): ...\ndef tables(settings): ...\n"


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Writes a plug-in file into a package of an empty tree."""
    for name in ("ROOT", "WORKFLOW"):
        monkeypatch.setattr(plugins, name, tmp_path)

    def write(package: str, name: str, text: str) -> None:
        folder = tmp_path / package
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.py").write_text(text)

    return write


@pytest.mark.parametrize(
    ("text", "value"),
    [("256 * 16 + 4", 4100), ("(3 - 1) / 4", 0.5), ("{'a': 2 * 3}", {"a": 6}), ("1e3", 1e3)],
)
def test_arithmetic_of_a_constant_is_read(written, text, value):
    written("models", f"some_{abs(hash(text))}", f"PARAMETERS = {text}\n")
    assert plugins.constant("models", f"some-{abs(hash(text))}", "PARAMETERS") == value


@pytest.mark.parametrize("text", ["f(3)", "'a' * 9", "1 / 0", "2 ** 9 ** 9", "open('x')"])
def test_all_else_is_no_literal(written, text):
    written("models", f"bad_{abs(hash(text))}", f"PARAMETERS = {text}\n")
    with pytest.raises(UserError, match=r"models/bad_\d+\.py: PARAMETERS is .*must be a literal"):
        plugins.constant("models", f"bad-{abs(hash(text))}", "PARAMETERS")


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("lacks_shown", ANALYSIS, "has no attribute 'shown'"),
        ("lacks_a_module", "import no_such_module", "ModuleNotFoundError: No module named"),
        ("ends", "raise SystemError('at once')", "SystemError: at once"),
    ],
)
def test_an_analysis_that_cannot_be_used_is_one_line(written, name, text, told):
    written("papers/doe2024/analyses", name, f"{text}\n")
    written("analyses", "none", "")
    entry = {"uses": name.replace("_", "-"), "settings": {}}
    (line,) = plugin_settings._analysis_errors("doe2024", "config: analyses.x", entry)
    assert line.startswith(f"papers/doe2024/analyses/{name}.py: ") and told in line
    with pytest.raises(Exception, match=told.split(": ")[-1]):
        analyses.load("doe2024", entry["uses"])


def test_settings_of_analyses_are_checked_without_loading_what_computes(imported):
    asked = [
        (paper, own["uses"], own["settings"], *analyses.inputs_of(own))
        for paper in folder.names()
        for own in folder.load(paper).content.get("analyses", {}).values()
    ]
    check = "[analyses.load(paper, name).check(*given) for paper, name, *given in asked]"
    code = f"from dpfl.plugins import analyses\nasked = {asked!r}\n{check}"
    assert asked
    assert not imported(code, "numpy", "pandas", "torch", "dp_accounting", "matplotlib")
