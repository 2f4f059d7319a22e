"""What needs Flower: `make test-flower`, in an environment of its own."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "unit"))  # whose helpers are used here too
