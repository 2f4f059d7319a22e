"""Private training of a user's own network: dpfl.Private."""
