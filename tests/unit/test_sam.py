"""SAM: its two gradients by hand, and weights that come back to the bit."""

import pytest
import torch

from dpfl.optimizers import sam, sgd


def steps(build, gradients, **settings):
    """Return the weights after every gradient, from ones."""
    theta = torch.nn.Parameter(torch.ones(3))
    optimizer, after = build([theta], lr=0.1, **settings), []
    for gradient in gradients:
        theta.grad = torch.tensor(gradient)
        optimizer.step()
        after.append(theta.detach().clone())
    return torch.stack(after), optimizer


def test_the_second_gradient_is_taken_uphill_and_the_step_from_where_it_began():
    (climbed, stepped), _ = steps(sam.build, [[3.0, 4.0, 0.0], [1.0, 0.0, 2.0]], rho=0.5)
    torch.testing.assert_close(climbed, torch.tensor([1.3, 1.4, 1.0]))
    torch.testing.assert_close(stepped, torch.tensor([0.9, 1.0, 0.8]))


@pytest.mark.parametrize("rho", [0.0, 0.05, 1e4])
def test_weights_come_back_to_the_bit(rho):
    gradients = [[3.0, 4.0, 0.1], [1.0, 0.0, 2.0]] * 3
    made, _ = steps(sam.build, gradients, rho=rho)
    plain, _ = steps(sgd.build, gradients[1::2])
    assert torch.equal(made[1::2], plain)


def test_half_a_step_is_undone():
    _, optimizer = steps(sam.build, [[1.0, 2.0, 2.0]], rho=0.3)
    assert optimizer.settle() and not optimizer.settle()
    (theta,) = optimizer.param_groups[0]["params"]
    assert torch.equal(theta, torch.ones(3))


def test_adaptive_steps_are_longer_where_weights_are():
    """rho theta^2 g / |theta g| (Kwon et al. 2021)."""
    theta = torch.nn.Parameter(torch.tensor([2.0, 1.0]))
    theta.grad = torch.tensor([1.0, 1.0])
    sam.build([theta], lr=0.1, rho=0.5, adaptive=True).step()
    uphill = torch.tensor([4.0, 1.0]) * 0.5 / 5**0.5
    torch.testing.assert_close(theta.detach(), torch.tensor([2.0, 1.0]) + uphill)
