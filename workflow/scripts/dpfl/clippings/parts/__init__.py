"""What wraps a clipping rule, whichever it is."""
