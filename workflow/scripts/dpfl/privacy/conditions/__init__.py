"""What every certificate rests on: a network, and a loss, that treat each example by itself."""
