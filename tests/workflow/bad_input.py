"""Runs the tables of mistakes through Snakemake and the calculator as users do: by command.

    PYTHONPATH=workflow/scripts .venv/bin/python tests/workflow/bad_input.py [table ...]

Not part of the suite, which meets the same tables in process (tests/unit/test_bad_input.py): a
start of Snakemake costs a second. Prints every case that is not told as the table says.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "unit"))

from bad_input import cases  # noqa: E402
from worktree import Tree, copied  # noqa: E402

NOTICES = ("Config file config.yaml is extended by additional config",)
"""What Snakemake itself prints whenever a file changes the configuration."""
Done = subprocess.CompletedProcess


def _configuration(mistake: dict, tree: Tree) -> Done:
    tree.configure(cases.changes(mistake))
    return tree.run("--dry-run", "--configfile", "mini.yaml")


def _papers(mistake: dict, tree: Tree) -> Done:
    home, name = tree.path / "workflow" / "papers", mistake.get("named", cases.PAPER)
    cases.write_paper(mistake, ROOT / "workflow" / "papers" / "_template", home / name)
    tree.configure({"papers": [name]})
    try:
        return tree.run("--dry-run", "--configfile", "mini.yaml")
    finally:
        shutil.rmtree(home / name)


def _files(mistake: dict, tree: Tree) -> Done:
    folder = Path(tempfile.mkdtemp(dir=tree.path))
    path = cases.write_file(mistake, folder / "mine.yaml")
    check = "from dpfl.checks.config_files import check_files; check_files([sys.argv[1]])"
    code = f"import sys; from dpfl.base import cli; cli.main(lambda: exec({check!r}))"
    return _python(tree, "-c", code, str(path))


def _calculator(mistake: dict, tree: Tree) -> Done:
    driver = tree.path / "workflow" / "scripts" / "privacy.py"
    return _python(tree, str(driver), *mistake["call"].split())


def _python(tree: Tree, *words: str) -> Done:
    scripts = str(tree.path / "workflow" / "scripts")
    return subprocess.run(
        [sys.executable, *words], env={"PYTHONPATH": scripts}, capture_output=True, text=True
    )


MEETS: dict[str, Callable[[dict, Tree], Done]] = {
    "configuration": _configuration,
    "papers": _papers,
    "files": _files,
    "calculator": _calculator,
}


def problem(case: cases.Case, tree: Tree) -> str:
    """Return what is wrong with how a case is told, nothing if all is well."""
    done = MEETS[case.table](case.mistake, tree)
    printed = (done.stdout + done.stderr).splitlines()
    told = "\n".join(line for line in printed if line.strip() and not line.startswith(NOTICES))
    try:
        case.expect(told)
    except AssertionError:
        return f"told: {told[-600:]}"
    if done.returncode == 0:
        return "the exit status is 0"
    return f"made: {tree.made()}" if tree.made() else ""


def main() -> None:
    """Print every case that is told badly, and how many there are of both."""
    tables = sys.argv[1:] or list(MEETS)
    chosen = [case for case in cases.ALL if case.table in tables]
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(ROOT, Path(folder) / "sources")
        problems = {str(case): found for case in chosen if (found := problem(case, tree))}
    for case, found in problems.items():
        print(f"{case}\n    {found}")
    print(f"{len(chosen) - len(problems)} of {len(chosen)} cases are told well")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
