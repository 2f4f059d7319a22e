"""Statistics over seeds: outcomes, pairs, intervals and the tests behind verdicts."""
