"""What the benchmark measures: one private step, and federated rounds, of ours and of peers."""
