"""The noise of a run, step by step, from fresh standard normals Z: the rows of C^-1 Z."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from torch import Tensor

Fresh = Callable[[], "Tensor"]
"""Returns standard normals [D], others at every call."""
State = dict[str, list["Tensor"] | int]


class Stream(Protocol):
    """What gives the noise of one step after the other, and what a checkpoint keeps of it."""

    def next(self, fresh: Fresh) -> "Tensor": ...
    def state(self) -> State: ...
    def restore(self, state: State) -> None: ...


class Toeplitz:
    """y_t = sum_j drawn_j z_{t-j} - sum_j made_j y_{t-1-j}, with drawn_0 = 1."""

    def __init__(self, drawn: Sequence[float], made: Sequence[float] = ()):
        self._weights = list(map(float, drawn[1:])), list(map(float, made))
        self._past = tuple(deque(maxlen=len(own)) for own in self._weights)

    def next(self, fresh: Fresh) -> "Tensor":
        """Return the noise of the next step [D]."""
        drawn = fresh()
        noise = drawn.clone()
        for weights, past, sign in zip(self._weights, self._past, (1, -1), strict=True):
            for weight, old in zip(weights, past, strict=False):
                noise.add_(old, alpha=sign * weight)
        for past, own in zip(self._past, (drawn, noise), strict=True):
            past.appendleft(own)
        return noise

    def state(self) -> State:
        """Return the past draws and noises that steps to come need, the latest first."""
        return {"drawn": list(self._past[0]), "made": list(self._past[1])}

    def restore(self, state: State) -> None:
        """Continue from what a checkpoint kept."""
        for past, key in zip(self._past, ("drawn", "made"), strict=True):
            past.clear()
            past.extend(state[key])


class Tree:
    """Prefixes of the steps have noise of the nodes of binary trees that cover them.

    The noise of a step is what it adds to that of its prefix. A new tree begins every `size` steps,
    the one before filled up first if `complete`; never with size 0.
    """

    def __init__(self, size: int, complete: bool):
        self._size, self._complete = size, complete
        self._nodes: list[Tensor] = []
        self._steps = 0

    def next(self, fresh: Fresh) -> "Tensor":
        """Return the noise of the next step [D]."""
        closed = None
        if self._size and self._steps == self._size:
            if self._complete and len(self._nodes) > 1:
                closed = fresh() - sum(self._nodes)
            self._nodes, self._steps = [], 0
        self._steps += 1
        merged = (self._steps & -self._steps).bit_length() - 1
        noise = drawn = fresh()
        for _ in range(merged):  # a node takes the place of those below it
            noise = noise - self._nodes.pop()
        self._nodes.append(drawn)
        return noise if closed is None else noise + closed

    def state(self) -> State:
        """Return the nodes of the prefix, and the steps of this tree."""
        return {"nodes": list(self._nodes), "steps": self._steps}

    def restore(self, state: State) -> None:
        """Continue from what a checkpoint kept."""
        self._nodes, self._steps = list(state["nodes"]), state["steps"]
