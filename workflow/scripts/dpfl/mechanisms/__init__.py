"""Private gradient estimators ("mechanisms"), one per file, found by file name.

A file offers `build(clipping: dict, **settings)`, which returns an object with

    estimate(step) -> flat mean gradient [D] of one Poisson batch, which may be empty (dpfl.step),
    release(noise_multiplier, expected_batch) -> what such a step releases: a Release that together
        has at least that multiplier, or Unproven with the conditions that the mechanism violates
        (those of its clipping rules are added to them), and
    clippings: its clipping rules, whose bounds are noted and outlive a round; () if it has none.

One that keeps more than bounds between steps also offers forget(), called after a client's last
step of a round: whatever it keeps must not outlive it.

Every client has an object of its own. `clipping` is the method's clipping: its rule, one of the
file's CLIPPING_RULES (if it has none, "fixed" alone), and the settings of that rule. NEEDS_PUBLIC
says when public examples are needed: True, or {setting: value} of the mechanism. REFUSES, pairs of
settings and a reason, are stopped before the first job. NOISE_IS_Z_C = True says that every
coordinate of the noisy sum has noise z C, from which learning rates are predicted. COST, for the
estimate of a plan, is that of a step as a multiple of dpsgd's (MNIST CNN, batch 250, rank 50), or
its coefficients by powers of the rank. MEMORY = {"rank" or "batch": bytes}, for the same estimate,
is what it holds for every parameter and each of as many rows.

A file with UNIT = "client" protects whole clients: its object offers, instead of `estimate`,

    aggregate(updates, *, like, noise_multiplier, expected_clients, normal)
        -> flat mean update [D], like the server's weights `like`, of one Poisson sample of clients
        (which may be empty), whose updates are taken one at a time.
"""
