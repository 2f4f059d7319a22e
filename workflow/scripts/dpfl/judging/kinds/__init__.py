"""Kinds of claims, one a file: `judge(claim, evidence)` and `words(row)`."""
