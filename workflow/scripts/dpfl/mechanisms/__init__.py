"""Private gradient estimators, one per file.

A file offers `build(clipping: dict, **settings)`, which returns an object with

    estimate(model, loss_fn, inputs, targets, *, noise_multiplier, expected_batch, normal)
        -> flat gradient estimate [D] for one Poisson batch (which may be empty), and
    unproven: the reasons why no epsilon can be certified, by name; () where there is a proof.

`clipping` is the method's clipping: its rule, one of the file's CLIPPING_RULES (if it has none,
"fixed" alone), and the settings of that rule. A file with UNIT = "client" protects whole clients:
its object has `aggregate`, `state` and `restore` instead of `estimate` (see dp_fedavg).
"""
