"""Mistakes in a configuration, each told in one line before the first job."""
