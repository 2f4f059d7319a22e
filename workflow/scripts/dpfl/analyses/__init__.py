"""Studies that train nothing, one a file: tables and a figure from settings (plugins.analyses)."""
