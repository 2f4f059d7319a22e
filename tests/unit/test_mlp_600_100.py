"""The network of 784-600-100-10 without biases, against its matrix products."""

import pytest
import torch

from dpfl import models


def build(shape=(1, 28, 28), classes=10):
    return models.build("mlp-600-100", torch.Generator().manual_seed(3), shape, classes)


def test_it_has_three_tensors_and_the_weights_of_the_published_code():
    shapes = [tuple(p.shape) for p in build().parameters()]
    assert shapes == [(600, 784), (100, 600), (10, 100)]
    assert sum(p.numel() for p in build().parameters()) == 531_400


@pytest.mark.parametrize(("shape", "classes"), [((1, 28, 28), 10), ((30,), 2), ((3, 5, 5), 7)])
def test_logits_are_products_of_its_matrices(shape, classes):
    found = build(shape, classes)
    first, second, third = (p.detach().double().numpy() for p in found.parameters())
    inputs = torch.randn(4, *shape, generator=torch.Generator().manual_seed(0))
    hidden = (inputs.double().numpy().reshape(4, -1) @ first.T).clip(0)
    logits = (hidden @ second.T).clip(0) @ third.T
    torch.testing.assert_close(
        found(inputs).detach().double(), torch.from_numpy(logits), atol=1e-5, rtol=1e-4
    )


def test_without_biases_it_is_homogeneous():
    """Twice the inputs are twice the logits, and no input has no logits."""
    found, inputs = build(), torch.randn(4, 1, 28, 28, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(found(2 * inputs), 2 * found(inputs))
    assert not found(torch.zeros_like(inputs)).any()
