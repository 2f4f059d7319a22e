"""Data sets: each data/<name>.py reads one from its source; training reads the prepared file.

Importing this package costs nothing beyond the standard library, so that the DAG can read a data
set's constants; training imports neither torchvision nor opacus nor scikit-learn.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpfl import plugins
from dpfl.errors import UserError
from dpfl.files import atomic

if TYPE_CHECKING:
    import numpy as np
    import torch


@dataclass(frozen=True)
class Arrays:
    """A data set as its module reads it: inputs [N, C, H, W], int64 targets [N].

    Inputs are uint8 pixels as they were published, or float16 features computed from them.
    """

    train_inputs: "np.ndarray"
    train_targets: "np.ndarray"
    test_inputs: "np.ndarray"
    test_targets: "np.ndarray"


@dataclass(frozen=True)
class Dataset:
    """A data set as models see it: inputs [N, C, H, W], int64 targets [N].

    Inputs are float32 pixels, or float16 features, which models widen batch by batch.
    """

    train_inputs: "torch.Tensor"
    train_targets: "torch.Tensor"
    test_inputs: "torch.Tensor"
    test_targets: "torch.Tensor"

    def to(self, device: str) -> "Dataset":
        """Return the data set on another device."""
        return replace(self, **{f.name: getattr(self, f.name).to(device) for f in fields(self)})


def read(name: str, data_dir: Path) -> Arrays:
    """Read a data set from its source; UserError if it is not what its module declares."""
    source = plugins.load("data", name)
    arrays = source.read(Path(data_dir))
    for part, examples in (("train", source.TRAIN_EXAMPLES), ("test", source.TEST_EXAMPLES)):
        inputs, targets = getattr(arrays, f"{part}_inputs"), getattr(arrays, f"{part}_targets")
        dtype = getattr(source, "DTYPE", "uint8")
        _expect(name, f"{part} inputs", inputs, dtype, (examples, *source.SHAPE))
        _expect(name, f"{part} targets", targets, "int64", (examples,))
        if not 0 <= targets.min() <= targets.max() < source.CLASSES:
            raise UserError(f"{name}: a {part} target lies outside 0..{source.CLASSES - 1}")
    return arrays


def _expect(name: str, what: str, found: "np.ndarray", dtype: str, shape: tuple) -> None:
    if (found.dtype, found.shape) != (dtype, shape):
        raise UserError(
            f"{name}: {what}: expected {dtype} {shape}, found {found.dtype} {found.shape}"
        )


def write(
    path: Path,
    arrays: Arrays,
    scale: float | None = None,
    mean: Sequence[float] = (),
    std: Sequence[float] = (),
) -> None:
    """Write a prepared file: the arrays, with the scale, mean and std [C] that `load` applies.

    Without a scale, as features are written, `load` returns the inputs as they are.
    """
    import numpy as np
    from safetensors.numpy import save_file

    tensors = {f.name: np.ascontiguousarray(getattr(arrays, f.name)) for f in fields(arrays)}
    # One metadata entry: safetensors writes several in an order that differs from run to run.
    normalisation = json.dumps({"scale": scale, "mean": list(mean), "std": list(std)})
    with atomic(path) as temporary:
        temporary.touch()
        mode = temporary.stat().st_mode  # save_file would hide the file from all but its owner
        save_file(tensors, temporary, {"normalisation": normalisation})
        temporary.chmod(mode)


def load(path: Path) -> Dataset:
    """Read a prepared file as normalised tensors: ((x / scale) - mean) / std per channel.

    Features stay as they are, in pages of the file that jobs share. UserError for a damaged file.
    """
    import torch

    metadata, tensors = _tensors(path, "pt", [f.name for f in fields(Dataset)])
    normalisation = json.loads(metadata["normalisation"])
    if normalisation["scale"] is None:
        return Dataset(**tensors)
    mean, std = (torch.tensor(normalisation[k]).view(-1, 1, 1) for k in ("mean", "std"))
    for name in ("train_inputs", "test_inputs"):
        values = tensors[name].to(torch.float32)
        tensors[name] = values.div_(normalisation["scale"]).sub_(mean).div_(std)
    return Dataset(**tensors)


def load_train_targets(path: Path) -> "np.ndarray":
    """Read only the training targets of a prepared file, without importing torch."""
    return _tensors(path, "numpy", ["train_targets"])[1]["train_targets"]


def _tensors(path: Path, framework: str, names: list[str]) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the metadata and the named tensors of a prepared file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework) as file:
            return file.metadata(), {name: file.get_tensor(name) for name in names}
    except SafetensorError as error:
        raise UserError(
            f"{path}: not a whole prepared data file ({error}); delete it and run again"
        ) from error
