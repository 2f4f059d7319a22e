"""Budget strategies, one per file: what a file offers is dpfl.contracts.plugin_files.BudgetFile."""
