"""How much each layer of a network matters for its answers, by layer-wise relevance propagation.

The logit of an example's class is handed back through the network. Each unit gives its relevance to
its inputs in proportion to what they added to it (Bach et al. 2015, PLOS ONE 10(7) e0130140):

    R_j = sum_k a_j w_jk / (z_k + epsilon sign(z_k)) R_k     z_k = sum_j a_j w_jk + b_k

Activations hand relevance back unchanged, maximum pooling to the largest input, average pooling in
proportion to the inputs. The bias keeps its part: without biases the relevances of every layer add
up to the logit. So a layer's total takes absolute values first. The signed totals of all layers are
equal, and would give every layer the same share.

Captum (Kokhlikyan et al. 2020, arXiv 2009.07896) propagates. The relevances are a function of the
examples and have no privacy of their own.
"""

import copy
import math
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import torch
from torch import Tensor, nn

from dpfl.base.errors import UserError
from dpfl.gradients.layout import channels_last

EPSILON = 1e-9  # only against 0 / 0; a larger one absorbs the relevance of small z
FLOOR = 1e-5  # of a share, so that no layer is left without a budget
EXAMPLES_PER_PASS = 128

PARAMETERISED = (nn.Linear, nn.Conv2d)
ACTIVATIONS = (nn.ReLU, nn.Tanh)
OTHERS = (nn.MaxPool2d, nn.AvgPool2d, nn.Flatten)
TINY = 1e-12  # the epsilon of OTHERS, whose relevances are in proportion to their outputs


def layer_relevance(
    model: nn.Module, inputs: Tensor, targets: Tensor, epsilon: float = EPSILON
) -> Tensor:
    """Return sum_j |R_j| over the input of each layer with parameters, [layers, L].

    The order is that of model.parameters(). Errors as in element_relevance.
    """
    found = _in_passes(model, inputs, targets, epsilon)
    totals = [torch.stack([r.abs().flatten(1).sum(1) for r in layers]) for layers in found]
    return torch.cat(totals, dim=1).detach()


def input_relevance(
    model: nn.Module, inputs: Tensor, targets: Tensor, epsilon: float = EPSILON
) -> Tensor:
    """Return |R_j| of each input of the first layer with parameters, [inputs, L].

    Errors as in element_relevance.
    """
    found = _in_passes(model, inputs, targets, epsilon)
    return torch.cat([layers[0].abs().flatten(1).t() for layers in found], dim=1).detach()


def _in_passes(
    model: nn.Module, inputs: Tensor, targets: Tensor, epsilon: float
) -> Iterator[list[Tensor]]:
    """Return the relevances of some examples at a time."""
    _check_examples(inputs, targets)
    chunks = zip(inputs.split(EXAMPLES_PER_PASS), targets.split(EXAMPLES_PER_PASS), strict=True)
    return (element_relevance(model, *chunk, epsilon) for chunk in chunks)


def element_relevance(
    model: nn.Module, inputs: Tensor, targets: Tensor, epsilon: float = EPSILON
) -> list[Tensor]:
    """Return R_j for the logits of `targets`, shaped like the input of each layer with parameters.

    All examples go through at once. The model is left as it was. Layers of other types, without
    parameters, may come before all of those below: they only prepare the inputs. UserError for no
    examples. It names a layer of no known type, one called twice, or an activation right after
    another.
    """
    # Captum imports matplotlib: only whoever asks for relevances pays for that.
    from captum.attr import LayerLRP
    from captum.attr._utils.lrp_rules import EpsilonRule

    _check_examples(inputs, targets)
    # In a copy, since Captum leaves activations behind, and in a container, where it seeks layers.
    model, inputs = _prepared(copy.deepcopy(model), inputs)
    model = nn.Sequential(model)
    layers = _checked_layers(model)
    for layer in layers:
        if not isinstance(layer, ACTIVATIONS):
            layer.rule = EpsilonRule(epsilon if isinstance(layer, PARAMETERISED) else TINY)
    asked = [layer for layer in layers if isinstance(layer, PARAMETERISED)]
    x = channels_last(inputs.detach()).clone().requires_grad_()
    return LayerLRP(model, asked).attribute(x, targets, attribute_to_layer_input=True)


def shares(relevance: Tensor) -> Tensor:
    """Return d R_j / sum R for the relevances [layers] of d layers, float64, each at least FLOOR.

    They say which part of a budget a layer gets (Zhou and Qian 2022: eps_j = share_j eps). Their
    mean is 1, and above it by less than FLOOR where the floor acts. The floor is not taken back
    from the other layers, whose shares stay as defined. So price these shares and not their mean of
    1. UserError for relevances that are not finite, below 0, or all 0.
    """
    relevance = relevance.double()
    total = relevance.sum().item()
    if relevance.dim() != 1 or not 0 < total < math.inf or relevance.min() < 0:
        raise UserError(
            f"relevance of the layers: found {relevance.tolist()}; "
            "expected one finite number for each layer, at least 0 and not all 0"
        )
    return (len(relevance) * relevance / total).clamp(min=FLOOR)


def _check_examples(inputs: Tensor, targets: Tensor) -> None:
    if not len(inputs) or targets.shape != inputs.shape[:1]:
        found = f"inputs {list(inputs.shape)}, targets {list(targets.shape)}"
        raise UserError(
            f"relevance: found {found}; expected [L, ...] and [L], at least one example"
        )


def _prepared(model: nn.Module, inputs: Tensor) -> tuple[nn.Module, Tensor]:
    """Run the layers that only prepare the inputs; return the others and what they get."""
    while isinstance(model, nn.Sequential) and len(model) and _only_prepares(model[0]):
        with torch.no_grad():
            inputs = model[0](inputs)
        model = model[1:]
    return model, inputs


def _only_prepares(layer: nn.Module) -> bool:
    known = (nn.Sequential, *PARAMETERISED, *ACTIVATIONS, *OTHERS)
    return type(layer) not in known and not any(True for _ in layer.parameters())


def _checked_layers(model: nn.Module) -> list[nn.Module]:
    """Return the layers in the order of their calls; UserError as in element_relevance."""
    named = [
        (f"{path.partition('.')[2]!r} ({type(layer).__name__})", layer)
        for path, layer in model.named_modules(remove_duplicate=False)
        if type(layer) is not nn.Sequential
    ]
    calls = Counter(layer for _, layer in named)
    for name, layer in named:
        if type(layer) not in PARAMETERISED + ACTIVATIONS + OTHERS:
            raise UserError(f"no relevance rule known for layer {name}")
        if calls[layer] > 1 and not isinstance(layer, ACTIVATIONS):
            raise UserError(f"no relevance rule known: layer {name} is called twice")
    for (_, before), (name, layer) in pairwise(named):
        if isinstance(before, ACTIVATIONS) and isinstance(layer, ACTIVATIONS):
            raise UserError(f"no relevance rule known: layer {name} follows another activation")
    return [layer for _, layer in named]
