"""What is asked of mechanisms before they are built."""
