"""A hostile campaign: random and damaged input of every kind, and what must hold all the same.

``python -m benchmarks fuzz --seconds 600 --seed 1`` draws cases of each kind in turn (estimators,
properties, model files, tables, command line, kills, rows of files and clusters, methods) until
the time is up, then prints how many there were and each distinct failure with the lines that
reproduce it. A case is a few lines of Python, drawn from the seed, its kind and its number;
``--case KIND:NUMBER`` runs one again.
"""

from benchmarks.fuzz._campaign import main

__all__ = ["main"]
