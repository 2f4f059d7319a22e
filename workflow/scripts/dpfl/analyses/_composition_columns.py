"""What readers see of the tables of the analysis `composition`."""

from dpfl.tables.columns_shown import Column, count, plain, rounded

COST = "{:.4f}"


def _small(name: str) -> Column:
    return lambda row: rounded(name)(row).replace("e-0", "e-")


ROUNDS = {
    "mechanism": plain("mechanism"),
    "k": plain("k"),
    "basic": rounded("basic_epsilon", "{:.4g}"),
    "advanced": rounded("advanced_epsilon", COST),
    "smaller": rounded("smaller_epsilon", COST),
    "best for any mechanism": rounded("optimal_epsilon", COST),
    "classic RDP": rounded("classic_rdp", COST),
    "RDP": rounded("rdp", COST),
    "PRV": rounded("prv", COST),
    "PLD": rounded("pld", COST),
    "exact": rounded("exact", COST),
    "δ basic": _small("basic_delta"),
    "δ advanced": _small("advanced_delta"),
    "PLD at δ advanced": rounded("pld_at_advanced_delta", COST),
    "note": plain("note"),
}
RULE = {
    "T": count("rounds"),
    "ε": rounded("epsilon", "{:.4g}"),
    "ε per round": rounded("epsilon_round", "{:.4g}"),
    "δ per round": _small("delta_round"),
    "advanced": rounded("advanced_epsilon", COST),
    "times the budget": rounded("overspend", "{:.2f}"),
    "best for any mechanism": rounded("optimal_epsilon", COST),
    "classic z": rounded("classic_noise", "{:.2f}"),
    "PLD at classic z": rounded("classic_pld", COST),
    "exact z": rounded("exact_noise", "{:.2f}"),
    "PLD at exact z": rounded("exact_pld", COST),
    "allowed ε per round": rounded("allowed_epsilon_round", "{:.4g}"),
    "allowed z": rounded("allowed_noise", "{:.2f}"),
    "note": plain("note"),
}
CROSSOVER = {
    "mechanism": plain("mechanism"),
    "ε per round": rounded("epsilon_round", "{:.4g}"),
    "slack": _small("slack"),
    "advanced below basic from k": lambda row: rounded("k", "{:.0f}")(row) or "never",
}
COLUMNS = {"": ROUNDS, "rule": RULE, "crossover": CROSSOVER}
