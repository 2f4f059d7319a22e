"""Clients: how examples are assigned to them, and how they take part."""
