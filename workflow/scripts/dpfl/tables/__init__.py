"""Finished runs as tables: cells, comparisons and ranges, verdicts, and what the papers printed."""
