"""The privacy calculator: plans priced, and noise found for them."""
