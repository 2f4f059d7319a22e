"""The digest of code: what a file says, with all it imports, and not where it lies; whose it is."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dpfl import plugins
from dpfl.runs import code, sources

ASK = """
import json, sys
sys.path.insert(0, "workflow/scripts")
from pathlib import Path
from dpfl.runs import code
print(json.dumps([code.digest(Path(name)) for name in sys.argv[1:]]))
"""
FILES = {
    "job": "from dpfl.tried import tool\nfrom dpfl import other\n\nX = tool.double(other.ONE)\n",
    "dpfl/tried/__init__": '"""A package."""\n',
    "dpfl/tried/tool": (
        '"""Doubles."""\nfrom dpfl.other import ONE\n\n\ndef double(x):\n'
        '    """Return 2 x."""\n    return x * 2 * ONE\n'
    ),
    "dpfl/other": "ONE = 1\n",
}
"""A driver, with what it imports: the tool, and a number that both of them use."""


@pytest.fixture
def ours(root, tmp_path):
    """A copy of the package with a driver and two modules more; returns (write, digest of both)."""
    shutil.copytree(root / "workflow/scripts", tmp_path / "workflow/scripts")
    scripts = tmp_path / "workflow/scripts"

    def write(files: dict[str, str | None]) -> None:
        for name, text in files.items():
            path = scripts / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink() if text is None else path.write_text(text, encoding="utf-8")

    def digests(python: str = sys.executable) -> list[str]:
        command = [python, "-c", ASK, scripts / "job.py", scripts / "train.py"]
        return json.loads(subprocess.check_output(command, cwd=tmp_path, stderr=subprocess.DEVNULL))

    write(FILES)
    return write, digests


def test_moved_renamed_and_reworded_modules_leave_the_digest(ours):
    write, digests = ours
    before = digests()
    write(
        {
            "dpfl/tried/tool": None,
            "dpfl/elsewhere/deeper/__init__": '"""Another package."""\n',
            "dpfl/elsewhere/deeper/doubling": (
                "# It doubles.\nfrom dpfl.number import ONE as one\n\ndef double(x):\n"
                "    return (x * 2  # twice\n            * one)\n"
            ),
            "dpfl/other": None,
            "dpfl/number": '"""What both use."""\nfrom typing import TYPE_CHECKING\n'
            "if TYPE_CHECKING:\n    from dpfl.elsewhere.deeper import doubling\nONE = 1\n",
            "job": "from dpfl import number\nfrom dpfl.elsewhere.deeper import doubling\n"
            "X = doubling.double(number.ONE)\n",
        }
    )
    job, train = digests()
    assert train == before[1]
    assert job != before[0], "number.py imports TYPE_CHECKING, which other.py did not"
    write({"dpfl/number": '"""What both use."""\n# one\nONE = 1\n'})
    assert digests() == before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("dpfl/tried/tool", "x * 2", "x * 3"),
        ("dpfl/other", "ONE = 1", "ONE = 1.0"),
        ("dpfl/tried/__init__", '"""A package."""', "import math"),
        ("job", "tool.double(other.ONE)", "other.ONE"),
        ("job", "tool.double(other.ONE)", "other.double(tool.ONE)"),
        ("job", "from dpfl import other\n", "from dpfl import runs as other, other as o\n"),
    ],
)
def test_changed_code_changes_the_digest_of_what_imports_it_alone(ours, name, old, new):
    write, digests = ours
    before = digests()
    assert old in FILES[name]
    write({name: FILES[name].replace(old, new)})
    assert [old == new for old, new in zip(before, digests(), strict=True)] == [False, True]


def test_files_that_import_each_other_have_a_digest_each(ours):
    write, digests = ours
    circle = {
        "dpfl/tried/tool": "from dpfl import other\n\n\ndef double(x):\n    return x\n",
        "dpfl/other": "ONE = 1\n\n\ndef late():\n    from dpfl.tried import tool\n    tool\n",
    }
    write(circle)
    before = digests()
    write({"dpfl/tried/tool": circle["dpfl/tried/tool"].replace("return x", "return 2 * x")})
    assert digests()[0] != before[0]
    write(circle)
    assert digests() == before


def test_what_versions_of_python_tell_otherwise_is_told_alike():
    """3.12 and 3.13 have fields more, and 3.12 ends a format with an empty text."""
    plain = ast.parse("def f(x, w):\n    return f'{x:{w}}, a'\n")
    more = ast.parse("def f(x, w):\n    return f'{x:{w}}, a'\n")
    function = more.body[0]
    function.type_params = []
    texts = function.body[0].value.values
    texts[0].format_spec.values.append(ast.Constant(""))
    texts[-1:] = [ast.Constant(", "), ast.Constant("a")]
    written = ["".join(code._written(tree, {})) for tree in (plain, more)]
    assert written[0] == written[1]
    other = ast.parse("def f(x, w):\n    return f'{x:{w}}, b'\n")
    assert "".join(code._written(other, {})) != written[0]


def test_data_that_a_plug_in_reads_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(code, "WORKFLOW", tmp_path / "workflow")
    (tmp_path / "numbers.csv").write_text("1", encoding="utf-8")
    driver = Path(code.SCRIPTS / "train.py")
    before = code.digest(driver, read=["numbers.csv"])
    (tmp_path / "numbers.csv").write_text("2", encoding="utf-8")
    assert len({before, code.digest(driver), code.digest(driver, read=["numbers.csv"])}) == 3


def needed_by(driver: str, *plug_ins) -> list[str]:
    files = (code.SCRIPTS / driver, *plug_ins)
    found = {path for file in files for path in code.needed_by(file.resolve())}
    return [str(path.relative_to(code.SCRIPTS.resolve())) for path in found]


@pytest.mark.parametrize("optimizer", ["sgd", "cadabelief"])
def test_found_files_cover_what_python_imports(root, optimizer):
    """Compared with the modules that a real interpreter loads."""
    plug_in = plugins.path_of("optimizers", optimizer)
    found = needed_by(
        "train.py",
        plug_in,
        plugins.path_of("mechanisms", "dpsgd"),
        plugins.path_of("models", "digits-cnn"),
    )
    code = (
        "import sys; sys.path.insert(0, 'workflow/scripts'); import train, dpfl.plugins as p;"
        f"p.load('optimizers', '{optimizer}'); p.load('mechanisms', 'dpsgd');"
        "p.load('models', 'digits-cnn');"
        "ours = [m for n, m in sys.modules.items() if n.startswith('dpfl') and m.__file__];"
        "print(*(m.__file__ for m in ours))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    ).stdout.split()
    relative = {str(path).removeprefix(f"{root}/workflow/scripts/") for path in loaded}
    assert relative <= set(found)
    others = {f"dpfl/optimizers/{n}.py" for n in ("adam", "adabound")}
    assert not others & set(found)


def test_a_training_job_imports_neither_torchvision_nor_opacus(imported):
    slow = ("torchvision", "opacus", "dp_accounting", "pandas", "sklearn")
    assert imported("import train", *slow) == set()


def test_what_only_type_checkers_import_is_no_dependency():
    found = needed_by("prepare_data.py", plugins.path_of("data", "digits"))
    assert "dpfl/contracts/protocols.py" in found
    assert not [file for file in found if "/gradients/" in file or "/privacy/" in file]


def test_editing_an_entry_or_a_base_concerns_its_derived_data_sets_alone(monkeypatch):
    """An entry is one of derived.yaml; a base is covered with all that it imports."""
    names = ("mnist", "mnist-scatter", "mnist-scatter-whitened", "cifar10-scatter")
    before = [sources.of_data(name) for name in names]
    monkeypatch.setitem(plugins.derived("data")["mnist-scatter"], "mirrored", True)
    after = [sources.of_data(name) for name in names]
    assert [a != b for a, b in zip(after, before, strict=True)] == [False, True, False, False]
    code = {name: sources.of_data(name).split()[0] for name in names}
    assert code["mnist-scatter"] == code["mnist-scatter-whitened"]
    assert code["mnist-scatter"] not in (code["mnist"], code["cifar10-scatter"])
