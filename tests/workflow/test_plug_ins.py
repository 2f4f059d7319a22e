"""Plug-ins of the documentation go through the suites of all, which fail without their noise."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = Path("workflow") / "scripts" / "dpfl"
KINDS = {"optimizers": "params", "mechanisms": "clipping"}  # by the first argument of build
CONTRACT, OPTIMIZERS = ROOT / "tests" / "contract", ROOT / "tests" / "unit" / "test_optimizers.py"


def file_of(package, name):
    return PACKAGES / package / f"{name.replace('-', '_')}.py"


def plug_ins():
    """Return (package, source) by name of every file of the pages that has a `build`."""
    found = {}
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        for source in re.findall(r"```python[^\n]*\n(.*?)```", text, re.DOTALL):
            for package, first in KINDS.items():
                if re.search(rf"^def build\({first}\b", source, re.MULTILINE):
                    found[re.match(r'"""([a-z0-9-]+): ', source)[1]] = (package, source)
    return found


PLUG_INS = plug_ins()
MECHANISMS = [name for name, (package, _) in PLUG_INS.items() if package == "mechanisms"]


def suites_of(tree, name, source, *suites):
    """Run the tests of a plug-in, in a copy of the sources that has its file."""
    (tree.path / file_of(PLUG_INS[name][0], name)).write_text(source, encoding="utf-8")
    scripts = f"pythonpath={tree.path / PACKAGES.parent}"
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-o", scripts, "-k", name, *suites],
        cwd=tree.path,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("name", PLUG_INS)
def test_plug_ins_of_the_pages_pass_the_suites_without_being_named_there(sources, name):
    package, source = PLUG_INS[name]
    done = suites_of(sources, name, source, CONTRACT, OPTIMIZERS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 10
    assert ("test_noise_covers" in done.stdout) == (package == "mechanisms")


@pytest.mark.parametrize("name", MECHANISMS)
def test_half_the_noise_that_a_plug_in_declares_fails_the_suites(sources, name):
    _, source = PLUG_INS[name]
    assert "noise = step.noise_multiplier *" in source
    halved = source.replace("noise = step.noise_multiplier", "noise = step.noise_multiplier / 2")
    done = suites_of(sources, name, halved, CONTRACT / "test_replay.py")
    assert done.returncode == 1
    assert "of its noise, not 0.7692" in done.stdout


def test_the_pages_have_a_plug_in_of_either_kind():
    assert {package for package, _ in PLUG_INS.values()} == set(KINDS)
