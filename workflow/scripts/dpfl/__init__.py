"""Differentially private federated learning: estimators, optimizers, training, verdicts."""
