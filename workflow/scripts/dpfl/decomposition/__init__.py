"""Gradients taken apart, G = V H + Phi: the factors, the directions, and the noise on each."""
