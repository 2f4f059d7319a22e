"""Files of data sets, and damage to them."""

import gzip

LABELS = "train-labels-idx1-ubyte"


def decompress(path):
    """Put the decompressed file in the place of NAME.gz."""
    content = gzip.decompress(path.read_bytes())
    path.unlink()
    path.with_suffix("").write_bytes(content)
    return path.with_suffix("")


def replace(path, content):
    path.unlink(missing_ok=True)
    path.write_bytes(content)


def flip_a_bit(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGES = {
    "one bit": flip_a_bit,
    "truncated": lambda content: content[:-100],
    "empty": lambda content: b"",
    "longer": lambda content: content + b"\0",
    "another file": lambda content: gzip.compress(b"something else"),
}
