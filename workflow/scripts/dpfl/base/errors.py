"""The one exception type that a user's mistake raises."""


class UserError(ValueError):
    """A mistake in the input, told in one line: what, where, what was expected."""
