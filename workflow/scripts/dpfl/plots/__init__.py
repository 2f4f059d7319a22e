"""Figures, one per file: `draw(study, runs_dir) -> matplotlib Figure`, found by file name."""
