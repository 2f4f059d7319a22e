"""How the bounds of a JSON schema are said, by their keywords: in messages and in tables."""

EXPECTED = {
    "enum": "one of {}",
    "type": "type {}",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "maxLength": "at most {} characters",
    "minProperties": "at least {} entry",
    "maxProperties": "at most {} entry",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "minItems": "at least {} item",
    "minLength": "at least {} character",
    "uniqueItems": "no item twice",
}
"""What a message expects of a value."""
SHOWN = {
    "minimum": "≥ {}",
    "exclusiveMinimum": "> {}",
    "maximum": "≤ {}",
    "exclusiveMaximum": "< {}",
    "maxLength": "at most {} characters",
    "minItems": "at least {}",
    "minProperties": "at least {} keys",
    "maxProperties": "at most {} keys",
}
"""What a table shows beside the type of a key."""
