"""Values in words: the one place where a number becomes text."""
