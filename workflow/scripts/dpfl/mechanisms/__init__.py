"""Private gradient estimators, one per file.

A file offers `build(clipping: dict, **settings)`, which returns an object with

    estimate(model, loss_fn, inputs, targets, *, noise_multiplier, expected_batch, normal)
        -> flat gradient estimate [D] for one Poisson batch (which may be empty), and
    unproven: the reasons why no epsilon can be certified, by name; () where there is a proof.
"""
