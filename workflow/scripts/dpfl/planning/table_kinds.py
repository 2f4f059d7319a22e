"""The kinds of tables that are written (workflow/schemas/tables.yaml)."""

OF_STUDIES = {
    "": "cells",
    "_comparisons": "comparisons",
    "_ranges": "ranges",
    "_tuned": "tuned",
    "_trials": "trials",
}
"""The kind of each table of a study, by its suffix."""
OTHER = "other"
"""The kind of tables whose columns a figure or an analysis declares itself."""
