"""Made-up sequences of tokens, whose class is which of two marks comes first: 4,096 of 12 tokens.

Both marks are in every sequence, once each, so that a bag of tokens tells nothing. All else is
drawn from a seeded generator, and belongs to nobody.
"""

from pathlib import Path

from dpfl.data import Arrays, every_fifth

TRAIN_EXAMPLES = 3276
TEST_EXAMPLES = 820
CLASSES = 2
SHAPE = (12,)
DTYPE = "int64"
DEMONSTRATES = True  # rows on it show the machinery: no source reports on it

_MARKS = (0, 1)
_VOCABULARY = 32


def read(data_dir: Path) -> Arrays:
    """Draw the sequences, a fifth for the test; `data_dir` is not used."""
    import numpy as np

    from dpfl.draws import streams

    rng = streams.rng("token order")
    examples = TRAIN_EXAMPLES + TEST_EXAMPLES
    tokens = rng.integers(len(_MARKS), _VOCABULARY, size=(examples, *SHAPE))
    places = rng.random((examples, *SHAPE)).argsort(axis=1)[:, : len(_MARKS)]
    np.put_along_axis(tokens, places, np.array([_MARKS]), axis=1)
    classes = (places[:, 0] > places[:, 1]).astype(np.int64)
    return every_fifth(tokens, classes)
