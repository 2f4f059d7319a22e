"""What a stage of tuning tries or chooses, from its finished trials."""
