"""Papers, a folder each in workflow/papers: what they claim and printed, what is run of them."""
