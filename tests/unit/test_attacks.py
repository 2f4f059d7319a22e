"""What attacks find: inputs read off exactly, pictures by matching, and how like they are.

The values of PSNR and SSIM are scikit-image 0.26's: `structural_similarity(data_range=1,
gaussian_weights=True, sigma=1.5, use_sample_covariance=False)` and `peak_signal_noise_ratio`.
"""

import numpy as np
import pytest
import torch
from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
from dp_accounting.pld import PLDAccountant
from example_gradients import naive
from papers.meng2023.analyses._rows import Release, Work, releases
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional

from dpfl import models
from dpfl.attacks import closed_form, likeness, matching
from dpfl.attacks.seen import Seen, labels_of
from dpfl.base.errors import UserError
from dpfl.clippings import fixed
from dpfl.draws import streams
from dpfl.mechanisms.dpsgd import DPSGD
from dpfl.mechanisms.nonprivate import NonPrivate

SEARCH = matching.Search(restarts=3, iterations=140, rate=0.2, total_variation=1e-3)
LOW, HIGH = torch.zeros(1, 1, 1), torch.ones(1, 1, 1)
RAMP = np.arange(28)
ONE = (np.add.outer(RAMP**2, 3 * RAMP) % 29) / 28
OTHER = (np.add.outer(5 * RAMP, RAMP**2) % 31) / 30
NEAR = 0.8 * ONE + 0.05 * OTHER


def network(name="digits-cnn"):
    return models.build(name, streams.generator("weights"), (1, 8, 8), 10)


def digits(count):
    """Some digits [count, 1, 8, 8] in [0, 1] and their labels."""
    found = load_digits()
    images = torch.tensor(found.images[:count, None] / 16, dtype=torch.float32)
    return images, torch.tensor(found.target[:count])


def gradient(model, pictures, labels):
    """The gradient of the summed loss, by one backward pass, flat."""
    loss = functional.cross_entropy(model(pictures), labels, reduction="sum")
    return torch.cat([g.flatten() for g in torch.autograd.grad(loss, list(model.parameters()))])


def seen(model, updates, labels):
    ends = (LOW.to(updates.dtype), HIGH.to(updates.dtype))
    return Seen(model, updates, labels, *ends, (1, 8, 8))


def match(model, updates, labels):
    return matching.reconstruct(seen(model, updates, labels), SEARCH, streams.rng("starts"))


@pytest.mark.parametrize("name", ["mlp", "linear"])
def test_the_input_of_a_dense_layer_is_read_off_exactly(name):
    pictures, labels = digits(5)
    model, pictures = network(name).double(), pictures.double()
    updates = naive(model, pictures, labels)
    found = closed_form.reconstruct(seen(model, updates, labels[:, None]))
    assert found.shape == (5, 1, 1, 8, 8)
    assert (found[:, 0] - pictures).abs().max() < 1e-12
    scaled = closed_form.reconstruct(seen(model, updates / 7, labels[:, None]))
    assert (scaled - found).abs().max() < 1e-12


def test_an_update_of_zeros_gives_a_picture_without_a_gap():
    model = network("mlp")
    nothing = torch.zeros(1, sum(p.numel() for p in model.parameters()))
    found = closed_form.reconstruct(seen(model, nothing, torch.tensor([[0]])))
    assert found.isfinite().all()


def test_a_network_that_begins_with_a_convolution_has_no_closed_form():
    model = network()
    with pytest.raises(UserError, match="needs a dense first layer with bias, found Conv2d"):
        closed_form.reconstruct(seen(model, torch.zeros(1, 21546), torch.tensor([[0]])))


@pytest.mark.parametrize("name", ["digits-cnn", "mlp"])
def test_the_label_of_one_picture_is_inferred_exactly(name):
    pictures, labels = digits(40)
    model = network(name)
    assert torch.equal(labels_of(naive(model, pictures, labels), 10), labels)


def test_gradients_of_all_batches_are_those_of_each():
    pictures, labels = digits(6)
    model = network()
    together = matching.gradients(model, pictures.view(3, 2, 1, 8, 8), labels.view(3, 2))
    pairs = zip(pictures.split(2), labels.split(2), strict=True)
    each = torch.stack([gradient(model, *pair) for pair in pairs])
    torch.testing.assert_close(together.detach(), each, rtol=1e-4, atol=1e-6)


