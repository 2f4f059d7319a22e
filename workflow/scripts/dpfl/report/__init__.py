"""What readers see: the table of claims, the pages of papers, and those beside them."""
