"""Writes results/reference/{paper}/{scale}: what a paper's results are, and what they came from."""

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dpfl.base import files, machine
from dpfl.base.errors import UserError
from dpfl.planning import outputs, reference
from dpfl.planning.plan import Plan, of_paper
from dpfl.provenance import runs, sample, schema
from dpfl.provenance.kept import ABOUT, FORMAT, OUTLINE
from dpfl.terminal.choice import Choice

PACKAGES = ("dpfl", "snakemake", "opacus", "dp-accounting", "torch", "numpy", "pandas")
CLAIMS = ("claims", "published")


@dataclass(frozen=True)
class Kept:
    """What is kept: the results of one paper at one scale, of a commit and a choice."""

    plan: Plan
    choice: Choice
    commit: str
    paper: str
    results: Path

    def write(self, reference: Path) -> Path:
        """Write the folder whole, in place of an older one; return it.

        UserError for a table that its schema does not know, for a file that is not whole, and
        where a choice of some studies would replace more.
        """
        outline = files.read_json(self.results / "papers" / f"{self.paper}.json")
        target = reference / self.paper / outline["scale"]
        self._require_no_less(target, outline)
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as made:
            new = Path(made) / "new"
            self._fill(new, outline)
            new.chmod(0o755)
            _put(new, target, Path(made) / "old")
        return target

    def _require_no_less(self, target: Path, outline: dict[str, Any]) -> None:
        """Raise a UserError if chosen studies are not all that the folder has."""
        if not self.choice.config().get("select") or not (target / OUTLINE).exists():
            return
        before = files.read_json(target / OUTLINE)
        lost = [
            name
            for part in ("studies", "analyses")
            for name in before[part]
            if name not in outline[part]
        ]
        if lost:
            raise UserError(
                f"{target} holds {', '.join(lost)} as well, which this choice leaves out; keep all "
                f"of the scale ({self._all_of_it()}), or remove the folder first"
            )

    def _all_of_it(self) -> str:
        """Say how the whole scale is run, where the command or a file of it chooses studies."""
        if "select" not in self.choice.settings:
            return f"without `select` in {', '.join(self.choice.files)}"
        settings = {k: v for k, v in self.choice.settings.items() if k != "select"}
        return replace(self.choice, settings=settings).command()

    def _fill(self, new: Path, outline: dict[str, Any]) -> None:
        kinds = dict(self._copied(new))
        files.write_json(new / OUTLINE, outline)
        table = runs.rows(self.plan, self.paper, self.results)
        runs.write(new / runs.FILE, table, list(schema.declared()["kinds"]["runs"]))
        schema.describe(f"{self.paper}-{outline['scale']}", new, kinds | {runs.FILE: "runs"})
        files.write_json(new / reference.FILE, runs.chosen(self.plan, self.paper, self.results))
        files.write_json(
            new / sample.FILE, sample.of_paper_runs(self.plan, self.paper, self.results)
        )
        about = self._about(outline, table)
        files.write_text(new / "README.md", _readme(about, outline, self.plan))
        files.write_json(new / ABOUT, about | {"files": dict(_digests(new))})
        schema.check(new)

    def _copied(self, new: Path) -> Iterator[tuple[str, str]]:
        """Copy tables, figures, studies and claims; yield the tables with their kinds."""
        for name in of_paper(self.plan.studies, self.paper):
            _copy(self.results / "studies" / f"{name}.json", new / "studies" / f"{_own(name)}.json")
        for name in outputs.figures(self.plan, self.paper):
            for form in ("png", "txt"):
                path = f"figures/{_own(name)}.{form}"
                _copy(self.results / "figures" / f"{name}.{form}", new / path)
        for name, kind in outputs.tables(self.plan, self.paper).items():
            for form in ("csv", "md"):
                path = f"tables/{_own(name)}.{form}"
                _copy(self.results / "tables" / f"{name}.{form}", new / path)
            yield f"tables/{_own(name)}.csv", kind
        for name in CLAIMS:
            _copy(self.results / "claims" / self.paper / f"{name}.csv", new / f"claims/{name}.csv")
            yield f"claims/{name}.csv", name

    def _about(self, outline: dict[str, Any], table: list[dict[str, Any]]) -> dict[str, Any]:
        summaries = [runs.Finished(row["run"], self.results).summary for row in table]
        ended = sorted(row["ended"] for row in table if row["ended"])
        config = self.choice.config()
        config.pop("data_dir", None)  # where data lies on a machine is no part of what was run
        finals = {row["run"] for row in table if row["role"] == "final"}
        seconds = {row["run"]: float(row["seconds"] or 0) for row in table}
        counted = {"final": len(finals), "trials": len(seconds) - len(finals)}
        return {
            "format": FORMAT,
            "paper": self.paper,
            "scale": outline["scale"],
            "command": self.choice.command(),
            "commit": self.commit,
            "clean_tree": True,
            "kept": datetime.now(UTC).isoformat(timespec="seconds"),
            "trained": {"first": ended[0], "last": ended[-1]} if ended else {},
            "runs": counted | {"trained": len(seconds)},
            "core_hours": round(sum(seconds.values()) / 3600, 3),
            "versions": _versions(summaries),
            "hardware": _hardware(summaries),
            "schema": schema.declared()["version"],
            "config": config,
        }


def _put(new: Path, target: Path, old: Path) -> None:
    """Move a folder into the place of another, which lies there again if that cannot be done."""
    if target.exists():
        target.rename(old)
    try:
        new.rename(target)
    except BaseException:
        if old.exists():
            old.rename(target)
        raise


def _versions(summaries: list[dict[str, Any]]) -> dict[str, str]:
    """Return the versions that trained, and those of all else that is installed here."""
    trained: dict[str, dict[str, None]] = {}
    for summary in summaries:
        for name, found in summary["versions"].items():
            trained.setdefault(name, {})[found] = None
    return _installed() | {name: ", ".join(found) for name, found in trained.items()}


def _installed() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _hardware(summaries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return every machine that trained, with the number of its runs."""
    found: dict[str, dict[str, Any]] = {}
    for summary in {own["run"]: own for own in summaries}.values():
        own = found.setdefault(machine.line(summary["hardware"]), summary["hardware"] | {"runs": 0})
        own["runs"] += 1
    return list(found.values())


def _readme(about: dict[str, Any], outline: dict[str, Any], plan: Plan) -> str:
    """Return the folder's page: what was run, and links to its tables and figures."""
    count, hours = about["runs"]["trained"], f"{about['core_hours']:g} core-hours"
    trained = f"{count} training runs, {hours}" if count else "no training"
    machines = [machine.line(own) for own in about["hardware"]]
    lines = [
        f"# {about['paper']} at scale {about['scale']}",
        "",
        f"    {about['command']}",
        "",
        f"At commit {about['commit']}: {trained}, kept on {about['kept'][:10]}.",
        *(f"Machine: {line}." for line in machines),
        f"[provenance.json]({ABOUT}) has the rest, [runs]({runs.FILE}) every run, "
        f"[datapackage.json]({schema.FILE}) what columns mean.",
        "",
    ]
    titles = {name: plan.studies[name]["title"] for name in outline["studies"]}
    titles |= {name: own["title"] for name, own in outline["analyses"].items()}
    lines += [f"- [{title}](tables/{_own(name)}.md)" for name, title in titles.items()]
    return "\n".join(lines) + "\n"


def _digests(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        content = path.read_bytes()
        told = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        yield path.relative_to(folder).as_posix(), told


def _own(name: str) -> str:
    """Return a name without that of its paper."""
    return name.split("/", 1)[1]


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