def test_total_variation_of_a_step_and_a_flat_picture():
    flat = torch.full((1, 2, 1, 8, 8), 0.3)
    step = flat.clone()
    step[..., 4:] = 0.8  # one of seven differences across is 0.5, none down
    assert float(matching.total_variation(flat)) == 0
    assert float(matching.total_variation(step)) == pytest.approx(0.5 / 7)


@pytest.fixture(scope="module")
def sent():
    """The update on one digit: plain, and released at the noise of epsilon 1."""
    pictures, labels = digits(1)
    work = Work(sample_rate=64 / 479, steps=70)
    settings = {"clip_norm": 1.0, "epsilons": [1], "delta": 1e-5}
    plain, clipped, private = releases(settings, work)
    model = network()
    made = [
        release.updates(model, pictures[None], labels[None], ("noise",))
        for release in (plain, clipped, private)
    ]
    return model, pictures, labels, made


def test_matching_finds_a_digit_in_a_plain_gradient_and_not_at_epsilon_1(sent):
    model, pictures, labels, (plain, _, private) = sent
    original = pictures.numpy()
    found = match(model, plain, labels[None])[0].numpy()
    assert likeness.psnr(original, found)[0] > 20
    assert likeness.ssim(original, found)[0] > 0.9
    blurred = match(model, private, labels[None])[0].numpy()
    mean = np.broadcast_to(digits(1000)[0].mean(0).numpy(), original.shape)
    assert likeness.psnr(original, blurred)[0] < likeness.psnr(original, mean)[0] < 20


def test_updates_are_what_their_names_say(sent):
    model, pictures, labels, (plain, clipped, private) = sent
    own = gradient(model, pictures, labels)
    torch.testing.assert_close(plain[0], own, rtol=1e-4, atol=1e-6)
    bounded = own * min(1, 1 / float(own.norm()))
    torch.testing.assert_close(clipped[0], bounded, rtol=1e-4, atol=1e-6)
    noise = (private - clipped)[0]
    accountant = PLDAccountant()
    release = PoissonSampledDpEvent(64 / 479, GaussianDpEvent(float(noise.std())))
    accountant.compose(release, 70)
    assert accountant.get_epsilon(1e-5) == pytest.approx(1, rel=0.05)


def test_the_denominator_is_the_size_of_the_batch():
    pictures, labels = digits(4)
    model = network()
    plain = Release("plain", NonPrivate(), 0.0, float("inf"))
    private = Release("private", DPSGD(fixed.build(1.0)), 2.0, 1.0)
    update = plain.updates(model, pictures[None], labels[None], ("noise",))
    torch.testing.assert_close(update[0], gradient(model, pictures, labels) / 4)
    released = private.updates(model, pictures[None], labels[None], ("noise",))
    assert float(released.std()) == pytest.approx(2 / 4, rel=0.03)


def test_the_work_of_a_client_is_that_of_the_federation():
    work = Work.of_client({"clients": 10, "batch_size": 64, "rounds": 20}, 6000)
    assert work == Work(64 / 6000, 1860)


def pair(one, other):
    return one[None, None], other[None, None]


def test_psnr_and_ssim_are_scikit_images():
    assert likeness.ssim(*pair(ONE, OTHER))[0] == pytest.approx(-0.10986025205871887, abs=1e-12)
    assert likeness.ssim(*pair(ONE, NEAR))[0] == pytest.approx(0.9597049976486876, abs=1e-12)
    assert likeness.psnr(*pair(ONE, OTHER))[0] == pytest.approx(7.393884421677636, abs=1e-10)
    assert likeness.psnr(*pair(ONE, NEAR))[0] == pytest.approx(20.234226870805703, abs=1e-10)


def test_reconstructions_are_matched_to_their_originals():
    originals = digits(6)[0].numpy()
    order = [3, 0, 5, 1, 4, 2]
    noisy = originals + 0.01 * np.random.default_rng(0).standard_normal(originals.shape)
    assert np.array_equal(likeness.matched(originals, noisy[order]), noisy)


def test_a_seen_picture_stays_in_its_box():
    model = nn.Linear(1, 1)
    box = Seen(model, torch.zeros(1, 1), torch.zeros(1, 1), -LOW - 1, HIGH, (1, 1, 2))
    assert box.boxed(torch.tensor([[[-3.0, 0.5]]])).tolist() == [[[-1.0, 0.5]]]
