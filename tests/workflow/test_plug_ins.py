"""The README's plug-ins go through the suites of all; a misspelt constant stops before any job."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGES = Path("workflow") / "scripts" / "dpfl"


def file_of(package, name):
    return PACKAGES / package / f"{name.replace('-', '_')}.py"


@pytest.mark.parametrize(("package", "number"), [("optimizers", 0), ("mechanisms", 1)])
def test_the_readmes_plug_ins_pass_the_suites_without_being_named_there(
    root, sources, package, number
):
    text = (root / "README.md").read_text(encoding="utf-8")
    section = text.split("\n## Adding a baseline\n")[1].split("\n## ")[0]
    source = re.findall(r"```python\n(.*?)```", section, re.DOTALL)[number]
    name = re.match(r'"""([a-z0-9-]+): ', source)[1]
    (sources.path / file_of(package, name)).write_text(source, encoding="utf-8")
    suites = (root / "tests" / "contract", root / "tests" / "unit" / "test_optimizers.py")
    scripts = f"pythonpath={sources.path / PACKAGES.parent}"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-o", scripts, "-k", name, *suites],
        cwd=sources.path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 10


def test_a_misspelt_constant_is_one_line_before_the_first_job(sources):
    file = sources.path / file_of("mechanisms", "dpsgd")
    file.write_text(file.read_text(encoding="utf-8") + "\n\nCOTS = 1.2\n", encoding="utf-8")
    failed = sources.run("--dry-run")
    assert failed.returncode != 0
    told = "mechanisms/dpsgd.py: unknown constant 'COTS'; did you mean 'COST'?"
    assert told in (failed.stdout + failed.stderr).splitlines()
