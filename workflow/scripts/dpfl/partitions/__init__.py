"""Ways to divide examples among clients, one per file, found by name.

Each has `assign(targets, clients, rng, *, <settings>) -> clients [N]`.
"""
