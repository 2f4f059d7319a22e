"""From the configuration to the jobs of the DAG: checks, methods, plan, estimate."""
