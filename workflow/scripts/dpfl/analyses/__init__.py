"""Studies that train nothing: each analyses/<name>.py computes tables and a figure from settings.

A file holds TABLES (the suffixes of its tables, "" for the main one), `check(settings)`, which
raises a UserError, `tables(settings)`, `columns()` and `draw(tables)`. Settings are checked before
the first job, so importing a file must cost nothing: numpy and all that needs it are imported
inside the functions that use them.
"""
