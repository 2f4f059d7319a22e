"""The source files a job depends on: all that it imports, and nothing else of ours."""

import subprocess
import sys

import pytest

from dpfl import plugins
from dpfl.runs import code, sources


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
