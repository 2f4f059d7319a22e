"""The pinned requirements are the record: conda's file holds the same, and neither names a host."""

import re

import pytest
import yaml


def pins(root, name="requirements.txt"):
    lines = (root / "envs" / name).read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("name", ["requirements.txt", "flower.txt"])
def test_every_requirement_is_pinned_to_one_version(root, name):
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", pin) for pin in pins(root, name))


def test_a_run_over_a_wire_is_tested_with_the_versions_of_the_workflow_where_it_can_be(root):
    ours, theirs = (
        dict(pin.split("==") for pin in pins(root, name))
        for name in ("requirements.txt", "flower.txt")
    )
    assert {name for name in ours.keys() & theirs.keys() if ours[name] != theirs[name]} == {
        "certifi"  # Flower asks for a later one
    }
    assert "flwr" in theirs.keys() - ours.keys()


def test_conda_installs_the_same_versions(root):
    conda = yaml.safe_load((root / "envs" / "dpfl.yaml").read_text())
    [by_pip] = [d["pip"] for d in conda["dependencies"] if isinstance(d, dict)]
    assert by_pip == pins(root)


def test_the_readme_names_the_versions_of_python_that_the_package_takes(root):
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    low, high = re.search(r'requires-python = ">=3\.(\d+),<3\.(\d+)"', text).groups()
    taken = ", ".join(f"3.{minor}" for minor in range(int(low), int(high)))
    assert f"Python {taken} " in (root / "README.md").read_text(encoding="utf-8")


def test_no_file_names_a_host(root):
    for path in (root / "envs").iterdir():
        assert "://" not in path.read_text() and "--index" not in path.read_text()
