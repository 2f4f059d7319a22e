"""Made-up records of users who differ: the synthetic data of DP-SCAFFOLD.

Noble et al. 2022, arXiv 2111.09278, after Li et al. 2020, arXiv 1812.06127. User k has W_k and b_k
with entries from N(0, 1 + alpha), and records from N(v_k, diag(j^-1.2)), v_k from N(0, (1 + beta)
I). The class is the largest entry of W_k x + b_k; one label in twenty is drawn anew. So alpha
changes the scale of all scores of a user, and no label. Every record is divided by its own norm:
no user's data enter another's.
"""

from dpfl.data import Arrays

USERS, RECORDS, COLUMNS, CLASSES = 100, 50, 40, 10
REDRAWN = 0.05
TEST = 5  # every fifth record of a user


def logistic(alpha: float, beta: float) -> Arrays:
    """Return the records of all users, one after the other, with who owns them."""
    import numpy as np

    from dpfl.draws import streams

    rng = streams.rng("synthetic logistic", str(alpha), str(beta))
    weights = rng.normal(0, np.sqrt(1 + alpha), (USERS, 1 + COLUMNS, CLASSES))
    means = rng.normal(0, np.sqrt(1 + beta), (USERS, 1, COLUMNS))
    scale = np.arange(1, COLUMNS + 1) ** -0.6
    x = means + scale * rng.standard_normal((USERS, RECORDS, COLUMNS))
    classes = (x @ weights[:, 1:] + weights[:, :1]).argmax(axis=2)
    anew = rng.random(classes.shape) < REDRAWN
    classes = np.where(anew, rng.integers(CLASSES, size=classes.shape), classes)
    x = (x / np.linalg.norm(x, axis=2, keepdims=True)).astype(np.float32)
    test = np.arange(RECORDS) % TEST == 0
    owners = np.repeat(np.arange(USERS), RECORDS - test.sum())
    parts = [own[:, at].reshape(-1, *own.shape[2:]) for at in (~test, test) for own in (x, classes)]
    return Arrays(*parts, owners)
