"""Runs as they lie in results: the one state of each, asked by whoever needs to know."""
