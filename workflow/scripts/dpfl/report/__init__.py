"""What readers see: the page, what notebooks show, and sentences computed from the tables."""
