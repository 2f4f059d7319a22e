"""README.md and docs/: what of them is generated from kept results, papers, schemas and code."""
