"""standardise: every number of an input less its mean, over the spread of its channel.

Two releases, each one Gaussian of multiplier z without sampling, of all examples of a client:

means           the sum over examples of x, flat [d], clipped to norm R sqrt(d)
second moments  the sum over examples of the mean over places of (x - mean)^2, one number for each
                channel [C], clipped to norm R sqrt(C); `mean` is what the first one released

Proof. An example enters a sum with one vector, a function of that example and of what was released
before. It is scaled to a norm of at most the radius, whatever its numbers are. So adding or
removing one example moves the sum by at most the radius. The radius is a constant of the
configuration and owes nothing to the data. With Gaussian noise of standard deviation z times the
radius the sum is one Gaussian of multiplier z. The second is a function of the examples and of the
first's output alone. The steps see the data only through their inputs. Each input is a function of
one example and of what was released. So both compose adaptively with one another and with the
steps.

The sums are divided by the number of examples. It counts as public (docs/privacy.md), the same for
both neighbours, as in the sampling rate of the steps. Roots and quotients are post-processing.
"""

import math
from dataclasses import dataclass

from torch import Tensor

from dpfl.contracts.affine import Affine
from dpfl.contracts.bounds import bounded
from dpfl.contracts.protocols import MeanOf

SETTINGS = {
    "noise_multiplier": "number > 0",
    "radius": "number > 0",
    "least": "number > 0",
}
RELEASES = ("means", "second moments")


@dataclass(frozen=True)
class Standardise:
    """The rule; `radius` R is that of one number of a vector, `least` a bound of second moments.

    Below it there is more noise than signal, which the spread would only make louder.
    """

    radius: float
    least: float

    def measure(self, mean_of: MeanOf, shape: tuple[int, ...]) -> Affine:
        """Return the map of inputs of this shape, channels first, from two released means."""
        channels, size = shape[0], math.prod(shape)
        means = mean_of("means", lambda x: x.flatten(1), self.radius * math.sqrt(size))
        centre = means.view(shape)

        def squares(inputs: Tensor) -> Tensor:
            return (inputs - centre).square().view(len(inputs), channels, -1).mean(2)

        moments = mean_of("second moments", squares, self.radius * math.sqrt(channels))
        scale = moments.clamp(min=self.least).rsqrt()
        return Affine(centre.float(), scale.float().view(-1, *[1] * (len(shape) - 1)))


@bounded(SETTINGS)
def build(noise_multiplier: float, radius: float, least: float) -> Standardise:
    """Return the rule; the noise is that of the account. UserError for a setting out of bounds."""
    return Standardise(float(radius), float(least))
