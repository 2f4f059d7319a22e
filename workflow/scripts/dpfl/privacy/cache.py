"""Calibrations kept on disk: one JSON file per key, written whole, safe with many processes.

What is read is never trusted: whoever recalls something prices it again before using it.
"""

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from numbers import Real
from pathlib import Path
from typing import Any

from dpfl.base.errors import UserError
from dpfl.base.files import read_json, write_json
from dpfl.privacy import accounting, search

TOLERANCE = 1e-3  # how far below its target, relatively, a recalled epsilon may stay
ROUGH = 2000.0  # an epsilon that no fine grid is made for

Key = Mapping[str, Any]
Content = dict[str, Any]


@dataclass(frozen=True)
class NoiseCache:
    """Noise multipliers by what they were calibrated for; without a folder nothing is kept."""

    folder: Path | None

    def noise_multiplier(
        self, sample_rate: float, steps: int, epsilon: float, delta: float, accountant: str = "pld"
    ) -> float:
        """Return the noise with which `steps` steps cost at most epsilon, within 0.1 % of it.

        A kept value for which this does not hold on the fine grid is replaced. Raises UserError as
        dpfl.privacy.search.noise_multiplier does.
        """
        target = (float(sample_rate), steps, float(epsilon), float(delta), accountant)
        names = ("sample_rate", "steps", "epsilon", "delta", "accountant")
        key = dict(zip(names, target, strict=True))
        kept = (self.recall(key) or {}).get("noise_multiplier")
        if isinstance(kept, Real) and math.isfinite(kept) and _holds(kept, *target):
            return float(kept)
        noise = search.noise_multiplier(*target)
        self.store(key, {"noise_multiplier": noise})
        return noise

    def recall(self, key: Key) -> Content | None:
        """Return what was stored under this key; None if nothing was, or if it is damaged."""
        if self.folder is None:
            return None
        try:
            entry = read_json(self._path(key))
            return dict(entry["content"]) if entry["key"] == _plain(key) else None
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def store(self, key: Key, content: Content) -> None:
        """Keep JSON content under a key, in place of what was there."""
        if self.folder is not None:
            # A folder that cannot be written costs time later, not the answer now.
            with suppress(OSError):
                write_json(self._path(key), {"key": _plain(key), "content": content})

    def _path(self, key: Key) -> Path:
        text = json.dumps(_plain(key), sort_keys=True)
        return Path(self.folder) / f"{sha256(text.encode()).hexdigest()[:32]}.json"


def _holds(
    noise: float, sample_rate: float, steps: int, epsilon: float, delta: float, accountant: str
) -> bool:
    """Return whether noise costs what it was calibrated for; `rdp` tells at once if it is tiny."""
    try:
        if accounting.epsilon(sample_rate, noise, steps, delta, "rdp") > ROUGH:
            return False
        return fits(accounting.epsilon(sample_rate, noise, steps, delta, accountant), epsilon)
    except (UserError, ArithmeticError):
        return False


def fits(epsilon: float, target: float) -> bool:
    """Return whether a price keeps the promise of a calibration: at most the target, nearly it."""
    return (1 - TOLERANCE) * target <= epsilon <= target


def _plain(key: Key) -> Content:
    """Return a key as JSON reads it back; 2 and 2.0 are the same."""
    return json.loads(json.dumps(key), parse_int=float)
