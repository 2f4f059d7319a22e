"""The rules of verdicts in Markdown: what all kinds of claims share, and each kind's own lines."""

import ast
from collections.abc import Iterable

from dpfl import plugins
from dpfl.seeds import conjunction, outcomes, verdicts
from dpfl.tables import fairness
from dpfl.words.forms import points
from dpfl.words.vocabulary import GAINS, LOSES, NO_DIFFERENCE

SHARED = f"""- n is the number of seeds of a cell. An interval is the {verdicts.LEVEL:.0%}
  Student interval of their mean, so it speaks of new seeds and not of new data; none below
  n = {verdicts.MIN_SPREAD}. Intervals of differences have the level of their opponent's step of
  Holm's procedure, over opponents and not over budgets; jointly they may cover less.
- A run fails at chance level or more than {outcomes.FAR:g} points under the median of its cell's
  better half. Means and pairs are of runs that trained.
- A change against a baseline: paired t-tests on one difference per seed at every budget, at the
  levels of Holm's procedure over all changes of the study. `{GAINS}`: the whole interval lies above
  zero. `{LOSES}`: it lies below. `{NO_DIFFERENCE}`: it lies within half the margin of zero.
  Mixed if budgets are decided and not alike; else inconclusive; too few seeds below
  n = {verdicts.MIN_SEEDS}. The mean over budgets, pooled, decides nothing.
- Privacy: `certificate refuted` if an audit finds more than is certified, or if a check of noise or
  sampling fails in a run that has a certificate. `refuted` if it finds more than is claimed, or if
  a check fails without a certificate. `consistent` if the claim is certified, else `unproven`. Of a
  cell it is the worst verdict of its runs. The largest bound of n audited seeds holds at n times
  the level of one."""


def page(kinds: Iterable[str], margins: Iterable[float]) -> str:
    """Return all rules in force, with what some kinds of claims state in their own files."""
    told = ", ".join(points(margin) for margin in margins)
    tuned = "\n".join(f"- `{word}`: {text}." for word, text in fairness.SAID.items())
    parts = [f"The margin is {told}." if told else "", SHARED]
    parts += ["### How the parts of a claim add up", conjunction.__doc__]
    parts += ["### How two sides were tuned", tuned, of_kinds(kinds, "###")]
    return "\n\n".join(part.strip("\n") for part in parts if part)


def of_kinds(kinds: Iterable[str], level: str) -> str:
    """Return how some kinds of claims are judged: the first lines of their files."""
    texts = {kind: ast.get_docstring(plugins.tree("judging/kinds", kind)) or "" for kind in kinds}
    return "\n\n".join(
        f"{level} {kind}\n\n{text.replace('+-', '±')}" for kind, text in texts.items()
    )
