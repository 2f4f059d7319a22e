"""Runs as they lie on disk: which code they are of, and in what state they are."""
