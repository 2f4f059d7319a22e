"""A small results folder of two papers: one runs two studies and an analysis, one runs nothing."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import synthetic
import yaml
from synthetic import cell, study

from dpfl import plugins
from dpfl.judging.claims import COLUMNS
from dpfl.judging.evidence import Evidence
from dpfl.judging.judge import judge
from dpfl.plugins import analyses
from dpfl.tables import of_study, rendering, results
from dpfl.words import vocabulary as words

TOLD, SILENT = "told2020", "silent"
LIVE = "</script><img src=x onerror=alert(1)>"
"""What must be text wherever it stands."""
RUNS = 5 + 5 + 3
RESULTS = "results"
SURFACE = {"noise_multipliers": [1.0, 2.0], "rounds": [1, 8], "sample_rates": [0.1], "delta": 1e-5}


def quoted(name: str, where: str, quote: str, **more) -> dict:
    """A claim on a printed number unless `more` says otherwise."""
    return {"id": name, "where": where, "quote": quote, "kind": "number"} | more


ORDERED = {"kind": "ordering", "study": "main", "better": "adam", "worse": ["sgd"]}
TRANSLATION = "sgd < adam & <b>both</b> > chance"
OPEN = {"status": "not judged", "reason": "It names no <rate>."}
ABOUT = {
    TOLD: {
        "title": "Original",
        "title_en": "How sgd & adam differ",
        "citation": {
            "type": "article",
            "authors": [{"family-names": "Doe"}, {"family-names": "Poe"}],
            "year": 2020,
            "doi": "10.1/none",
        },
        "read": "All of it.",
        "summary": "It compares `sgd` with adam.",
        "choices": [{"what": "clients", "key": "federations.default", "default": 3, "note": "<3"}],
        "claims": [
            quoted("better", "abstract", "Original words", translation=TRANSLATION, **ORDERED),
            quoted("printed", "table 1", "90.0"),
            quoted("later", "table 2", "91.0"),
            {"id": "open", "where": "section 3", "quote": "It converges."} | OPEN,
        ],
    },
    SILENT: {
        "title": "A text of nobody",
        "citation": {"type": "generic", "authors": [{"name": LIVE}]},
        "read": "A part.",
        "summary": f"It says little.{LIVE}",
        "claims": [quoted("silent-claim", "line 1", f"Less is more.{LIVE}")],
    },
}


def studies() -> list[dict]:
    """Two studies of the paper that runs something."""
    private = [cell(method, 8.0, 5) for method in ("sgd", "adam")]
    grid = [cell("sgd", 4.0, 1, rate=rate) for rate in (0.001, 0.01, 0.1)]
    extra = {"paper": TOLD, "demonstrates": False}
    tuned = {"tuned_by": f"{TOLD}/rates", "figures": ["accuracy"]}
    for own in private:
        own |= {"tuning": f"tuning-of-{own['method']}", "calibration": None}
    return [
        study(private, name=f"{TOLD}/main") | tuned | extra,
        study(grid, name=f"{TOLD}/rates", kind="rates", figures=[]) | extra,
    ]


def outcome(own: dict, seed: int) -> dict:
    """Adam is two points ahead; the middle rate is best."""
    noise = np.random.default_rng([seed, len(own["method"])]).normal(0, 0.001)
    value = 0.88 + 0.02 * (own["method"] == "adam") + noise
    rate = own["variant"].get("rate")
    held_out = value - 0.05 * abs(math.log10(rate / 0.01)) if rate else None
    return {"accuracy": value, "final_validation_accuracy": held_out}


def write(root: Path) -> Path:
    """Write papers and results under a folder; return that of the results."""
    home = root / RESULTS
    for key, about in ABOUT.items():
        (root / "papers" / key).mkdir(parents=True)
        text = yaml.safe_dump(about, allow_unicode=True)
        (root / "papers" / key / "paper.yaml").write_text(text, encoding="utf-8")
        (home / "claims" / key).mkdir(parents=True)
    for name in ("studies", "tables", "figures", "papers"):
        (home / name / (TOLD if name != "papers" else "")).mkdir(parents=True)
    made = studies()
    (home / "tunings").mkdir()
    for own in made[0]["cells"]:
        synthetic.write_tuning(
            home, own["tuning"], [0.5, 0.9, 0.8], chosen=1, epsilon=own["epsilon"]
        )
    frames = [_study(home, own) for own in made]
    _analysis(home)
    _outlines(home, made)
    _claims(home, made[0], frames[0])
    (home / "config.json").write_text("margin: <points>")
    (home / "claims.json").write_text("{}")
    (home / "reports").mkdir()
    for key, about in ABOUT.items():
        places = [f"claim-{claim['id']}" for claim in about["claims"]]
        places += [f"study-{own['name'].split('/')[1]}" for own in made]
        page = "".join(f'<p id="{place}"></p>' for place in places)
        (home / "reports" / f"{key}.html").write_text(page)
    return home


def _study(home: Path, own: dict) -> pd.DataFrame:
    synthetic.write(home / "runs", own["cells"], outcome)
    (home / "studies" / f"{own['name']}.json").write_text(json.dumps(own))
    runs = results.frame(own, home / "runs")
    of_study.write(own, home)
    for figure in own["figures"]:
        _draw(home / "figures" / own["name"] / figure, figure, own, home / "runs")
    return runs


def _draw(stem: Path, figure: str, own: dict, runs: Path) -> None:
    stem.parent.mkdir(parents=True, exist_ok=True)
    drawn = plugins.load("figures/kinds", figure).draw(own, runs)
    Path(f"{stem}.txt").write_text(drawn.words, encoding="utf-8")
    for ending in ("png", "pdf"):
        drawn.figure.savefig(f"{stem}.{ending}", dpi=40)


def _analysis(home: Path) -> None:
    analysis = analyses.load(TOLD, "epsilon-surface")
    found, columns = analysis.tables(SURFACE), analysis.shown().COLUMNS
    for suffix, shown in columns.items():
        stem = "_".join(filter(None, ("prices", suffix)))
        rendering.write(home / "tables" / TOLD / stem, found[suffix], shown)
    picture = home / "figures" / TOLD / "prices" / "epsilon-surface"
    _draw(picture, "accuracy", studies()[0], home / "runs")
    Path(f"{picture}.txt").unlink()  # as of figures that were kept without words


def _outlines(home: Path, made: list[dict]) -> None:
    """Write what the scale runs of each paper."""
    computed = {f"{TOLD}/prices": {"title": "How ε = 1 adds up", "uses": "epsilon-surface"}}
    ran = {TOLD: ([own["name"] for own in made], computed), SILENT: ([], {})}
    for key, (names, found) in ran.items():
        outline = {"key": key, "scale": "small", "delta": 1e-5}
        outline |= {"studies": names, "judging": names, "analyses": found}
        (home / "papers" / f"{key}.json").write_text(json.dumps(outline))


def _claims(home: Path, made: dict, runs: pd.DataFrame) -> None:
    """Write the tables of claims, of each paper and of all."""
    told, silent = ABOUT[TOLD]["claims"], ABOUT[SILENT]["claims"]
    main = Evidence(TOLD, made, runs, pd.DataFrame, pd.DataFrame())
    nothing = Evidence(TOLD, None, pd.DataFrame(), pd.DataFrame, pd.DataFrame())
    unread = replace(nothing, paper=SILENT)
    ordering = judge(told[0], main).assign(study=None)  # a row of no study stands at its scale
    judged = {
        TOLD: [ordering, _number(runs), *(judge(claim, nothing) for claim in told[2:])],
        SILENT: [judge(claim, unread) for claim in silent],
    }
    tables = {key: pd.concat(rows, ignore_index=True) for key, rows in judged.items()}
    for key, table in tables.items():
        table.to_csv(home / "claims" / key / "claims.csv", index=False)
    pd.concat(tables.values()).to_csv(home / "tables" / "claims.csv", index=False)


def _number(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a claim on a number, as if one had been printed."""
    ours = runs.loc[runs["method"] == "adam", "accuracy"].mean()
    found = {"paper": TOLD, "claim": "printed", "kind": "number", "part": "overall"}
    found |= {"runs": "some-run another", "n": 5, "printed": 90.0, "difference": ours - 90}
    found |= {"ours": ours, "ours_low": ours - 0.1, "ours_high": ours + 0.1}
    found |= {"about": "adam: 1 of 1 printed numbers match", **words.MATCHES._asdict()}
    return pd.DataFrame([found], columns=COLUMNS)
