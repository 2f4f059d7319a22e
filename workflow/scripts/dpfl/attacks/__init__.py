"""Attacks on what a run lets others see, an update or the final model, and how near they come.

They are no proofs: one that fails says nothing, one that succeeds that at least so much leaks.
"""
