"""What adaptive optimizers share: moments, rates per coordinate, and what noise makes of them."""
