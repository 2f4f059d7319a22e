"""Randomness: streams of seeds, and the noise that is drawn from them."""
