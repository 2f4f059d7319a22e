"""Layer-wise relevance, and the noise that is scaled by it."""
