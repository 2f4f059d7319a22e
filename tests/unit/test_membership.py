"""Attacks on confidences of known truth, and rates on which closed forms agree."""

from dataclasses import replace

import attacked
import numpy as np
import pytest
from scipy import stats
from scipy.special import expit
from sklearn import metrics

from dpfl.attacks import membership, observed, roc
from dpfl.attacks.membership import ATTACKS, comparable


def kept(seen: observed.Observed, scores: np.ndarray, target: int):
    """Scores and members of the examples on which attacks on a target are compared."""
    where = comparable(seen.members)[target]
    return scores[target, where], seen.members[target, where]


def auc_deviation(members: np.ndarray) -> float:
    """Standard deviation of the AUC of scores that tell nothing (Mann and Whitney 1947)."""
    inside, outside = members.sum(), (~members).sum()
    return np.sqrt((inside + outside + 1) / (12 * inside * outside))


@pytest.mark.parametrize("attack", ATTACKS)
def test_models_that_remember_nothing_are_attacked_in_vain(attack):
    seen = attacked.gaussian(8, 4000, gain=0.0)
    scores = ATTACKS[attack](seen)
    for target in range(8):
        own, members = kept(seen, scores, target)
        assert abs(roc.area(own, members) - 0.5) < 4.5 * auc_deviation(members)
        strangers = (~members).sum()
        found = roc.true_positive_rates(own, members, [0.05])[0] * members.sum()
        # False and true positives are binomial draws around one rate.
        spread = np.sqrt(0.05 * 0.95 * members.sum() * (1 + members.sum() / strangers))
        assert abs(found - 0.05 * members.sum()) < 4.5 * spread


@pytest.mark.parametrize("attack", ["RMIA, two references", "RMIA", "LiRA"])
def test_models_that_remember_everything_give_every_member_away(attack):
    seen = attacked.gaussian(8, 2000, gain=30.0, population=2000)
    flat = replace(seen, confidences=seen.confidences - 15)  # p near 0 without, near 1 with it
    scores = ATTACKS[attack](flat)
    for target in range(8):
        own, members = kept(flat, scores, target)
        assert roc.area(own, members) == pytest.approx(1, abs=0.001)
        assert roc.true_positive_rates(own, members, [0.01])[0] > 0.99


def test_lira_is_the_ratio_of_gaussians_fitted_to_the_references():
    seen = attacked.gaussian(9, 40, gain=1.0)
    scores = membership.lira(seen)
    for target in range(9):
        others = [m for m in range(9) if m != target]
        deviations = {True: [], False: []}
        for x in range(40):
            for held in (True, False):
                own = [seen.confidences[m, x] for m in others if seen.members[m, x] == held]
                deviations[held] += [(np.var(own) * len(own), len(own) - 1)] if own else []
        pooled = {held: np.sum(own, axis=0) for held, own in deviations.items()}
        sd = {held: np.sqrt(squares / free) for held, (squares, free) in pooled.items()}
        for x in np.flatnonzero(comparable(seen.members)[target]):
            own = [
                stats.norm(
                    np.mean([seen.confidences[m, x] for m in others if seen.members[m, x] == h]),
                    sd[h],
                ).logpdf(seen.confidences[target, x])
                for h in (True, False)
            ]
            assert scores[target, x] == pytest.approx(own[0] - own[1], rel=1e-9, abs=1e-9)


def slow_rmia(seen: observed.Observed, target: int, expected) -> list[float]:
    """Algorithm 1 of Zarifzadeh et al. 2024, pair by pair; `expected(p, members)` is p(x)."""
    others = [m for m in range(len(seen.members)) if m != target]
    scores = []
    for x in range(seen.confidences.shape[1]):
        p_x = expit(seen.confidences[:, x])
        ratio = p_x[target] / expected(p_x[others], seen.members[others, x], True)
        dominated = 0
        for z in range(seen.population.shape[1]):
            p_z = expit(seen.population[:, z])
            nobody = np.zeros(len(others), dtype=bool)
            dominated += ratio > p_z[target] / expected(p_z[others], nobody, False)
        scores.append(dominated / seen.population.shape[1])
    return scores


