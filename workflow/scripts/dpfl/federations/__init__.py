"""Federations: what a client does in a round, what it keeps, and what it weighs."""
