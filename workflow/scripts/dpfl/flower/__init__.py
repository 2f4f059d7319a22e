"""A run over a wire: its server and its clients as an app of Flower, each a process of its own."""
