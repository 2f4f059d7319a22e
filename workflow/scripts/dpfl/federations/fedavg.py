"""fedavg: the server takes the mean of the clients' weights (McMahan et al. 2017, 1602.05629)."""

from dpfl.contracts.federation import FEDAVG, Federation, Setting


def build(setting: Setting) -> Federation:
    """Return the rule that adds nothing."""
    return FEDAVG
