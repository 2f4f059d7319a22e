"""Budget strategies, one per file: `schedule(work, budget, **settings)` (dpfl.protocols)."""
