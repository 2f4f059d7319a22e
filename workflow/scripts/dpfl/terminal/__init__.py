"""What `make replicate` and `make status` show: Snakemake is run, followed and summed up."""
