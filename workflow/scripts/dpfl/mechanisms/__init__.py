"""Private gradient estimators, one per file.

A file offers `build(clipping: dict, **settings)`, which returns an object with

    estimate(model, loss_fn, inputs, targets, *, noise_multiplier, expected_batch, normal)
        -> flat gradient estimate [D] for one Poisson batch (which may be empty), and
    unproven: the reasons why no epsilon can be certified, by name; () where there is a proof.

`clipping` is the method's clipping: its rule, one of the file's CLIPPING_RULES (if it has none,
"fixed" alone), and the settings of that rule. A file with UNIT = "client" protects whole clients:
its object offers, instead of `estimate`,

    aggregate(updates, *, like, noise_multiplier, expected_clients, normal)
        -> flat mean update [D], like the server's weights `like`, of one Poisson sample of clients
        (which may be empty), whose updates are taken one at a time, and
    state(), restore(state): what a checkpoint keeps of its clipping rule.
"""
