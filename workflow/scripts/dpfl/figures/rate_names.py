"""What the rates of an optimizer are called, in figures and in sentences."""

NAMES = {"lr": "learning rate", "final_lr": "final rate"}


def title(key: str) -> str:
    """Return what a rate is called, by its key; another setting by its own name."""
    return NAMES.get(key, key.replace("_", " "))
