"""Private gradient estimators ("mechanisms"), one per file, found by file name.

What a file defines and may declare is dpfl.protocols.MechanismFile; what its `build(clipping,
**settings)` returns is a Mechanism there, or a ClientMechanism where UNIT = "client".
`clipping` is the method's clipping: its rule, one of the file's CLIPPING_RULES, and the settings of
that rule.
"""
