"""Lower bounds on the epsilon of one run, from canaries that fair coins put in or left out."""
