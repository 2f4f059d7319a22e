"""Tables of mistakes, each with the words that its one line must hold."""
