"""What names are made of: a digest of everything that a reader does not see in them."""

import hashlib
import json


def digest(content: object) -> str:
    """Return eight characters that change with the content."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:8]