def online(p, held, some_held):
    return (p[held].mean() + p[~held].mean()) / 2 if some_held else p.mean()


def compared_on(target):
    """What is seen of the examples on which attacks on a target are compared."""
    seen = attacked.gaussian(7, 60, gain=1.0, population=40)
    where = comparable(seen.members)[target]
    return replace(seen, confidences=seen.confidences[:, where], members=seen.members[:, where])


@pytest.mark.parametrize("target", [0, 6])
def test_rmia_is_algorithm_1(target):
    one = compared_on(target)
    assert membership.rmia(one)[target].tolist() == slow_rmia(one, target, online)


@pytest.mark.parametrize("a", [0.0, 0.3, 1.0])
def test_rmia_offline_is_algorithm_1_with_two_references_that_lack_the_example(a):
    one = compared_on(2)
    found = membership._offline(one, 2, np.array([0, 1, 3, 4, 5, 6]), a)

    def offline(p, held, _):
        return ((1 + a) * p[~held][:2].mean() + 1 - a) / 2

    assert found.tolist() == slow_rmia(one, 2, offline)


@pytest.mark.parametrize("attack", ["RMIA, two references", "RMIA", "LiRA"])
def test_an_attack_never_reads_who_the_targets_members_are(attack):
    seen = attacked.gaussian(6, 300, gain=1.0)
    members = seen.members.copy()
    members[3] = ~members[3]
    other = ATTACKS[attack](replace(seen, members=members))[3]
    np.testing.assert_array_equal(other, ATTACKS[attack](seen)[3])
    where = comparable(seen.members)[3]
    assert np.isfinite(other[where]).all() and (comparable(members)[3] == where).all()


def test_examples_that_all_references_held_or_none_are_not_compared():
    members = np.array([[1, 1, 1, 0], [0, 1, 0, 0], [1, 1, 0, 1]], dtype=bool)
    expected = [[1, 0, 0, 1], [0, 0, 1, 1], [1, 0, 1, 0]]
    assert comparable(members).astype(int).tolist() == expected


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("attack", ATTACKS)
def test_models_that_agree_exactly_and_certain_ones_give_scores_without_a_warning(attack):
    members = np.random.default_rng(0).random((6, 50)) < 0.5
    for value in (-2.2, 1e300, -1e300):
        alike = observed.Observed(np.full((6, 50), value), members, np.full((6, 9), value))
        scores = ATTACKS[attack](alike)
        where = comparable(members)
        assert (scores[where] == scores[where][0]).all()


def test_the_loss_threshold_is_the_roc_of_the_cross_entropy():
    seen = attacked.gaussian(4, 1500, gain=0.7)
    scores, members = membership.loss_threshold(seen)[1], seen.members[1]
    loss = -np.log(expit(seen.confidences[1]))
    false, true, _ = metrics.roc_curve(members, -loss)
    for rate in (0.01, 0.1, 0.5, 1.0):
        expected = max(t for f, t in zip(false, true, strict=True) if f <= rate)
        assert roc.true_positive_rates(scores, members, [rate])[0] == expected
    assert roc.area(scores, members) == metrics.auc(false, true)


def test_the_log_probability_is_exact_at_both_ends():
    found = membership.log_probability(np.array([-800.0, 0.0, 40.0, 800.0]))
    assert found[:2] == pytest.approx([-800, -np.log(2)])
    assert found[2] == pytest.approx(-np.exp(-40.0), rel=1e-12) and found[3] == 0


def test_a_rate_that_too_few_non_members_can_show_is_none():
    scores, members = np.arange(1100.0), np.arange(1100) >= 999
    rates = roc.true_positive_rates(scores, members, [1e-3, 1e-2])
    assert np.isnan(rates).tolist() == [True, False]
    assert not np.isnan(roc.true_positive_rates(scores, np.arange(1100) >= 1000, [1e-3])).any()


def test_examples_without_a_score_are_left_out():
    scores, members = np.array([np.nan, 1, 2, 3, np.nan]), np.array([1, 0, 1, 1, 0], dtype=bool)
    assert roc.area(scores, members) == 1
    assert roc.true_positive_rates(scores, members, [1.0])[0] == 1
