"""What plug-in files declare, what their objects answer, and the values they exchange."""
