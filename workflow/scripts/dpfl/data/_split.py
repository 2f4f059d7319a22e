"""Held-out examples of data sets that come without a test part."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from dpfl.data import Arrays


def every_fifth(inputs: "np.ndarray", targets: "np.ndarray") -> "Arrays":
    """Make every fifth example of the label order, the first included, a test one.

    The split is stratified to within one example and has no randomness; both parts keep the
    order they came in.
    """
    import numpy as np

    from dpfl.data import Arrays

    test = np.zeros(len(targets), dtype=bool)
    test[np.argsort(targets, kind="stable")[::5]] = True
    return Arrays(inputs[~test], targets[~test], inputs[test], targets[test])
