"""How the bounds of a JSON schema are said, by their keywords: in messages and in tables."""

EXPECTED = {
    "enum": "one of {}",
    "type": "type {}",
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "maxLength": "at most {} characters",
    "minProperties": "at least {} entry",
    "maxProperties": "at most {} entry",
    "minItems": "at least {} item",
    "minLength": "at least {} character",
    "uniqueItems": "no item twice",
}
"""What a message expects of a value, and a table says of the number that a key may be."""
