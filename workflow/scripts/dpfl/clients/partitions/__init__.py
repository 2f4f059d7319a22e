"""Schemes that divide examples among clients, one per file, found by name.

Each has `assign(targets, clients, rng, *, <settings>) -> clients [N]`; one that declares
DIVIDES = "owners" is given the natural owner of each example in place of its target (see
dpfl.contracts.plugin_files). What an assignment is, and what is held out before a scheme divides
the rest, is said in dpfl.clients.assignment.
"""
