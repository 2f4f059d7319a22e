"""What statistics are made of: noisy means over the examples of clients."""
