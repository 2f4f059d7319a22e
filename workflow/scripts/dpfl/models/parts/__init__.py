"""Parts of networks, which networks and training put together."""
