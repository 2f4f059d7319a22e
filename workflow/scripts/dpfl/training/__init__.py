"""One training run: federated rounds, what clients keep, checkpoints and the files of a run."""
