"""What figures share: one look, the file formats, and the figure of a partition."""
