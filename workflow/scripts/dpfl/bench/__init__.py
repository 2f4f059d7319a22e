"""What the benchmark measures: one private step, and federated rounds, of ours and of peers."""

CLIP_NORM = 1.0
NOISE_MULTIPLIER = 1.0
RATE = 1e-3
RANK = 50
