"""Schemes that divide examples among clients, one per file, found by name.

Each has `assign(targets, clients, rng, *, <settings>) -> clients [N]`. One that declares DIVIDES =
"owners" is given the natural owner of each example in place of its target
(dpfl.contracts.plugin_files). See dpfl.clients.assignment for what an assignment is, and what is
held out before a scheme divides the rest.
"""
