"""The words of verdicts, each written here alone; `seeds.verdicts` has those on privacy."""

MATCHES, DIFFERS = "matches", "differs"
REPLICATED, SMALL = "replicated", "replicated, small"
NOT_REPLICATED, REVERSED = "not replicated", "reversed"
WINS, DOES_NOT_WIN, CONTROL_MISSING = "wins", "does not win", "control missing"
GAINS, LOSES, NO_DIFFERENCE, MIXED = "gains", "loses", "no difference", "mixed"
INCONCLUSIVE, TOO_FEW = "inconclusive", "too few seeds"
DEMONSTRATION, UNFINISHED, NOT_RUN = "demonstration", "unfinished", "not run"
NOT_JUDGED = "not judged"
REFUTED = ("certificate refuted", "refuted")
"""Verdicts on a claimed epsilon that an audit, or a check of noise or sampling, contradicts."""

HOLDS = (REPLICATED, SMALL, MATCHES, WINS)
FAILS = (NOT_REPLICATED, REVERSED, DIFFERS, DOES_NOT_WIN)
UNJUDGED = (DEMONSTRATION, UNFINISHED, NOT_RUN, NOT_JUDGED)
"""What says nothing of a claim, and is only counted."""
