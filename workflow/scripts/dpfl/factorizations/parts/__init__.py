"""What makes the noise of steps, whichever the factorization."""
