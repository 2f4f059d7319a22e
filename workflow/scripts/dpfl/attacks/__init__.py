"""Black-box attacks on final models: what they achieve, never a bound on what could be."""
