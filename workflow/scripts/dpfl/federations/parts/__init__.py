"""What every federation has: local work, weights of clients, optimizer states."""
