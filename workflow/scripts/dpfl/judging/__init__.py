"""What the kinds of claims share: their rows, the cells they compare, and how parts add up."""
