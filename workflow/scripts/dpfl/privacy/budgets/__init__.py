"""Budget strategies, one per file: `schedule(work, budget, **settings)` (dpfl.plugin_files)."""
