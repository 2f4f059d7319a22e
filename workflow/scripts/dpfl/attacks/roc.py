"""How well scores tell members apart: the ROC, its area, and true positives where few are false."""

import numpy as np
from sklearn import metrics


def area(scores: np.ndarray, members: np.ndarray) -> float:
    """Return the area under the ROC of scores [N]; examples with NaN are left out."""
    known = ~np.isnan(scores)
    return float(metrics.roc_auc_score(members[known], scores[known]))


def true_positive_rates(
    scores: np.ndarray, members: np.ndarray, false_positive_rates: np.ndarray
) -> np.ndarray:
    """Return the largest true positive rate at no more than each false positive rate.

    Examples with NaN are left out. NaN for a rate below 1 / non-members, which cannot be measured.
    """
    known = ~np.isnan(scores)
    false, true, _ = metrics.roc_curve(members[known], scores[known], drop_intermediate=False)
    wanted = np.asarray(false_positive_rates, dtype=float)
    found = true[np.searchsorted(false, wanted, side="right") - 1]
    return np.where(wanted * np.sum(~members[known]) >= 1, found, np.nan)
