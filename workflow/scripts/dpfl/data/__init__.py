"""Data sets: each data/<name>.py reads one from its source; training reads the prepared file.

Features of pictures are entries of the table derived.yaml.

Importing this package costs nothing beyond the standard library: the DAG reads a data set's
constants. Training imports neither torchvision nor opacus nor scikit-learn.

A data set's file has `read(data_dir) -> Arrays` and literals: TRAIN_EXAMPLES, TEST_EXAMPLES,
CLASSES, and SHAPE of one input (one dimension for the rows of a table). It may have
SCALE, MEAN, STD   for (x / scale - mean) / std, one mean for each entry of the first dimension
DTYPE              of the inputs, uint8 where it is not given
CLIENTS            how many natural clients own the training examples
DEMONSTRATES       True if rows on it only show the machinery, so that no claim is judged on it
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.base.files import atomic, open_tensors

if TYPE_CHECKING:
    import numpy as np
    import torch


@dataclass(frozen=True)
class Arrays:
    """A data set as its module reads it: inputs [N, ...], int64 targets [N].

    Inputs are as published (uint8 pixels [N, C, H, W], float32 rows [N, D]), or float16 features
    computed from them. `train_clients`, int64 [N], says who owns each training example, where the
    data set comes with owners.
    """

    train_inputs: "np.ndarray"
    train_targets: "np.ndarray"
    test_inputs: "np.ndarray"
    test_targets: "np.ndarray"
    train_clients: "np.ndarray | None" = None


@dataclass(frozen=True)
class Dataset:
    """A data set as models see it: inputs [N, ...], int64 targets [N].

    Inputs are float32, or float16 features, which models widen batch by batch.
    """

    train_inputs: "torch.Tensor"
    train_targets: "torch.Tensor"
    test_inputs: "torch.Tensor"
    test_targets: "torch.Tensor"

    @property
    def classes(self) -> int:
        """Return how many classes there are; `read` saw to it that an example has the last one."""
        return 1 + max(int(t.max()) for t in (self.train_targets, self.test_targets))

    def of_training(self, chosen: "torch.Tensor") -> tuple["torch.Tensor", "torch.Tensor"]:
        """Return the inputs and targets of some training examples, by their int64 numbers [L].

        Copied row by row: indexing takes six times as long with float16 features.
        """
        chosen = chosen.to(self.train_targets.device)
        return self.train_inputs.index_select(0, chosen), self.train_targets.index_select(0, chosen)

    def to(self, device: str) -> "Dataset":
        """Return the data set on another device."""
        return replace(self, **{f.name: getattr(self, f.name).to(device) for f in fields(self)})


def read(name: str, data_dir: Path) -> Arrays:
    """Read a data set from its source; UserError if it is not what its module declares."""
    source = plugins.load("data", name)
    arrays = source.read(Path(data_dir))
    dtype = getattr(source, "DTYPE", "uint8")
    for part, examples in (("train", source.TRAIN_EXAMPLES), ("test", source.TEST_EXAMPLES)):
        inputs, targets = getattr(arrays, f"{part}_inputs"), getattr(arrays, f"{part}_targets")
        _expect(name, f"{part} inputs", inputs, dtype, (examples, *source.SHAPE))
        _expect(name, f"{part} targets", targets, "int64", (examples,))
        if not 0 <= targets.min() <= targets.max() < source.CLASSES:
            raise UserError(f"{name}: a {part} target lies outside 0..{source.CLASSES - 1}")
    largest = max(arrays.train_targets.max(), arrays.test_targets.max())
    if largest + 1 != source.CLASSES:
        raise UserError(f"{name}: CLASSES = {source.CLASSES}, but the largest target is {largest}")
    _check_clients(
        name, arrays.train_clients, getattr(source, "CLIENTS", None), len(arrays.train_targets)
    )
    return arrays


def _check_clients(
    name: str, owners: "np.ndarray | None", clients: int | None, examples: int
) -> None:
    """Expect owners exactly where a module declares CLIENTS, and each of them to own something."""
    if (owners is None) != (clients is None):
        found = "none" if owners is None else "some"
        raise UserError(f"{name}: CLIENTS = {clients}, but train_clients: {found}")
    if owners is not None:
        _expect(name, "train clients", owners, "int64", (examples,))
        if sorted(set(owners.tolist())) != list(range(clients)):
            raise UserError(f"{name}: train clients: expected every one of 0..{clients - 1}")


def _expect(name: str, what: str, found: "np.ndarray", dtype: str, shape: tuple) -> None:
    if (found.dtype, found.shape) != (dtype, shape):
        raise UserError(
            f"{name}: {what}: expected {dtype} {shape}, found {found.dtype} {found.shape}"
        )


def every_fifth(inputs: "np.ndarray", targets: "np.ndarray") -> Arrays:
    """Make every fifth example of the label order, the first included, a test one.

    The split is stratified to within one example and has no randomness; both parts keep the
    order they came in.
    """
    import numpy as np

    test = np.zeros(len(targets), dtype=bool)
    test[np.argsort(targets, kind="stable")[::5]] = True
    return Arrays(inputs[~test], targets[~test], inputs[test], targets[test])


def write(
    path: Path,
    arrays: Arrays,
    scale: float | None = None,
    mean: Sequence[float] = (),
    std: Sequence[float] = (),
) -> None:
    """Write a prepared file: the arrays, with the scale, mean and std that `load` applies.

    Mean and std have one number for each entry of the inputs' first dimension: colour or column.

    Without a scale, as features are written, `load` returns the inputs as they are.
    """
    import numpy as np
    from safetensors.numpy import save_file

    given = {f.name: getattr(arrays, f.name) for f in fields(arrays)}
    tensors = {name: np.ascontiguousarray(v) for name, v in given.items() if v is not None}
    # One metadata entry: safetensors writes several in an order that differs from run to run.
    normalisation = json.dumps({"scale": scale, "mean": list(mean), "std": list(std)})
    with atomic(path) as temporary:
        temporary.touch()
        mode = temporary.stat().st_mode  # save_file would hide the file from all but its owner
        save_file(tensors, temporary, {"normalisation": normalisation})
        temporary.chmod(mode)


def load(path: Path) -> Dataset:
    """Read a prepared file as normalised tensors: ((x / scale) - mean) / std by first dimension.

    Features stay as they are, in pages of the file that jobs share. UserError for a damaged file.
    """
    import torch

    metadata, tensors = _tensors(path, "pt", [f.name for f in fields(Dataset)])
    normalisation = json.loads(metadata["normalisation"])
    if normalisation["scale"] is None:
        return Dataset(**tensors)
    others = [1] * (tensors["train_inputs"].dim() - 2)
    mean, std = (torch.tensor(normalisation[k]).view(-1, *others) for k in ("mean", "std"))
    for name in ("train_inputs", "test_inputs"):
        values = tensors[name].to(torch.float32)
        tensors[name] = values.div_(normalisation["scale"]).sub_(mean).div_(std)
    return Dataset(**tensors)


def load_train_targets(path: Path) -> "np.ndarray":
    """Read only the training targets of a prepared file, without importing torch."""
    return _tensors(path, "numpy", ["train_targets"])[1]["train_targets"]


def load_train_clients(path: Path) -> "np.ndarray | None":
    """Read who owns each training example; None for a data set without owners."""
    return _tensors(path, "numpy", [], ["train_clients"])[1].get("train_clients")


def _tensors(
    path: Path, framework: str, names: Sequence[str], optional: Sequence[str] = ()
) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the metadata of a prepared file, its named tensors and those optional that it has."""
    with open_tensors(path, framework) as file:
        there = set(file.keys())
        wanted = [*names, *(name for name in optional if name in there)]
        return file.metadata(), {name: file.get_tensor(name) for name in wanted}
