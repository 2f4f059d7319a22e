"""Optimizers, one per file: `build(params, lr, ...)` returns a torch.optim.Optimizer.

What a file may declare is dpfl.contracts.plugin_files.OptimizerFile; what an optimizer may tell of
its rates, dpfl.contracts.protocols.Optimizer.
"""

from torch.optim import Optimizer

# torch imports its compiler at the first call of these methods, only to keep it away from them:
# a CPU second in every job. Marking them as handled spares it.
for _method in (Optimizer.add_param_group, Optimizer.state_dict, Optimizer.load_state_dict):
    _plain = getattr(_method, "__wrapped__", None)
    if _plain is not None:
        setattr(_plain, "__dynamo_disable", _plain)
