"""What docs/ says of the workflow: its rules as a graph, the scales of papers and their cost."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import networkx

from dpfl.checks import config as configuration
from dpfl.docs import markdown
from dpfl.papers import folder
from dpfl.planning import estimate, plan
from dpfl.provenance import derivations
from dpfl.terminal.progress import stage_of

SCALES = ("paper", "scale", "what it is", "training runs", "core-hours", "core-hours taken")
NOTE = re.compile(r"^  ([\w-]+): *#\s*(.*)$", re.MULTILINE)
"""A scale in studies.yaml, with the comment behind its name."""
NODE, ARROW = re.compile(r"(id\d+)\[(\w+)\]"), re.compile(r"(id\d+) --> (id\d+)")
"""Rules, and what follows what, as Snakemake draws them in Mermaid."""


def rule_graph(root: Path) -> str:
    """Return the rules as a Mermaid graph, without arrows that follow from others.

    Snakemake runs in a folder without results, for what is finished is planned no more.
    """
    with tempfile.TemporaryDirectory() as empty:
        for name in ("workflow", "notebooks", "config.yaml", "CITATION.cff"):
            (Path(empty) / name).symlink_to(root / name)
        command = [sys.executable, "-m", "snakemake", "--snakefile", root / "Snakefile"]
        command += ["--directory", empty, "--rulegraph", "mermaid-js"]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rules = {key: stage_of(name) for key, name in NODE.findall(text)}
    arrows = {(rules[one], rules[other]) for one, other in ARROW.findall(text)}
    loops = networkx.condensation(networkx.DiGraph(arrows))  # trials train and tune in turn
    loop, kept_arrows = loops.graph["mapping"], networkx.transitive_reduction(loops).edges
    lines = [
        f"    {one} --> {other}"
        for one, other in sorted(arrows)
        if one != other and (loop[one] == loop[other] or (loop[one], loop[other]) in kept_arrows)
    ]
    return "\n".join(["```mermaid", "flowchart TB", *lines, "```"])


def scales(defaults: dict[str, Any], derived: Path) -> str:
    """Return a line for every scale of every paper: what it is, its cost, and what it has taken."""
    rows, ran = [], derivations.folders(derived)
    taken = {p.parts[-2:]: derivations.about(p)["core_hours"] for p in ran}
    for key in folder.names():
        notes = dict(NOTE.findall(folder.path_of(key, folder.STUDIES).read_text(encoding="utf-8")))
        for scale in folder.load(key).scales:
            given = defaults | {"papers": [key], "scale": scale}
            runs = plan.make(configuration.composed(given)).runs.values()
            hours = _short(sum(estimate.seconds(run["settings"]) for run in runs) / 3600)
            own = [key, f"`{scale}`", notes.get(scale, ""), str(len(runs)), hours]
            took = taken.get((key, scale))  # a scale of another paper's runs took nothing
            rows.append([*own, _short(took) if took else ""])
    return markdown.table(SCALES, rows)


def _short(number: float) -> str:
    """Return two digits, without an exponent."""
    return f"{float(f'{number:.2g}'):g}"
