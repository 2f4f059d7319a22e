"""How values of hyper-parameters are chosen: each rule is a file here; see parts/rules.py."""
