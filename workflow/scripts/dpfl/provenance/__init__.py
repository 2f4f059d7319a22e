"""Kept results: written whole with all that they came from, read, verified by retraining."""
