"""Optimizers, one per file: `build(params, lr, ...)` returns a torch.optim.Optimizer.

What a file may declare is dpfl.contracts.plugin_files.OptimizerFile; what an optimizer may tell of
its rates, dpfl.contracts.protocols.Optimizer.
"""
