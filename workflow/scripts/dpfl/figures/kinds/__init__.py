"""Figures, one per file: `draw(study, runs_dir) -> figures.drawn.Drawn`, found by file name.

A file may declare, in literals that are read without importing it:
READS_STUDY  paths of what it reads beside the runs, with {study} in place of the study's name and
             {paper} in place of its paper's
TABLE        True if it also has `tabulate(study, runs_dir, stem)`, its numbers as a table
LEAST_SEEDS  how many seeds a study must have to be drawn
HOLDS_OUT    True if a study must hold out examples
NO_PUBLIC    True if a study must declare no examples public
VARIES       settings that a study must vary
NUMBERS      how many of what a study varies must be numbers
"""
