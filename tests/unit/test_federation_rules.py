"""Rules of federations on quadratics, whose minima and local solutions are known in closed form."""

from functools import partial

import pytest
import torch
from refusals import line_of

from dpfl.contracts.federation import Federation, Setting, Visit
from dpfl.draws import streams
from dpfl.federations import fedavg, fedopt, fedprox, local_personal, scaffold, sparse

CURVATURES = torch.tensor([[1.0, 3.0, 0.5], [4.0, 0.2, 1.0]], dtype=torch.float64)
MINIMA = torch.tensor([[1.0, -2.0, 0.0], [-3.0, 2.0, 5.0]], dtype=torch.float64)
OPTIMUM = (CURVATURES * MINIMA).sum(0) / CURVATURES.sum(0)
PARTS = {"body.weight": slice(0, 2), "head.bias": slice(2, 3)}


def setting(**more):
    rng = partial(streams.rng, "masks")
    given = {"clients": 2, "cohort": 2, "released_only": False, "parts": PARTS, "rng": rng}
    given["reach"] = 20 * 0.1
    return Setting(**{**given, **more})


RULES = {
    "fedavg": fedavg.build,
    "fedprox": partial(fedprox.build, mu=0.5),
    "scaffold": partial(scaffold.build, rate=0.7),
    "scaffold, released alone": lambda made: scaffold.build(setting(released_only=True)),
    "momentum": partial(
        fedopt.build, algorithm="sgd-momentum", rate=0.5, options={"momentum": 0.9}
    ),
    "yogi": partial(fedopt.build, algorithm="fedopt", rate=0.1, options={"moment": "yogi"}),
    "local-personal": partial(local_personal.build, layers=["head"]),
    "top-k": partial(sparse.build, share=0.4),
    "released-k": partial(sparse.build, share=0.4, choose="released-k"),
    "blur": partial(fedprox.build, mu=0.5, beyond=0.1),
    "random-k": partial(sparse.build, share=0.4, choose="random-k"),
}


def rounds(rule, first, last, server=None, steps=20, rate=0.1, clients=(0, 1)):
    """Return the server's weights after each round, and what clients sent in the last one."""
    server, after, sent = torch.zeros(3, dtype=torch.float64) if server is None else server, [], []
    for number in range(first, last + 1):
        sent = []
        for client in clients:
            visit = Visit(number, client, server)
            weights = rule.start(visit)
            for _ in range(steps):
                gradient = CURVATURES[client] * (weights - MINIMA[client])
                term = rule.term(visit, weights)
                weights = weights - rate * (gradient if term is None else gradient + term)
            sent.append(rule.end(visit, weights, steps, rate))
        server = rule.combine(number, server, torch.stack(sent).mean(0))
        after.append(server)
    return after, sent


@pytest.mark.parametrize("build", RULES.values(), ids=RULES)
def test_a_rule_continues_from_its_state_to_the_same_bits(build):
    whole, _ = rounds(build(setting()), 1, 6)
    first, second = build(setting()), build(setting())
    half, _ = rounds(first, 1, 3)
    second.restore(first.state())
    rest, _ = rounds(second, 4, 6, half[-1])
    assert torch.equal(torch.stack(half + rest), torch.stack(whole))


def test_local_solutions_under_the_proximal_term_are_known():
    after, _ = rounds(fedprox.build(setting(), mu=2.0), 1, 1, steps=500)
    expected = (CURVATURES * MINIMA / (CURVATURES + 2.0)).mean(0)
    torch.testing.assert_close(after[0], expected)
    assert fedprox.build(setting(), mu=0).term is Federation().term


def test_scaffold_finds_the_optimum_where_the_average_does_not():
    drifted, found = (
        rounds(RULES[name](setting()), 1, 400)[0][-1] for name in ("fedavg", "scaffold")
    )
    assert (drifted - OPTIMUM).abs().max() > 0.5
    torch.testing.assert_close(found, OPTIMUM, rtol=1e-6, atol=1e-6)


def test_the_mean_alone_tells_scaffold_what_all_clients_would():
    told, alone = (scaffold.build(setting(released_only=hidden)) for hidden in (False, True))
    torch.testing.assert_close(rounds(alone, 1, 9)[0][-1], rounds(told, 1, 9)[0][-1])
    unknown = partial(scaffold.build, setting(released_only=True, reach=None))
    assert "no fixed number of local steps" in line_of(unknown)


def test_where_the_mean_alone_is_released_scaffold_does_not_tell_whether_anybody_came():
    """One more client in an empty round moves nothing but that mean."""
    server, mean = torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    rules = [scaffold.build(setting(released_only=True)) for _ in range(2)]
    rules[1].end(Visit(1, 0, server), 5 * mean, 20, 0.1)
    kept = []
    for rule in rules:
        rule.combine(1, server, mean)
        kept.append(rule.state()["server"]["variate"])
    assert torch.equal(*kept) and kept[0].any()


def test_a_server_of_plain_sgd_is_the_average_and_momentum_adds_up():
    plain = fedopt.build(setting(), algorithm="sgd", rate=1.0)
    averaged = rounds(fedavg.build(setting()), 1, 4)[0][-1]
    torch.testing.assert_close(rounds(plain, 1, 4)[0][-1], averaged)
    heavy = RULES["momentum"](setting(), rate=1.0, options={"momentum": 0.5})
    moved = [heavy.combine(n, torch.zeros(3), torch.ones(3))[0].item() for n in (1, 2, 3)]
    assert moved == [1.0, 1.5, 1.75]


def test_personal_layers_are_never_sent_and_come_back_to_their_client():
    rule = local_personal.build(setting(), layers=["head"])
    after, sent = rounds(rule, 1, 60)
    assert not after[-1][2] and not any(weights[2] for weights in sent)
    own = [rule.start(Visit(61, client, after[-1]))[2].item() for client in (0, 1, 2)]
    assert own == pytest.approx([*MINIMA[:, 2].tolist(), 0.0], abs=1e-3)


def test_a_share_of_the_coordinates_moves():
    _, sent = rounds(RULES["top-k"](setting()), 1, 1)
    whole = rounds(fedavg.build(setting()), 1, 1)[1]
    for chosen, all_moved in zip(sent, whole, strict=True):
        largest = all_moved.abs().argmax()
        assert (
            chosen.nonzero().flatten().tolist() == [largest]
            and chosen[largest] == all_moved[largest]
        )
    rule = RULES["random-k"](setting())
    _, sent = rounds(rule, 1, 1)
    place = sent[0].nonzero().item()
    torch.testing.assert_close(torch.stack(sent)[:, place], torch.stack(whole)[:, place] / 0.4)
    noisy = rule.combine(1, torch.zeros(3), torch.ones(3, dtype=torch.float64))
    assert noisy.nonzero().flatten().tolist() == [place]


def test_mistakes_are_one_line():
    told = line_of(local_personal.build, setting(), layers=["haed"])
    assert "no parameter of 'haed'" in told and "head" in told
    assert "nothing is shared" in line_of(local_personal.build, setting(), layers=["head", "body"])
